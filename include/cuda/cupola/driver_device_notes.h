#pragma once

// Atomic operations between devices, and notifications: a part of cuda.h, which includes it after the types it needs.

typedef enum CUatomicOperation_enum {
  CU_ATOMIC_OPERATION_INTEGER_ADD = 0,
  CU_ATOMIC_OPERATION_INTEGER_MIN = 1,
  CU_ATOMIC_OPERATION_INTEGER_MAX = 2,
  CU_ATOMIC_OPERATION_INTEGER_INCREMENT = 3,
  CU_ATOMIC_OPERATION_INTEGER_DECREMENT = 4,
  CU_ATOMIC_OPERATION_AND = 5,
  CU_ATOMIC_OPERATION_OR = 6,
  CU_ATOMIC_OPERATION_XOR = 7,
  CU_ATOMIC_OPERATION_EXCHANGE = 8,
  CU_ATOMIC_OPERATION_CAS = 9,
  CU_ATOMIC_OPERATION_FLOAT_ADD = 10,
  CU_ATOMIC_OPERATION_FLOAT_MIN = 11,
  CU_ATOMIC_OPERATION_FLOAT_MAX = 12,
  CU_ATOMIC_OPERATION_MAX
} CUatomicOperation;
typedef enum CUatomicOperationCapability_enum {
  CU_ATOMIC_CAPABILITY_SIGNED = 1U << 0,
  CU_ATOMIC_CAPABILITY_UNSIGNED = 1U << 1,
  CU_ATOMIC_CAPABILITY_REDUCTION = 1U << 2,
  CU_ATOMIC_CAPABILITY_SCALAR_32 = 1U << 3,
  CU_ATOMIC_CAPABILITY_SCALAR_64 = 1U << 4,
  CU_ATOMIC_CAPABILITY_SCALAR_128 = 1U << 5,
  CU_ATOMIC_CAPABILITY_VECTOR_32x4 = 1U << 6
} CUatomicOperationCapability;

typedef enum CUasyncNotificationType_enum { CU_ASYNC_NOTIFICATION_TYPE_OVER_BUDGET = 0x1 } CUasyncNotificationType;
typedef struct CUasyncNotificationInfo_st {
  CUasyncNotificationType type;
  union {
    struct {
      unsigned long long bytesOverBudget;
    } overBudget;
  } info;
} CUasyncNotificationInfo;
typedef void(CUDA_CB* CUasyncCallback)(CUasyncNotificationInfo* info, void* userData, CUasyncCallbackHandle callback);
