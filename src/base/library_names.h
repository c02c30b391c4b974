#pragma once

/// The names of the libraries' files. Linux numbers the interfaces that programs link, macOS has one name for each.
#if defined(__APPLE__)
#define CUPOLA_LIBRARY(name, number) "lib" name ".dylib"
#define CUPOLA_OWN_LIBRARY(name) "lib" name ".dylib"
#else
#define CUPOLA_LIBRARY(name, number) "lib" name ".so." number
#define CUPOLA_OWN_LIBRARY(name) "lib" name ".so"
#endif

namespace cupola {

inline constexpr const char kDriverLibrary[] = CUPOLA_LIBRARY("cuda", "1");
inline constexpr const char kRuntimeLibrary[] = CUPOLA_LIBRARY("cudart", "13");
inline constexpr const char kCompilerLibrary[] = CUPOLA_OWN_LIBRARY("cupola-compiler");
inline constexpr const char kFrontendLibrary[] = CUPOLA_OWN_LIBRARY("cupola-frontend");
inline constexpr const char kSoftwareMetalLibrary[] = CUPOLA_OWN_LIBRARY("cupola-software-metal");

}  // namespace cupola

#undef CUPOLA_LIBRARY
#undef CUPOLA_OWN_LIBRARY
