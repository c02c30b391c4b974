#include "kir/fatal_error.h"

#include <llvm/ADT/StringRef.h>
#include <llvm/Support/DynamicLibrary.h>
#include <llvm/Support/ErrorHandling.h>

namespace cupola::kir {
namespace {

using Handler = void (*)(void*, const char*, bool);

thread_local int catching = 0;
Handler other = nullptr;  // of the library that installed its own before; constant after installation

void on_fatal_error(void* data, const char* reason, bool diagnostics) {
  if (catching) {
    const std::string words = reason;
    throw FatalError{words.substr(0, words.find('\n'))};
  }
  if (other) other(data, reason, diagnostics);
}

/// LLVM does not tell which handler is installed; its table of symbols, which is one for the process, says which of
/// ours.
void install() {
  constexpr char kName[] = "cupola_fatal_error_handler";
  other = reinterpret_cast<Handler>(llvm::sys::DynamicLibrary::SearchForAddressOfSymbol(kName));
  llvm::sys::DynamicLibrary::AddSymbol(kName, reinterpret_cast<void*>(on_fatal_error));
  llvm::remove_fatal_error_handler();
  llvm::install_fatal_error_handler(on_fatal_error);
}

}  // namespace

CatchFatalErrors::CatchFatalErrors() {
  static const bool installed = (install(), true);
  (void)installed;
  ++catching;
}

CatchFatalErrors::~CatchFatalErrors() {
  --catching;
}

}  // namespace cupola::kir
