#include "ptx/lower/emission.h"

// Instructions that are still to be written.

namespace cupola::ptx::emit {

#define PENDING(name)      \
  void name(Emission& e) { \
    unsupported(e);        \
  }
PENDING(compare)
PENDING(compare_to_value)
PENDING(convert_float)
PENDING(convert_from_bytes)
PENDING(convert_integer)
PENDING(convert_pack)
PENDING(convert_pair)
PENDING(convert_tf32)
PENDING(convert_to_bytes)
PENDING(convert_to_float)
PENDING(convert_to_integer)
PENDING(matrix_load)
PENDING(matrix_load_shared)
PENDING(matrix_multiply)
PENDING(matrix_multiply_fragments)
PENDING(matrix_store)
PENDING(matrix_store_shared)
PENDING(matrix_transpose)
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
