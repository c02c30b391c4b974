#pragma once

#include <exception>
#include <new>
#include <stdexcept>

#include "base/log.h"
#include "base/result.h"

namespace cupola {

/// An error of an exception: with words, unless there is no memory for them.
template <typename... Args>
std::unexpected<Error> caught(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) noexcept {
  try {
    return fail(code, text, std::forward<Args>(args)...);
  } catch (...) {
    return fail(Error{code, {}});
  }
}

/// body() -> Result<>, with exceptions as errors: for functions of C, which none may leave. A container that was asked
/// for more than there can ever be (std::length_error) is out of memory too.
template <typename Body>
Result<> guarded(Body&& body) {
  constexpr auto kNoMemory = "the host is out of memory";
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return caught(ErrorCode::OutOfMemory, kNoMemory);
  } catch (const std::length_error&) {
    return caught(ErrorCode::OutOfMemory, kNoMemory);
  } catch (const std::exception& unexpected) {
    return caught(ErrorCode::Unknown, "an unexpected exception: {}", unexpected.what());
  } catch (...) {
    return caught(ErrorCode::Unknown, "an unexpected exception");
  }
}

/// What a library that has numbers of its own answers for exceptions.
template <typename Status>
struct Thrown {
  const char* who;  ///< the library, or the call, as the log names it
  Status no_memory, other;
};

/// body() -> Status, with exceptions as statuses; what they were is logged. None leaves it.
template <typename Status, typename Body>
Status guarded(const Thrown<Status>& thrown, Body&& body) {
  Status status = thrown.other;
  const Result<> result = guarded([&]() -> Result<> {
    status = body();
    return {};
  });
  if (result) return status;
  log::line(log::Topic::Error, "{}: {}", thrown.who, result.error().message);
  return result.error().code == ErrorCode::OutOfMemory ? thrown.no_memory : thrown.other;
}

}  // namespace cupola
