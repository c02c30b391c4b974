#include "frontend/frontend.h"

#include <llvm/Support/thread.h>

#include <cstdlib>
#include <cstring>
#include <exception>

#include "frontend/compile_source.h"
#include "kir/fatal_error.h"

namespace cupola::frontend {
namespace {

/// Address space, of which only what is used becomes memory: clang recurses with the program's nesting, and two
/// kilobytes a level are usual. Where there is not so much, less has to do.
constexpr unsigned kStackBytes[] = {4095u << 20, 512u << 20, 64u << 20};

Result<image::SourceAnswer> compile_guarded(std::span<const std::byte> bytes) {
  const kir::CatchFatalErrors guard;
  try {
    TRY(const image::SourceRequest request, image::deserialize_source_request(bytes));
    return compile_source(request);
  } catch (const kir::FatalError& error) {
    return fail(ErrorCode::InvalidSource, "the compiler gave up: {}", error.reason);
  } catch (const std::exception& error) {
    return fail(ErrorCode::InvalidSource, "the compiler failed: {}", error.what());
  }
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

/// Hands bytes over in memory that cupola_frontend_free returns.
void hand_over(const void* bytes, size_t size, void** output, size_t* output_bytes) {
  *output = std::malloc(size ? size : 1);
  *output_bytes = *output ? size : 0;
  if (*output) std::memcpy(*output, bytes, size);
}

}  // namespace
}  // namespace cupola::frontend

extern "C" {

[[gnu::visibility("default")]] int cupola_frontend_compile(const void* request, size_t request_bytes, void** output,
                                                           size_t* output_bytes) {
  namespace frontend = cupola::frontend;
  const auto answer = frontend::compile_on_large_stack({static_cast<const std::byte*>(request), request_bytes});
  if (!answer) {
    frontend::hand_over(answer.error().message.data(), answer.error().message.size(), output, output_bytes);
    return static_cast<int>(answer.error().code);
  }
  const std::vector<std::byte> bytes = cupola::image::serialize(*answer);
  frontend::hand_over(bytes.data(), bytes.size(), output, output_bytes);
  return 0;
}

[[gnu::visibility("default")]] void cupola_frontend_free(void* output) {
  std::free(output);
}
}
