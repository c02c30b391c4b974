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

define i32 @air.atomic.global.cmpxchg.weak.i32(i32 addrspace(1)* %p, i32* %expected, i32 %v, i32 %order, i32 %failed, i32 %scope, i1 %volatile) {
  %old = load i32, i32 addrspace(1)* %p
  %wanted = load i32, i32* %expected
  %same = icmp eq i32 %old, %wanted
  %new = select i1 %same, i32 %v, i32 %old
  store i32 %new, i32 addrspace(1)* %p
  store i32 %old, i32* %expected
  ret i32 %old
}

define i32 @air.atomic.global.min.s.i32(i32 addrspace(1)* %p, i32 %v, i32 %order, i32 %scope, i1 %volatile) {
  %old = load i32, i32 addrspace(1)* %p
  %less = icmp slt i32 %v, %old
  %new = select i1 %less, i32 %v, i32 %old
  store i32 %new, i32 addrspace(1)* %p
  ret i32 %old
}

define i32 @air.ctz.i32(i32 %x, i1 %zero_is_poison) {
  %r = call i32 @llvm.cttz.i32(i32 %x, i1 false)
  ret i32 %r
}
declare i32 @llvm.cttz.i32(i32, i1)

define i32 @air.popcount.i32(i32 %x) {
  %r = call i32 @llvm.ctpop.i32(i32 %x)
  ret i32 %r
}
declare i32 @llvm.ctpop.i32(i32)

define i32 @air.reverse_bits.i32(i32 %x) {
  %r = call i32 @llvm.bitreverse.i32(i32 %x)
  ret i32 %r
}
declare i32 @llvm.bitreverse.i32(i32)

define float @air.convert.f.f32.s.i32(i32 %x) {
  %r = sitofp i32 %x to float
  ret float %r
}
define float @air.convert.f.f32.s.i64(i64 %x) {
  %r = sitofp i64 %x to float
  ret float %r
}
define float @air.convert.f.f32.u.i64(i64 %x) {
  %r = uitofp i64 %x to float
  ret float %r
}
define i32 @air.convert.s.i32.f.f32(float %x) {
  %r = call i32 @llvm.fptosi.sat.i32.f32(float %x)
  ret i32 %r
}
declare i32 @llvm.fptosi.sat.i32.f32(float)
define i64 @air.convert.s.i64.f.f32(float %x) {
  %r = call i64 @llvm.fptosi.sat.i64.f32(float %x)
  ret i64 %r
}
declare i64 @llvm.fptosi.sat.i64.f32(float)

define float @air.floor.f32(float %x) {
  %r = call float @llvm.floor.f32(float %x)
  ret float %r
}
declare float @llvm.floor.f32(float)

define float @air.ceil.f32(float %x) {
  %r = call float @llvm.ceil.f32(float %x)
  ret float %r
}
declare float @llvm.ceil.f32(float)

define float @air.trunc.f32(float %x) {
  %r = call float @llvm.trunc.f32(float %x)
  ret float %r
}
declare float @llvm.trunc.f32(float)

define float @air.rint.f32(float %x) {
  %r = call float @llvm.rint.f32(float %x)
  ret float %r
}
declare float @llvm.rint.f32(float)

define float @air.round.f32(float %x) {
  %r = call float @llvm.round.f32(float %x)
  ret float %r
}
declare float @llvm.round.f32(float)

define float @air.fabs.f32(float %x) {
  %r = call float @llvm.fabs.f32(float %x)
  ret float %r
}
declare float @llvm.fabs.f32(float)

define float @air.sqrt.f32(float %x) {
  %r = call float @llvm.sqrt.f32(float %x)
  ret float %r
}
declare float @llvm.sqrt.f32(float)
