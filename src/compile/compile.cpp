#include "compile/compile.h"

#include <cstdlib>

#include "compile/pipeline.h"
#include "compile/process_end.h"
#include "image/compile_request.h"
#include "kir/c_entry.h"

namespace cupola {
namespace {

Result<std::vector<std::byte>> compile_guarded(std::span<const std::byte> bytes) {
  const Compiling compiling;
  if (!compiling.may_begin()) return fail(ErrorCode::Deinitialized, "compiler: the process ends");
  return kir::guarded([&]() -> Result<std::vector<std::byte>> {
    TRY(const image::CompileRequest request, image::deserialize_request(bytes));
    return compile(request);
  });
}

}  // namespace
}  // namespace cupola

extern "C" {

[[gnu::visibility("default")]] int cupola_compile(const void* request, size_t request_bytes, void** output,
                                                  size_t* output_bytes) {
  return cupola::kir::hand_over(cupola::compile_guarded({static_cast<const std::byte*>(request), request_bytes}),
                                output, output_bytes);
}

[[gnu::visibility("default")]] void cupola_compile_free(void* output) {
  std::free(output);
}
}
