// Every Todo row of the table, exported. The prototypes are not visible here: a stub takes whatever it is given, and
// returns an integer that the C ABI hands on as the cudaError_t.

#include "base/log.h"
#include "cuda/cudart/error.h"

namespace {

int not_there(const char* name) {
  cupola::log::line(cupola::log::Topic::Error, "{} is not there yet", name);
  cupola::cudart::record_error(cudaErrorNotSupported);
  return cudaErrorNotSupported;
}

}  // namespace

#define STUB_Full(name)
#define STUB_Partial(name)
#define STUB_Todo(name)                                              \
  extern "C" __attribute__((visibility("default"))) int name(void) { \
    return not_there(#name);                                         \
  }
#define CUDART_FN(name, suffix, since, status, signature) STUB_##status(name##suffix)
#define CUDART_TODO(name) STUB_Todo(name)
#include "cuda/cudart/runtime.def"
