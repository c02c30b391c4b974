#include "driver.h"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <mutex>
#include <string_view>
#include <utility>

namespace cupola::python {
namespace {

constexpr int kMostDevices = 64;

std::mutex opening;
std::string library_path = "libcuda.so.1";  // guarded by `opening`
std::atomic<const Calls*> opened{nullptr};
std::atomic<uint64_t> reset_count{0};

/// What the driver said of this thread's last failing call.
thread_local std::string last_reason;
thread_local uint64_t context_of_reset = 0;

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
CUcontext primary_context(int device) {
  static std::mutex mutex;
  static std::array<CUcontext, kMostDevices> contexts{};
  static std::array<uint64_t, kMostDevices> of_reset{};
  const std::lock_guard lock(mutex);
  if (device < 0 || device >= kMostDevices) CU(cuDevicePrimaryCtxRetain(nullptr, device));
  const uint64_t now = resets();
  if (!contexts[device] || of_reset[device] != now) {
    CU(cuDevicePrimaryCtxRetain(&contexts[device], device));
    of_reset[device] = now;
  }
  return contexts[device];
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

void use_context() {
  CUcontext current = nullptr;
  CU(cuCtxGetCurrent(&current));
  const uint64_t now = resets();
  if (current && context_of_reset == now) return;
  CU(cuCtxSetCurrent(primary_context(0)));  // what was current before a reset is gone
  context_of_reset = now;
}

void use_device(int device) {
  CU(cuCtxSetCurrent(primary_context(device)));
  context_of_reset = resets();
}

void reset_device(int device) {
  CU(cuDevicePrimaryCtxReset(device));
  ++reset_count;
}

uint64_t resets() {
  return reset_count.load(std::memory_order_relaxed);
}

}  // namespace cupola::python
