; REFUSED: air: alias 'a'; AIR has none
@a = alias i32, ptr @b
@b = global i32 0
