; What functions of AIR mean on one thread of the CPU, in LLVM 14's form.
declare float @llvm.fma.f32(float, float, float)

define float @air.fma.f32(float %a, float %b, float %c) {
  %r = call float @llvm.fma.f32(float %a, float %b, float %c)
  ret float %r
}

define i32 @air.clz.i32(i32 %x, i1 %zero_is_poison) {
  %r = call i32 @llvm.ctlz.i32(i32 %x, i1 false)
  ret i32 %r
}
declare i32 @llvm.ctlz.i32(i32, i1)

define i32 @air.atomic.global.add.u.i32(i32 addrspace(1)* %p, i32 %v, i32 %order, i32 %scope, i1 %volatile) {
  %old = load i32, i32 addrspace(1)* %p
  %new = add i32 %old, %v
  store i32 %new, i32 addrspace(1)* %p
  ret i32 %old
}

define i32 @air.atomic.global.min.s.i32(i32 addrspace(1)* %p, i32 %v, i32 %order, i32 %scope, i1 %volatile) {
  %old = load i32, i32 addrspace(1)* %p
  %less = icmp slt i32 %v, %old
  %new = select i1 %less, i32 %v, i32 %old
  store i32 %new, i32 addrspace(1)* %p
  ret i32 %old
}
