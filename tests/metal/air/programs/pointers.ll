; Pointers of every kind, in a program that any processor runs: the exit status says what was computed.
; EXIT: 173

%Node = type { i32, ptr, [3 x i16] }

@words = internal global [4 x i32] [i32 10, i32 20, i32 30, i32 40], align 4
@second = internal global ptr getelementptr inbounds ([4 x i32], ptr @words, i64 0, i64 1), align 8
@node = internal global %Node { i32 5, ptr @second, [3 x i16] [i16 1, i16 2, i16 3] }, align 8
@functions = internal global [2 x ptr] [ptr @twice, ptr @plus_one], align 8
@huge = internal constant i128 1180591620717411303425, align 16
@wide = internal constant <4 x float> <float 1.0, float 2.0, float 4.0, float 8.0>, align 16

declare void @llvm.memcpy.p0.p0.i64(ptr, ptr, i64, i1)
declare i32 @llvm.smax.i32(i32, i32)
declare void @llvm.assume(i1)

define internal i32 @twice(i32 %x) {
  %r = shl nuw nsw i32 %x, 1
  ret i32 %r
}

define internal i32 @plus_one(i32 %x) {
  %r = add nsw i32 %x, 1
  ret i32 %r
}

; Returns a pointer, and is asked for one of another type than it has.
define internal ptr @choose(ptr %a, ptr %b, i1 %which) {
  %x = load i16, ptr %a, align 2
  %y = load i32, ptr %b, align 4
  %chosen = select i1 %which, ptr %a, ptr %b
  ret ptr %chosen
}

; A loop whose pointer comes around: the phi's later value is not there yet when it is written.
define internal i32 @sum(ptr %from, ptr %to) {
entry:
  %empty = icmp eq ptr %from, %to
  br i1 %empty, label %done, label %loop
loop:
  %at = phi ptr [ %from, %entry ], [ %next, %loop ]
  %total = phi i32 [ 0, %entry ], [ %more, %loop ]
  %word = load i32, ptr %at, align 4
  %more = add i32 %total, %word
  %next = getelementptr inbounds i8, ptr %at, i64 4
  %end = icmp eq ptr %next, %to
  br i1 %end, label %done, label %loop
done:
  %result = phi i32 [ 0, %entry ], [ %more, %loop ]
  ret i32 %result
}

define i32 @main() {
  %copy = alloca [4 x i32], align 16
  %pair = alloca { ptr, i64 }, align 8
  call void @llvm.memcpy.p0.p0.i64(ptr %copy, ptr @words, i64 16, i1 false)
  %end = getelementptr inbounds [4 x i32], ptr %copy, i64 1
  %sum = call i32 @sum(ptr %copy, ptr %end)                            ; 100
  %field = getelementptr inbounds %Node, ptr @node, i32 0, i32 1
  %p = load ptr, ptr %field, align 8
  %pp = load ptr, ptr %p, align 8
  %twenty = load i32, ptr %pp, align 4                                 ; 20
  %half = load i16, ptr getelementptr inbounds (%Node, ptr @node, i32 0, i32 2, i32 2), align 2  ; 3
  %three = sext i16 %half to i32
  %f = load ptr, ptr getelementptr inbounds ([2 x ptr], ptr @functions, i64 0, i64 1), align 8
  %six = call i32 %f(i32 5)                                            ; 6
  %chosen = call ptr @choose(ptr %copy, ptr @words, i1 true)
  store i32 7, ptr %chosen, align 4
  %seven = load i32, ptr %copy, align 16                               ; 7
  %agg0 = insertvalue { ptr, i64 } poison, ptr %chosen, 0
  %agg1 = insertvalue { ptr, i64 } %agg0, i64 9, 1
  store { ptr, i64 } %agg1, ptr %pair, align 8
  %agg = load { ptr, i64 }, ptr %pair, align 8
  %back = extractvalue { ptr, i64 } %agg, 0
  %again = load i32, ptr %back, align 4                                ; 7
  %nine64 = extractvalue { ptr, i64 } %agg, 1
  %nine = trunc i64 %nine64 to i32                                     ; 9
  %number = ptrtoint ptr %chosen to i64
  %made = inttoptr i64 %number to ptr
  %w = load <4 x float>, ptr @wide, align 16
  %s = shufflevector <4 x float> %w, <4 x float> poison, <2 x i32> <i32 3, i32 0>
  %e = extractelement <2 x float> %s, i32 0
  %n = fneg nnan float %e
  %eight = fptosi float %n to i32                                      ; -8
  %h = load i128, ptr @huge, align 16
  %hs = lshr i128 %h, 70
  %one = trunc i128 %hs to i32                                         ; 1
  %m = call i32 @llvm.smax.i32(i32 %one, i32 %eight)                   ; 1
  %positive = icmp sgt i32 %m, 0
  call void @llvm.assume(i1 %positive)
  switch i32 %m, label %other [ i32 1, label %good
                                i32 -1, label %other ]
good:
  br label %other
other:
  %q = phi i32 [ 28, %good ], [ 99, %0 ], [ 99, %0 ]
  %a1 = add i32 %sum, %twenty                                          ; 120
  %a2 = add i32 %a1, %three                                            ; 123
  %a3 = add i32 %a2, %six                                              ; 129
  %a4 = add i32 %a3, %seven                                            ; 136
  %a5 = add i32 %a4, %again                                            ; 143
  %a6 = add i32 %a5, %nine                                             ; 152
  %a7 = add i32 %a6, %eight                                            ; 144
  %a8 = add i32 %a7, %m                                                ; 145
  %a9 = add i32 %a8, %q                                                ; 173
  %made_word = load i32, ptr %made, align 4
  %same = icmp eq i32 %made_word, 7
  %status = select i1 %same, i32 %a9, i32 0
  ret i32 %status
}
