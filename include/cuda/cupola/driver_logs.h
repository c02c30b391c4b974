#pragma once

// Part of cuda.h: what went wrong, in words. "CUDA Driver API, Error Log Management".

typedef enum CUlogLevel_enum { CU_LOG_LEVEL_ERROR = 0, CU_LOG_LEVEL_WARNING = 1 } CUlogLevel;
typedef struct CUlogsCallbackEntry_st* CUlogsCallbackHandle;
typedef void(CUDA_CB* CUlogsCallback)(void* data, CUlogLevel logLevel, char* message, size_t length);
typedef unsigned int CUlogIterator;
