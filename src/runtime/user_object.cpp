#include "runtime/user_object.h"

#include "runtime/host_function.h"
#include "runtime/runtime.h"

namespace cupola::runtime {

void UserObject::end() {
  const auto self = Runtime::get().user_objects.remove(this);
  call_host_function(destroy_, object_);
}

void UserObject::release(uint64_t count) {
  if (references_.fetch_sub(count) == count) end();
}

Result<> UserObject::release_checked(unsigned count) {
  uint64_t held = references_.load();
  do {
    if (held < count)
      return fail(ErrorCode::InvalidValue, "{} references are to be given back; there are {}", count, held);
  } while (!references_.compare_exchange_weak(held, held - count));
  if (held == count) end();
  return {};
}

}  // namespace cupola::runtime
