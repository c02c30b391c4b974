// Every Todo row of the table, exported. The prototypes are not visible here: a stub takes whatever it is given, and
// returns an integer that the C ABI hands on as the CUresult.

#include <atomic>

#include "base/log.h"
#include "base/result.h"

namespace {

int not_there(const char* name, std::atomic<bool>& said) {
  if (!said.exchange(true)) cupola::log::line(cupola::log::Topic::Error, "{} is not supported yet", name);
  return static_cast<int>(cupola::ErrorCode::NotSupported);
}

}  // namespace

#define STUB_Full(name)
#define STUB_Partial(name)
#define STUB_Todo(name)                                              \
  extern "C" __attribute__((visibility("default"))) int name(void) { \
    static constinit std::atomic<bool> said = false;                 \
    return not_there(#name, said);                                   \
  }
#define CU_FN(base, suffix, since, status, signature) STUB_##status(base##suffix)
#define CU_TODO(name) STUB_Todo(name)
#include "cuda/driver/driver.def"
