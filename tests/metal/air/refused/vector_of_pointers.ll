; REFUSED: air: function 'k': vector of pointers:  %q = getelementptr
define void @k(<2 x ptr> %p) {
  %q = getelementptr i32, <2 x ptr> %p, i64 1
  ret void
}
