#include "frontend/frontend.h"

#include <llvm/Support/thread.h>

#include <cstdlib>

#include "frontend/compile_source.h"
#include "kir/c_entry.h"

namespace cupola::frontend {
namespace {

/// Address space, of which only what is used becomes memory: clang recurses with the program's nesting, and two
/// kilobytes a level are usual. Where there is not so much, less has to do.
constexpr unsigned kStackBytes[] = {4095u << 20, 512u << 20, 64u << 20};

Result<image::SourceAnswer> compile_guarded(std::span<const std::byte> bytes) {
  return kir::guarded([&]() -> Result<image::SourceAnswer> {
    TRY(const image::SourceRequest request, image::deserialize_source_request(bytes));
    return compile_source(request);
  });
}

Result<image::SourceAnswer> compile_on_large_stack(std::span<const std::byte> bytes) {
  const kir::CatchFatalErrors guard;  // a thread that cannot be had is one
  std::string why;
  for (const unsigned stack : kStackBytes) try {
      Result<image::SourceAnswer> answer;
      llvm::thread worker(std::optional<unsigned>(stack), [&] { answer = compile_guarded(bytes); });
      worker.join();
      return answer;
    } catch (const kir::FatalError& error) {
      why = error.reason;
    }
  return fail(ErrorCode::OutOfMemory, "the compiler cannot begin: {}", why);
}

Result<std::vector<std::byte>> answer_of(std::span<const std::byte> bytes) {
  TRY(const image::SourceAnswer answer, compile_on_large_stack(bytes));
  return image::serialize(answer);
}

}  // namespace
}  // namespace cupola::frontend

extern "C" {

[[gnu::visibility("default")]] int cupola_frontend_compile(const void* request, size_t request_bytes, void** output,
                                                           size_t* output_bytes) {
  return cupola::kir::hand_over(cupola::frontend::answer_of({static_cast<const std::byte*>(request), request_bytes}),
                                output, output_bytes);
}

[[gnu::visibility("default")]] void cupola_frontend_free(void* output) {
  std::free(output);
}
}
