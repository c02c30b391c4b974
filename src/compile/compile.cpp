#include "compile/compile.h"

#include <cstdlib>
#include <cstring>
#include <exception>
#include <string>

#include "compile/pipeline.h"
#include "image/compile_request.h"
#include "kir/fatal_error.h"

namespace cupola {
namespace {

Result<std::vector<std::byte>> compile_guarded(std::span<const std::byte> bytes) {
  const kir::CatchFatalErrors guard;
  try {
    TRY(const image::CompileRequest request, image::deserialize_request(bytes));
    return compile(request);
  } catch (const kir::FatalError& error) {
    return fail(ErrorCode::InvalidSource, "the compiler gave up: {}", error.reason);
  } catch (const std::exception& error) {
    return fail(ErrorCode::InvalidSource, "the compiler failed: {}", error.what());
  }
}

/// Hands bytes over in memory that cupola_compile_free returns.
void hand_over(const void* bytes, size_t size, void** output, size_t* output_bytes) {
  *output = std::malloc(size ? size : 1);
  *output_bytes = *output ? size : 0;
  if (*output) std::memcpy(*output, bytes, size);
}

}  // namespace
}  // namespace cupola

extern "C" {

[[gnu::visibility("default")]] int cupola_compile(const void* request, size_t request_bytes, void** output,
                                                  size_t* output_bytes) {
  const auto result = cupola::compile_guarded({static_cast<const std::byte*>(request), request_bytes});
  if (result)
    cupola::hand_over(result->data(), result->size(), output, output_bytes);
  else
    cupola::hand_over(result.error().message.data(), result.error().message.size(), output, output_bytes);
  return result ? 0 : static_cast<int>(result.error().code);
}

[[gnu::visibility("default")]] void cupola_compile_free(void* output) {
  std::free(output);
}
}
