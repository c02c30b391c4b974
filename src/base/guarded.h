#pragma once

#include <exception>
#include <new>

#include "base/result.h"

namespace cupola {

/// body() -> Result<>, with exceptions as errors: for functions of C, which none may leave.
template <typename Body>
Result<> guarded(Body&& body) {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return fail(ErrorCode::OutOfMemory, "the host is out of memory");
  } catch (const std::exception& unexpected) {
    return fail(ErrorCode::Unknown, "an unexpected exception: {}", unexpected.what());
  } catch (...) {
    return fail(ErrorCode::Unknown, "an unexpected exception");
  }
}

}  // namespace cupola
