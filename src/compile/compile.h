#pragma once

#include <cstddef>
#include <cstdint>

// The one entry of libcupola-compiler. The run half opens the library at the first cache miss and calls this through
// dlsym; nothing else crosses. The request is image::CompileRequest (src/image/compile_request.h), whose
// target says what the answer is: a serialised image::KernelImage, kir text or PTX text (pipeline.h); or one line of
// text that says what is wrong.

extern "C" {

/// Returns 0 and the answer in *output, or an error code (cupola::ErrorCode) and its line in *output. The caller frees
/// *output with cupola_compile_free. Any thread.
int cupola_compile(const void* request, size_t request_bytes, void** output, size_t* output_bytes);
void cupola_compile_free(void* output);
}
