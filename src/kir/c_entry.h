#pragma once

#include <cstddef>
#include <exception>
#include <vector>

#include "base/result.h"
#include "kir/fatal_error.h"

// What the C entries of the libraries that hold LLVM have in common: libcupola-compiler and libcupola-frontend.

namespace cupola::kir {

/// Calls `body`, which gives a Result; LLVM's fatal errors and exceptions become InvalidSource.
template <typename Body>
auto guarded(Body&& body) -> decltype(body()) {
  const CatchFatalErrors guard;
  try {
    return body();
  } catch (const FatalError& error) {
    return fail(ErrorCode::InvalidSource, "the compiler gave up: {}", error.reason);
  } catch (const std::exception& error) {
    return fail(ErrorCode::InvalidSource, "the compiler failed: {}", error.what());
  }
}

/// Hands the bytes, or the error's words, over in memory of std::malloc. Returns 0 or the error's code.
int hand_over(const Result<std::vector<std::byte>>& answer, void** output, size_t* output_bytes);

}  // namespace cupola::kir
