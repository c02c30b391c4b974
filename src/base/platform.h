#pragma once

namespace cupola {

/// The systems that Cupola runs on, for rules that tests look at on any of them.
enum class Platform { Linux, MacOs };

#if defined(__APPLE__)
inline constexpr Platform kThisPlatform = Platform::MacOs;
#else
inline constexpr Platform kThisPlatform = Platform::Linux;
#endif

/// Of a thread-local variable that short calls use: found without a call. Not for large ones, as libraries that a
/// program opens later share a small room for them.
#define CUPOLA_NEAR_THREAD_LOCAL __attribute__((tls_model("initial-exec"))) thread_local

}  // namespace cupola
