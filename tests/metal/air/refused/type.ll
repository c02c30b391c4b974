; REFUSED: air: type 'x86_fp80'
define void @k(ptr %p) {
  %x = load x86_fp80, ptr %p, align 16
  ret void
}
