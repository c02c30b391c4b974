// Every Todo and Refused row of the table, exported. The prototypes are not visible here: a stub takes whatever it is
// given, and returns an integer that the C ABI hands on as the CUresult.

#include "base/log.h"
#include "base/result.h"
#include "base/trace.h"
#include "cuda/driver/error_log.h"

namespace {

int not_there(const char* name, const char* why) {
  cupola::trace::Call traced(cupola::trace::Kind::DriverCall, name);
  traced.returns(static_cast<int>(cupola::ErrorCode::NotSupported));
  if (traced.logged())
    cupola::log::line(cupola::log::Topic::Api, "{} = {} ({})", name, static_cast<int>(cupola::ErrorCode::NotSupported),
                      why);
  cupola::driver::keep_error(name, why);
  cupola::log::line(cupola::log::Topic::Error, "{}: {}", name, why);
  return static_cast<int>(cupola::ErrorCode::NotSupported);
}

}  // namespace

#define STUB(name, why)                                              \
  extern "C" __attribute__((visibility("default"))) int name(void) { \
    return not_there(#name, why);                                    \
  }
#define STUB_Full(name)
#define STUB_Partial(name)
#define STUB_Todo(name) STUB(name, "not supported yet")
#define CU_FN(base, suffix, since, status, signature) STUB_##status(base##suffix)
#define CU_REFUSED(base, suffix, since, signature, why) STUB(base##suffix, "not supported: " why)
#define CU_ABSENT(name, why) STUB(name, "not supported: " why)
#include "cuda/driver/driver.def"
