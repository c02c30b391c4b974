; REFUSED: air: function 'f': parameter 1 is a copy that the call makes; AIR has none such
define void @f(i32 %n, ptr byval([4 x i32]) %p) {
  ret void
}
