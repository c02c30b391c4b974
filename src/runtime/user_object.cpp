#include "runtime/user_object.h"

namespace cupola::runtime {

bool UserObject::release(unsigned count) {
  if (references_.fetch_sub(count) != count) return false;
  destroy_(object_);
  return true;
}

Result<bool> UserObject::release_checked(unsigned count) {
  uint64_t held = references_.load();
  do {
    if (held < count)
      return fail(ErrorCode::InvalidValue, "{} references are to be given back; there are {}", count, held);
  } while (!references_.compare_exchange_weak(held, held - count));
  if (held != count) return false;
  destroy_(object_);
  return true;
}

}  // namespace cupola::runtime
