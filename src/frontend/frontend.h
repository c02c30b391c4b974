#pragma once

#include <cstddef>

// The one entry of libcupola-frontend: clang, as a library. libnvrtc opens it by path, out of sight of the program
// (RTLD_LOCAL), at the first compilation, and calls this through dlsym; nothing else crosses.

extern "C" {

/// `request` is a serialised image::SourceRequest. Returns 0 and a serialised image::SourceAnswer in *output, or an
/// error code (cupola::ErrorCode) and its line in *output. The caller frees *output with cupola_frontend_free. Any
/// thread, any number at once.
int cupola_frontend_compile(const void* request, size_t request_bytes, void** output, size_t* output_bytes);
void cupola_frontend_free(void* output);
}
