; 128 threads of the kernel one after the other, for 100 elements: x[i] = i, y[i] = 1, a = 2.
@x = global [100 x float] zeroinitializer, align 8
@y = global [100 x float] zeroinitializer, align 8
@z = global [100 x double] zeroinitializer, align 8
@count = global i32 5, align 8
@least = global i32 0, align 8
@launch = global [20 x i32] zeroinitializer, align 8
@block = global [7 x i64] zeroinitializer, align 8

declare void @kernel__Z5saxpyfPKfPfPdiPjPi(i8 addrspace(2)*, i8 addrspace(2)*, i8 addrspace(3)*, i8 addrspace(3)*, <3 x i32>, <3 x i32>, <3 x i32>, <3 x i32>, i32, i32, i32)

define i32 @main() {
entry:
  store i64 1073741824, i64* getelementptr ([7 x i64], [7 x i64]* @block, i64 0, i64 0)
  store i64 ptrtoint ([100 x float]* @x to i64), i64* getelementptr ([7 x i64], [7 x i64]* @block, i64 0, i64 1)
  store i64 ptrtoint ([100 x float]* @y to i64), i64* getelementptr ([7 x i64], [7 x i64]* @block, i64 0, i64 2)
  store i64 ptrtoint ([100 x double]* @z to i64), i64* getelementptr ([7 x i64], [7 x i64]* @block, i64 0, i64 3)
  store i64 100, i64* getelementptr ([7 x i64], [7 x i64]* @block, i64 0, i64 4)
  store i64 ptrtoint (i32* @count to i64), i64* getelementptr ([7 x i64], [7 x i64]* @block, i64 0, i64 5)
  store i64 ptrtoint (i32* @least to i64), i64* getelementptr ([7 x i64], [7 x i64]* @block, i64 0, i64 6)
  %b = addrspacecast [7 x i64]* @block to i8 addrspace(2)*
  %l = addrspacecast [20 x i32]* @launch to i8 addrspace(2)*
  br label %fill
fill:
  %i = phi i64 [ 0, %entry ], [ %i1, %fill ]
  %px = getelementptr [100 x float], [100 x float]* @x, i64 0, i64 %i
  %py = getelementptr [100 x float], [100 x float]* @y, i64 0, i64 %i
  %f = uitofp i64 %i to float
  store float %f, float* %px
  store float 1.0, float* %py
  %i1 = add i64 %i, 1
  %filled = icmp eq i64 %i1, 100
  br i1 %filled, label %launch, label %fill
launch:
  %n = phi i32 [ 0, %fill ], [ %n1, %launch ]
  %t = and i32 %n, 31
  %g = lshr i32 %n, 5
  %tid = insertelement <3 x i32> zeroinitializer, i32 %t, i32 0
  %ctaid = insertelement <3 x i32> zeroinitializer, i32 %g, i32 0
  call void @kernel__Z5saxpyfPKfPfPdiPjPi(i8 addrspace(2)* %b, i8 addrspace(2)* %l, i8 addrspace(3)* null, i8 addrspace(3)* null, <3 x i32> %tid, <3 x i32> <i32 32, i32 1, i32 1>, <3 x i32> %ctaid, <3 x i32> <i32 4, i32 1, i32 1>, i32 %t, i32 0, i32 1)
  %n1 = add i32 %n, 1
  %done = icmp eq i32 %n1, 128
  br i1 %done, label %totals, label %launch
totals:
  %total = load i32, i32* @count
  %smallest = load i32, i32* @least
  %total_right = icmp eq i32 %total, 105
  %smallest_right = icmp eq i32 %smallest, -99
  %both = and i1 %total_right, %smallest_right
  br i1 %both, label %check, label %wrong
check:
  %k = phi i64 [ 0, %totals ], [ %k1, %next ]
  %qy = getelementptr [100 x float], [100 x float]* @y, i64 0, i64 %k
  %qz = getelementptr [100 x double], [100 x double]* @z, i64 0, i64 %k
  %y = load float, float* %qy
  %z = load double, double* %qz
  %kf = uitofp i64 %k to double
  %twice = fmul double %kf, 2.0
  %wanted_y = fadd double %twice, 1.0
  %half = fmul double %wanted_y, 0.5
  %wanted_z = fadd double %half, 0x3FB999999999999A
  %wide_y = fpext float %y to double
  %y_right = fcmp oeq double %wide_y, %wanted_y
  %z_right = fcmp oeq double %z, %wanted_z
  %right = and i1 %y_right, %z_right
  br i1 %right, label %next, label %wrong
next:
  %k1 = add i64 %k, 1
  %all = icmp eq i64 %k1, 100
  br i1 %all, label %good, label %check
good:
  ret i32 0
wrong:
  ret i32 1
}
