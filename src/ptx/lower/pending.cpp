#include "ptx/lower/emission.h"

// Instructions that are still to be written.

namespace cupola::ptx::emit {

#define PENDING(name)      \
  void name(Emission& e) { \
    unsupported(e);        \
  }
PENDING(surface_load)
PENDING(surface_reduce)
PENDING(surface_store)
PENDING(texture_fetch)
PENDING(texture_gather)
PENDING(texture_query)
PENDING(video_compare)
PENDING(video_multiply_add)
PENDING(video_scalar)
PENDING(video_simd)
PENDING(video_simd_compare)

}  // namespace cupola::ptx::emit
