// What fpclassify() answers: the C library's numbers on Linux. Included by math.h beside it, and by the preamble.

#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
