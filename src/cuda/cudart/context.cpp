#include "cuda/cudart/context.h"

#include <vector>

#include "base/mutex.h"
#include "cuda/cudart/registry.h"

namespace cupola::cudart {
namespace {

thread_local int chosen_device = 0;

struct Primaries {
  Mutex mutex;
  std::vector<CUcontext> retained GUARDED_BY(mutex);  ///< by device; null until used
};

Primaries& primaries() {
  static auto* const instance = new Primaries;
  return *instance;
}

}  // namespace

Result<CUcontext> primary_context(const Driver& cu, int device) {
  int count = 0;
  TRY(check(cu.cuDeviceGetCount(&count)));
  if (count == 0) return fail(ErrorCode::NoDevice, "there is no device");
  if (device < 0 || device >= count) {
    return fail(ErrorCode::InvalidDevice, "device {} does not exist; there are {}, from 0 on", device, count);
  }
  Primaries& all = primaries();
  Lock lock(all.mutex);
  if (all.retained.size() < static_cast<size_t>(count)) all.retained.resize(count);
  CUcontext& context = all.retained[device];
  if (!context) TRY(check(cu.cuDevicePrimaryCtxRetain(&context, device)));
  return context;
}

Result<CUcontext> current_context(const Driver& cu) {
  CUcontext context = nullptr;
  TRY(check(cu.cuCtxGetCurrent(&context)));
  if (context) return context;
  TRY(context, primary_context(cu, chosen_device));
  TRY(check(cu.cuCtxSetCurrent(context)));
  return context;
}

Result<int> current_device(const Driver& cu) {
  CUcontext context = nullptr;
  TRY(check(cu.cuCtxGetCurrent(&context)));
  if (!context) return chosen_device;
  CUdevice device = 0;
  TRY(check(cu.cuCtxGetDevice(&device)));
  return device;
}

Result<> choose_device(const Driver& cu, int device) {
  TRY(CUcontext context, primary_context(cu, device));
  TRY(check(cu.cuCtxSetCurrent(context)));
  chosen_device = device;
  return {};
}

Result<> reset_device(const Driver& cu) {
  TRY(int device, current_device(cu));
  Primaries& all = primaries();
  Lock lock(all.mutex);
  CUcontext context = static_cast<size_t>(device) < all.retained.size() ? all.retained[device] : nullptr;
  if (!context) return {};
  Registry::get().forget(context);
  all.retained[device] = nullptr;
  TRY(check(cu.cuDevicePrimaryCtxReset(device)));
  return check(cu.cuCtxSetCurrent(nullptr));
}

}  // namespace cupola::cudart
