// Every Todo and Refused row of the table, exported. The prototypes are not visible here: a stub takes whatever it is
// given, and returns an integer that the C ABI hands on as the cudaError_t.

#include "base/log.h"
#include "base/trace.h"
#include "cuda/cudart/error.h"

namespace {

int not_there(const char* name, const char* why) {
  cupola::trace::Call traced(cupola::trace::Kind::RuntimeCall, name);
  traced.returns(cudaErrorNotSupported);
  if (traced.logged()) cupola::log::line(cupola::log::Topic::Api, "{} = cudaErrorNotSupported ({})", name, why);
  cupola::log::line(cupola::log::Topic::Error, "{}: {}", name, why);
  cupola::cudart::record_error(cudaErrorNotSupported);
  return cudaErrorNotSupported;
}

}  // namespace

#define STUB(name, why)                                              \
  extern "C" __attribute__((visibility("default"))) int name(void) { \
    return not_there(#name, why);                                    \
  }
#define STUB_Full(name)
#define STUB_Partial(name)
#define STUB_Todo(name) STUB(name, "not supported yet")
#define CUDART_FN(name, suffix, since, status, signature) STUB_##status(name##suffix)
#define CUDART_REFUSED(name, suffix, since, signature, why) STUB(name##suffix, "not supported: " why)
#define CUDART_ABSENT(name, why) STUB(name, "not supported: " why)
#include "cuda/cudart/runtime.def"
