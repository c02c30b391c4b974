#pragma once

#include <expected>
#include <string>
#include <utility>

#include "base/format.h"

namespace cupola {

/// Why a call failed. The numbers are those of the public CUDA error codes (CUresult and cudaError_t agree on them
/// since CUDA 10.1), so that the C ABI layer converts by value; see the "CUDA Driver API, Data types" page.
enum class ErrorCode : int {
#define CUPOLA_ERROR(name, number, text) name = number,
#include "base/errors.def"
#undef CUPOLA_ERROR
};

/// The name in the table, for logs: "InvalidValue".
const char* name_of(ErrorCode code);

/// A failure: a code for programs and a line for people. The line says what was asked, what was wrong and what to do.
struct Error {
  ErrorCode code;
  std::string message;
};

template <typename T = void>
using Result = std::expected<T, Error>;

/// `return fail(ErrorCode::InvalidValue, "grid.x is {}; it must be at least 1", x);`
template <typename... Args>
[[nodiscard]] std::unexpected<Error> fail(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) {
  return std::unexpected(Error{code, formatted(text, std::forward<Args>(args)...)});
}

[[nodiscard]] inline std::unexpected<Error> fail(Error error) {
  return std::unexpected(std::move(error));
}

#define CUPOLA_CONCAT_(a, b) a##b
#define CUPOLA_CONCAT(a, b) CUPOLA_CONCAT_(a, b)
#define CUPOLA_TRY_1(tmp, expr)                               \
  do {                                                        \
    auto tmp = (expr);                                        \
    if (!tmp) return std::unexpected(std::move(tmp).error()); \
  } while (0)
#define CUPOLA_TRY_2(tmp, decl, expr)                       \
  auto tmp = (expr);                                        \
  if (!tmp) return std::unexpected(std::move(tmp).error()); \
  decl = std::move(*tmp)
#define CUPOLA_TRY_PICK(a, b, name, ...) name

/// `TRY(call());` or `TRY(auto value, call());`: hands the error up. An expression with a comma outside parentheses
/// needs parentheses of its own.
#define TRY(...) \
  CUPOLA_TRY_PICK(__VA_ARGS__, CUPOLA_TRY_2, CUPOLA_TRY_1)(CUPOLA_CONCAT(cupola_try_, __LINE__), __VA_ARGS__)

}  // namespace cupola
