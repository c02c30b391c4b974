#pragma once

namespace cupola {

/// The systems that Cupola runs on, for rules that tests look at on any of them.
enum class Platform { Linux, MacOs };

#if defined(__APPLE__)
inline constexpr Platform kThisPlatform = Platform::MacOs;
#else
inline constexpr Platform kThisPlatform = Platform::Linux;
#endif

/// Of a thread-local variable that short calls use: found without a call. Only in libraries all of whose thread-local
/// variables are small: where one is such, all of them lie in a small room that the libraries share which a program
/// opens later. So not in libcudart.
#define CUPOLA_NEAR_THREAD_LOCAL __attribute__((tls_model("initial-exec"))) thread_local

}  // namespace cupola
