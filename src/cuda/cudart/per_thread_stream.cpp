// The variants for per-thread default streams: the same call, which uses the driver's variants. "CUDA Runtime API, API
// synchronization behavior". One for each row of the table with the suffix _ptsz or _ptds.

#include "base/wrapped_function.h"
#include "cuda/cudart/api.h"
#include "cuda/cudart/public.h"

#define VARIANT_Full(base, suffix) \
  DEFINE_WRAPPED_FUNCTION(cudaError_t, base##suffix, base, cupola::cudart::PerThreadStream, cupola::cudart::forwarded)
#define VARIANT_Partial(base, suffix) VARIANT_Full(base, suffix)
#define VARIANT_Todo(base, suffix)
#define VARIANT_Refused(base, suffix)

#define ROW(status, base)
#define ROW_ptsz(status, base) VARIANT_##status(base, _ptsz)
#define ROW_ptds(status, base) VARIANT_##status(base, _ptds)

#define CUDART_FN(base, suffix, since, status, signature) ROW##suffix(status, base)
#include "cuda/cudart/runtime.def"

// Only what is used is instantiated.
#undef VARIANT_Full
#define VARIANT_Full(base, suffix) reinterpret_cast<void*>(&base##suffix),
#define CUDART_FN(base, suffix, since, status, signature) ROW##suffix(status, base)
[[gnu::used]] static void* const variants[] = {
#include "cuda/cudart/runtime.def"
};
