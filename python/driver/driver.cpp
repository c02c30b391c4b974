#include "driver.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>

namespace cupola::python {
namespace {

constexpr int kMostDevices = 64;

std::mutex opening;
std::string library_path = "libcuda.so.1";  // guarded by `opening`
std::atomic<const Calls*> opened{nullptr};
std::array<std::atomic<uint64_t>, kMostDevices> reset_counts{};

/// What the driver said of this thread's last failing call.
thread_local std::string last_reason;

/// The context that this thread used last. Null at first.
struct Used {
  CUcontext context = nullptr;
  Lifetime lifetime;
};
thread_local Used used;

/// The driver's line is "[time][thread][CUDA][E][call] message": the message.
std::string_view without_stamp(std::string_view line) {
  const size_t end = line.find("] ");
  return !line.starts_with('[') || end == std::string_view::npos ? line : line.substr(end + 2);
}

void CUDA_CB keep_reason(void*, CUlogLevel, char* message, size_t length) {
  last_reason = without_stamp({message, length});
}

template <typename Function>
void find(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(dlsym(library, name));
  if (!function) throw NoDriver{std::string("libcuda has no function ") + name + ": it is older than this package"};
}

// cuda.h's names are macros for the newest version of a function.
#define CUPOLA_TEXT(name) #name
#define CUPOLA_EXPORTED(name) CUPOLA_TEXT(name)

const Calls* open_library(const std::string& path) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);  // global: others look for it by its name
  if (!library) throw NoDriver{"libcuda cannot be loaded: " + std::string(dlerror())};
  auto* const found = new Calls;  // leaked: calls come until the process ends
#define CUPOLA_CALL(name) find(library, CUPOLA_EXPORTED(name), found->name);
#include "calls.def"
  return found;
}

std::string text_of(CUresult (*CUDAAPI get)(CUresult, const char**), CUresult status) {
  const char* text = nullptr;
  return get(status, &text) == CUDA_SUCCESS && text ? text : "unknown error";
}

[[noreturn]] void fail(const Calls& calls, CUresult status, std::string_view call) {
  DriverError error{status, text_of(calls.cuGetErrorName, status), {}};
  error.message = std::string(call.substr(0, call.find('('))) + ": " + text_of(calls.cuGetErrorString, status) + " (" +
                  error.name + ")";
  if (!last_reason.empty()) error.message += ": " + std::exchange(last_reason, {});
  throw error;
}

/// The primary context of a device, retained once for the process.
Used primary_context(int device) {
  static std::mutex mutex;
  static std::array<Used, kMostDevices> retained;
  const std::lock_guard lock(mutex);
  const bool known = device >= 0 && device < kMostDevices && retained[device].context;
  if (known && !retained[device].lifetime.is_over()) return retained[device];
  Used now;
  CU(cuDevicePrimaryCtxRetain(&now.context, device));  // fails for a device that there is not
  now.lifetime = {device, resets(device)};
  return retained.at(device) = now;
}

/// Another package's context, which it made current on this thread; nothing if that has ended.
std::optional<Used> foreign_context(CUcontext current) {
  CUdevice device = 0;
  if (calls().cuCtxGetDevice(&device) != CUDA_SUCCESS) return std::nullopt;
  return Used{current, {device, resets(device)}};
}

}  // namespace

void set_library(std::string path) {
  const std::lock_guard lock(opening);
  library_path = std::move(path);
}

const Calls& calls() {
  if (const Calls* const found = opened.load(std::memory_order_acquire)) return *found;
  const std::lock_guard lock(opening);
  if (const Calls* const found = opened.load(std::memory_order_acquire)) return *found;
  const Calls* const found = open_library(library_path);
  if (const CUresult status = found->cuInit(0); status != CUDA_SUCCESS) fail(*found, status, "cuInit");
  found->cuLogsRegisterCallback(keep_reason, nullptr, nullptr);  // without it messages are shorter
  opened.store(found, std::memory_order_release);
  return *found;
}

void check(CUresult status, const char* call) {
  if (status != CUDA_SUCCESS) fail(calls(), status, call);
}

const Calls& begin_call() {
  last_reason.clear();
  return calls();
}

Lifetime use_context() {
  CUcontext current = nullptr;
  CU(cuCtxGetCurrent(&current));
  bool usable = current && current == used.context;
  if (current && !usable)
    if (const std::optional<Used> found = foreign_context(current)) {
      used = *found;
      usable = true;
    }
  if (!usable || used.lifetime.is_over()) use_device(used.lifetime.device);
  return used.lifetime;
}

Lifetime used_context() {
  return used.lifetime;
}

void use_device(int device) {
  const Used chosen = primary_context(device);
  CU(cuCtxSetCurrent(chosen.context));
  used = chosen;
}

void reset_device(int device) {
  CU(cuDevicePrimaryCtxReset(device));
  ++reset_counts.at(device);
}

uint64_t resets(int device) {
  return reset_counts.at(device).load(std::memory_order_relaxed);
}

}  // namespace cupola::python
