#include "cuda/cudart/context.h"

#include <map>
#include <vector>

#include "base/mutex.h"
#include "cuda/cudart/registry.h"

// A primary context keeps its handle for ever, and a thread keeps it current, while cudaDeviceReset or the driver API
// may end it at any time. Its id, which is another one after each end, tells.

namespace cupola::cudart {
namespace {

using ContextId = unsigned long long;

thread_local int chosen_device = 0;

/// The context that the thread used last, as it was then.
struct Seen {
  CUcontext context = nullptr;
  ContextId id = 0;
};
constinit thread_local Seen seen;

struct Contexts {
  Mutex mutex;
  std::vector<CUcontext> retained GUARDED_BY(mutex);       ///< primary contexts by device; null until used
  std::map<CUcontext, ContextId> known GUARDED_BY(mutex);  ///< the id of what the registry has loaded into
};

Contexts& contexts() {
  static auto* const instance = new Contexts;
  return *instance;
}

/// 0 when the handle is no live one; of null: that of the thread's context, 0 when it has none.
ContextId id_of(const Driver& cu, CUcontext context) {
  ContextId id = 0;
  return check(cu.cuCtxGetId(context, &id)) ? id : 0;
}

/// What was loaded into the context before its end is gone.
void forget_if_new(const Driver& cu, CUcontext context, Contexts& all) REQUIRES(all.mutex) {
  const ContextId id = id_of(cu, context);
  auto [entry, added] = all.known.try_emplace(context, id);
  if (entry->second == id) return;
  Registry::get().forget(context);
  entry->second = id;
}

/// The primary context, retained since it last began.
Result<CUcontext> retain(const Driver& cu, size_t device, Contexts& all) REQUIRES(all.mutex) {
  CUcontext& context = all.retained[device];
  if (context) {
    const auto known = all.known.find(context);
    if (known != all.known.end() && known->second == id_of(cu, context)) return context;
  }
  TRY(check(cu.cuDevicePrimaryCtxRetain(&context, static_cast<CUdevice>(device))));
  forget_if_new(cu, context, all);
  return context;
}

Result<size_t> device_count(const Driver& cu) {
  int count = 0;
  TRY(check(cu.cuDeviceGetCount(&count)));
  if (count == 0) return fail(ErrorCode::NoDevice, "there is no device");
  return static_cast<size_t>(count);
}

/// If `context` is a primary context that ended without the runtime having held it: begins it again, and holds it.
Result<> revive(const Driver& cu, CUcontext context, Contexts& all) REQUIRES(all.mutex) {
  for (size_t device = 0; device < all.retained.size(); ++device) {
    unsigned flags = 0;
    int active = 0;
    TRY(check(cu.cuDevicePrimaryCtxGetState(static_cast<CUdevice>(device), &flags, &active)));
    if (active) continue;
    CUcontext primary = nullptr;
    TRY(check(cu.cuDevicePrimaryCtxRetain(&primary, static_cast<CUdevice>(device))));
    if (primary == context) {
      all.retained[device] = primary;
      return {};
    }
    TRY(check(cu.cuDevicePrimaryCtxRelease(static_cast<CUdevice>(device))));
  }
  return {};
}

/// The thread's context is not as the thread saw it last, or is new to it.
Result<> look_again(const Driver& cu, CUcontext context) {
  TRY(size_t count, device_count(cu));
  Contexts& all = contexts();
  Lock lock(all.mutex);
  if (all.retained.size() < count) all.retained.resize(count);
  for (size_t device = 0; device < count; ++device) {
    if (all.retained[device] != context) continue;
    TRY(retain(cu, device, all));
    return {};
  }
  TRY(revive(cu, context, all));
  forget_if_new(cu, context, all);
  return {};
}

}  // namespace

Result<CUcontext> primary_context(const Driver& cu, int device) {
  TRY(size_t count, device_count(cu));
  if (device < 0 || static_cast<size_t>(device) >= count) {
    return fail(ErrorCode::InvalidDevice, "device {} does not exist; there are {}, from 0 on", device, count);
  }
  Contexts& all = contexts();
  Lock lock(all.mutex);
  if (all.retained.size() < count) all.retained.resize(count);
  return retain(cu, static_cast<size_t>(device), all);
}

Result<CUcontext> current_context(const Driver& cu) {
  if (seen.id != 0 && seen.id == id_of(cu, nullptr)) [[likely]]
    return seen.context;
  CUcontext context = nullptr;
  TRY(check(cu.cuCtxGetCurrent(&context)));
  if (!context) {
    TRY(context, primary_context(cu, chosen_device));
    TRY(check(cu.cuCtxSetCurrent(context)));
    return context;
  }
  if (seen.context != context || seen.id != id_of(cu, context)) {
    TRY(look_again(cu, context));
    seen = {context, id_of(cu, context)};
  }
  return context;
}

Result<int> current_device(const Driver& cu) {
  CUcontext context = nullptr;
  TRY(check(cu.cuCtxGetCurrent(&context)));
  if (!context) return chosen_device;
  {
    Contexts& all = contexts();
    Lock lock(all.mutex);
    for (size_t device = 0; device < all.retained.size(); ++device)
      if (all.retained[device] == context) return static_cast<int>(device);
  }
  if (id_of(cu, nullptr) == 0) return chosen_device;  // it ended; the driver would log that as a failure
  CUdevice device = 0;
  const auto status = check(cu.cuCtxGetDevice(&device));
  if (!status && status.error().code == ErrorCode::ContextIsDestroyed) return chosen_device;  // at this very moment
  TRY(Result<>(status));
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
  Contexts& all = contexts();
  Lock lock(all.mutex);
  if (all.retained.size() <= static_cast<size_t>(device)) all.retained.resize(static_cast<size_t>(device) + 1);
  CUcontext& context = all.retained[static_cast<size_t>(device)];
  const bool was_held = context != nullptr;
  if (!was_held) {
    unsigned flags = 0;
    int active = 0;
    TRY(check(cu.cuDevicePrimaryCtxGetState(device, &flags, &active)));
    if (!active) return {};
    TRY(check(cu.cuDevicePrimaryCtxRetain(&context, device)));  // the program has begun it, and keeps its own hold
  }
  Registry::get().forget(context);
  TRY(check(cu.cuDevicePrimaryCtxReset(device)));
  TRY(check(cu.cuDevicePrimaryCtxRelease(device)));
  context = nullptr;
  chosen_device = device;
  if (was_held) return check(cu.cuCtxSetCurrent(nullptr));
  return {};  // what the program made current stays so
}

}  // namespace cupola::cudart
