#include "image/library_calls.h"

#include <iterator>

#include "image/accurate_calls.h"

// Addresses of the closed table's functions. Each is declared by its assembly name and without its type: the headers'
// overloads and the compiler's knowledge of these names stay out of it, and the loader only stores addresses.

#if defined(__APPLE__)
#include <dlfcn.h>

namespace cupola::image {
namespace {

/// Some are the GNU C library's only, so that none is linked; a missing one is an error of the image that asks for it.
const void* system_call_address(uint32_t function) {
  static void* const library = dlopen("/usr/lib/libSystem.B.dylib", RTLD_LAZY);
  return library ? dlsym(library, library_call_name(function)) : nullptr;
}

}  // namespace

#else
#define CUPOLA_LIBRARY_CALL(symbol) extern "C" void library_##symbol() __asm__(#symbol);
#include "image/library_calls.def"
#undef CUPOLA_LIBRARY_CALL

namespace cupola::image {
namespace {

constexpr void (*kFunctions[])() = {
#define CUPOLA_LIBRARY_CALL(symbol) &library_##symbol,
#include "image/library_calls.def"
#undef CUPOLA_LIBRARY_CALL
};

const void* system_call_address(uint32_t function) {
  return reinterpret_cast<const void*>(kFunctions[function]);
}

}  // namespace
#endif

uint32_t library_call_count() {
  return std::size(kLibraryCalls);
}

const char* library_call_name(uint32_t function) {
  return kLibraryCalls[function].data();  // of a literal, which ends in a zero
}

const void* library_call_address(uint32_t function) {
  if (const void* accurate = accurate_call(library_call_name(function))) return accurate;
  return system_call_address(function);
}

}  // namespace cupola::image
