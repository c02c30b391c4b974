#pragma once

// Types of pointers to the driver's functions, for cuGetProcAddress: PFN_cuMemAlloc_v3020 is cuMemAlloc as of CUDA 3.2,
// PFN_cuMemcpy_v4000_ptds its variant for per-thread default streams. "CUDA Driver API, Driver Entry Point Access".
// Made from the table of functions; names without a version are not here.

#include "cuda.h"

#define CUPOLA_PFN_PASTE(name, tail) name##tail
#define CUPOLA_PFN(name, tail) CUPOLA_PFN_PASTE(name, tail)
#define CUPOLA_PFN_
#define CUPOLA_PFN__v2
#define CUPOLA_PFN__v3
#define CUPOLA_PFN__v4
#define CUPOLA_PFN__ptsz _ptsz
#define CUPOLA_PFN__ptds _ptds
#define CUPOLA_PFN__v2_ptsz _ptsz
#define CUPOLA_PFN__v2_ptds _ptds
#define CUPOLA_PFN__v3_ptsz _ptsz
#define CU_FN(base, suffix, since, status, signature) \
  typedef CUresult(CUDAAPI* CUPOLA_PFN(PFN_##base##_v##since, CUPOLA_PFN_##suffix)) signature;
#include "cupola/driver.def"
#undef CUPOLA_PFN
#undef CUPOLA_PFN_PASTE
#undef CUPOLA_PFN_
#undef CUPOLA_PFN__v2
#undef CUPOLA_PFN__v3
#undef CUPOLA_PFN__v4
#undef CUPOLA_PFN__ptsz
#undef CUPOLA_PFN__ptds
#undef CUPOLA_PFN__v2_ptsz
#undef CUPOLA_PFN__v2_ptds
#undef CUPOLA_PFN__v3_ptsz
