#pragma once

namespace cupola::image {

/// The function that serves a library call whose C library version misses CUDA's error bound: computed in the next
/// wider type and rounded once. Null for all other names.
const void* accurate_call(const char* name);

}  // namespace cupola::image
