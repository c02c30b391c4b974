// Every Refused row of the table, exported. The prototypes are not visible here: a stub takes whatever it is given, and
// returns an integer that the C ABI hands on as the nvmlReturn_t. That a device lacks something is an ordinary answer
// in NVML, which tools ask for and show as such: it is told to CUPOLA_LOG=api, and not as an error.

#include "base/log.h"

namespace cupola::nvml {
bool in_use();
}

namespace {

int not_there(const char* name, const char* why) {
  constexpr int kUninitialised = 1, kNotSupported = 3;
  const int status = cupola::nvml::in_use() ? kNotSupported : kUninitialised;
  cupola::log::line(cupola::log::Topic::Api, "{} = {} (not supported: {})", name, status, why);
  return status;
}

}  // namespace

#define STUB(name, why)                                              \
  extern "C" __attribute__((visibility("default"))) int name(void) { \
    return not_there(#name, why);                                    \
  }
#define NVML_REFUSED(base, suffix, signature, why) STUB(base##suffix, why)
#define NVML_ABSENT(name, why) STUB(name, why)
#include "cuda/nvml/nvml.def"
