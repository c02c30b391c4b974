// The variants for per-thread default streams: the same call, during which the default stream is the thread's own.
// "CUDA Driver API, Stream synchronization behavior". One for each row of the table whose suffix ends in _ptsz or
// _ptds.

#include "base/wrapped_function.h"
#include "cuda/driver/api.h"

#define VARIANT_Full(base, suffix) \
  DEFINE_WRAPPED_FUNCTION(CUresult, base##suffix, base, cupola::driver::PerThreadStream, cupola::driver::forwarded)
#define VARIANT_Partial(base, suffix) VARIANT_Full(base, suffix)
#define VARIANT_Todo(base, suffix)
#define VARIANT_Refused(base, suffix)

#define ROW(status, base)
#define ROW_v2(status, base)
#define ROW_v3(status, base)
#define ROW_v4(status, base)
#define ROW_ptsz(status, base) VARIANT_##status(base, _ptsz)
#define ROW_ptds(status, base) VARIANT_##status(base, _ptds)
#define ROW_v2_ptsz(status, base) VARIANT_##status(base##_v2, _ptsz)
#define ROW_v2_ptds(status, base) VARIANT_##status(base##_v2, _ptds)
#define ROW_v3_ptsz(status, base) VARIANT_##status(base##_v3, _ptsz)

#define CU_FN(base, suffix, since, status, signature) ROW##suffix(status, base)
#include "cuda/driver/driver.def"

// Only what is used is instantiated.
#undef VARIANT_Full
#define VARIANT_Full(base, suffix) reinterpret_cast<void*>(&base##suffix),
#define CU_FN(base, suffix, since, status, signature) ROW##suffix(status, base)
[[gnu::used]] static void* const variants[] = {
#include "cuda/driver/driver.def"
};
