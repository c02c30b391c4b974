; REFUSED: air: function 'k': metadata as an operand:  %x = call i64 @llvm.read_register.i64
define i64 @k() {
  %x = call i64 @llvm.read_register.i64(metadata !0)
  ret i64 %x
}
declare i64 @llvm.read_register.i64(metadata)
!0 = !{!"sp"}
