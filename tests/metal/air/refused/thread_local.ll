; REFUSED: air: variable 'a' is of a thread; AIR has none such
@a = thread_local global i32 0
