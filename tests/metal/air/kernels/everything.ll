; What a kernel of AIR looks like to LLVM 22: buffers, a threadgroup array, built-ins, AIR's functions, metadata. Lines that
; LLVM 14 must print of the result:
; WANT: %Pair = type { i32, i8 addrspace(1)* }
; WANT: @chain = internal addrspace(2) constant { i32, i8 addrspace(2)* } { i32 7, i8 addrspace(2)* bitcast ([4 x i32] addrspace(2)* @table to i8 addrspace(2)*) }, align 8
; WANT: declare i32 @air.atomic.global.add.u.i32(i32 addrspace(1)* nocapture, i32, i32, i32, i1)
; WANT: declare void @llvm.memcpy.p0i8.p1i8.i64(i8* noalias nocapture writeonly, i8 addrspace(1)* noalias nocapture readonly, i64, i1 immarg)
; WANT: define internal float @load_twice(float addrspace(1)* %0, i64 %1)
; WANT: %5 = bitcast float addrspace(1)* %3 to i32 addrspace(1)*
; WANT: %8 = fadd fast float %4, %7
; WANT: define void @everything(i8 addrspace(1)* noalias "air-buffer-no-alias" %0, i32 addrspace(1)* %1, %Pair addrspace(2)* %2, i32 %3, i16 %4)
; WANT: load i32, i32 addrspace(3)* bitcast (float addrspace(3)* getelementptr inbounds ([256 x float], [256 x float] addrspace(3)* @tile, i64 0, i64 5) to i32 addrspace(3)*), align 4
; WANT: load i8 addrspace(1)*, i8 addrspace(1)* addrspace(2)* %15, align 8
; WANT: phi float addrspace(1)* [ %19, %18 ], [ %23, %20 ]
; WANT: attributes #0 = { convergent nounwind }
; WANT: attributes #3 = { argmemonly nounwind readonly }
; WANT: !0 = !{void (i8 addrspace(1)*, i32 addrspace(1)*, %Pair addrspace(2)*, i32, i16)* @everything, !1, !2}
; WANT: !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1,
; WANT: !air.language_version = !{!9}
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32"
target triple = "air64-apple-macosx13.0.0"

%Pair = type { i32, ptr addrspace(1) }

@tile = internal unnamed_addr addrspace(3) global [256 x float] undef, align 4
@table = internal unnamed_addr addrspace(2) constant [4 x i32] [i32 1, i32 -2, i32 3, i32 0], align 4
@text = private unnamed_addr addrspace(2) constant [6 x i8] c"hello\00", section "air.text", align 1
@chain = internal addrspace(2) constant { i32, ptr addrspace(2) } { i32 7, ptr addrspace(2) @table }, align 8

declare void @air.wg.barrier(i32, i32) convergent nounwind
declare i32 @air.atomic.global.add.u.i32(ptr addrspace(1) captures(none), i32, i32, i32, i1)
declare float @air.simd_shuffle_down.f32(float, i16) convergent
declare void @llvm.memcpy.p0.p1.i64(ptr, ptr addrspace(1), i64, i1)
declare void @llvm.lifetime.start.p0(ptr)

define internal float @load_twice(ptr addrspace(1) %p, i64 %i) nounwind memory(argmem: read) {
  %a = getelementptr inbounds float, ptr addrspace(1) %p, i64 %i
  %x = load float, ptr addrspace(1) %a, align 4
  %bits = load i32, ptr addrspace(1) %a, align 4
  %y = uitofp nneg i32 %bits to float
  %sum = fadd fast float %x, %y
  ret float %sum
}

define void @everything(ptr addrspace(1) noalias "air-buffer-no-alias" %in, ptr addrspace(1) %count, ptr addrspace(2) %pair,
                    i32 %thread, i16 %lane) convergent nounwind {
entry:
  %local = alloca [8 x i32], align 16
  call void @llvm.lifetime.start.p0(ptr %local)
  call void @llvm.memcpy.p0.p1.i64(ptr %local, ptr addrspace(1) %in, i64 32, i1 false)
  %wide = zext nneg i32 %thread to i64
  %slot = getelementptr inbounds [256 x float], ptr addrspace(3) @tile, i64 0, i64 %wide
  %v = call float @load_twice(ptr addrspace(1) %in, i64 %wide)
  store float %v, ptr addrspace(3) %slot, align 4
  call void @air.wg.barrier(i32 2, i32 1)
  %first = load float, ptr addrspace(3) @tile, align 4
  %again = load i32, ptr addrspace(3) getelementptr inbounds ([256 x float], ptr addrspace(3) @tile, i64 0, i64 5), align 4
  %near = call float @air.simd_shuffle_down.f32(float %first, i16 1)
  %field = getelementptr inbounds %Pair, ptr addrspace(2) %pair, i32 0, i32 1
  %other = load ptr addrspace(1), ptr addrspace(2) %field, align 8
  %is_null = icmp eq ptr addrspace(1) %other, null
  br i1 %is_null, label %mine, label %theirs
mine:
  br label %join
theirs:
  %second = getelementptr i8, ptr addrspace(1) %other, i64 4
  %next = add nuw nsw i32 %thread, 1
  br label %join
join:
  %chosen = phi ptr addrspace(1) [ %in, %mine ], [ %second, %theirs ]
  %n = phi i32 [ %again, %mine ], [ %next, %theirs ]
  store float %near, ptr addrspace(1) %chosen, align 4
  %old = call i32 @air.atomic.global.add.u.i32(ptr addrspace(1) %count, i32 1, i32 0, i32 2, i1 true)
  %before = load i32, ptr addrspace(1) %count, align 4
  %both = or disjoint i32 %old, %n
  switch i32 %both, label %end [ i32 0, label %zero
                                 i32 -7, label %end ]
zero:
  %v2 = insertelement <2 x float> poison, float %near, i32 0
  %v2b = shufflevector <2 x float> %v2, <2 x float> poison, <2 x i32> zeroinitializer
  %x0 = extractelement <2 x float> %v2b, i32 1
  %neg = fneg float %x0
  %is = fcmp olt float %neg, 1.5
  %sel = select i1 %is, ptr addrspace(1) %in, ptr addrspace(1) %chosen
  store float %neg, ptr addrspace(1) %sel, align 4
  br label %end
end:
  ret void
}

!air.kernel = !{!0}
!air.version = !{!7}
!air.language_version = !{!8}
!llvm.module.flags = !{!9}
!0 = !{ptr @everything, !1, !2}
!1 = !{}
!2 = !{!3, !4, !5, !6, !10}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"in"}
!4 = !{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"uint", !"air.arg_name", !"count"}
!5 = !{i32 2, !"air.buffer", !"air.location_index", i32 2, i32 1, !"air.read", !"air.address_space", i32 2, !"air.arg_type_size", i32 16, !"air.arg_type_align_size", i32 8, !"air.arg_type_name", !"Pair", !"air.arg_name", !"pair"}
!6 = !{i32 3, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"thread"}
!7 = !{i32 2, i32 5, i32 0}
!8 = !{!"Metal", i32 3, i32 0, i32 0}
!9 = !{i32 7, !"air.max_device_buffers", i32 31}
!10 = !{i32 4, !"air.thread_index_in_simdgroup", !"air.arg_type_name", !"ushort", !"air.arg_name", !"lane"}
