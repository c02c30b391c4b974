#pragma once

#include <string_view>

#include "base/guarded.h"
#include "base/log.h"
#include "cuda/nvml/library.h"

// Every exported function has the same shape: `return api_call([&] { ... });`, or with_device for one that is asked of
// a device. The wrappers ask for nvmlInit, check the handle, keep exceptions inside and log.

namespace cupola::nvml {

/// For the few calls that work before nvmlInit.
template <typename Body>
nvmlReturn_t api_call_before_init(Body&& body, const char* call = __builtin_FUNCTION()) {
  const nvmlReturn_t status = guarded(Thrown{call, NVML_ERROR_MEMORY, NVML_ERROR_UNKNOWN}, body);
  log::line(log::Topic::Api, "{} = {}", call, static_cast<int>(status));
  return status;
}

template <typename Body>
nvmlReturn_t api_call(Body&& body, const char* call = __builtin_FUNCTION()) {
  return api_call_before_init([&] { return Library::get().in_use() ? body() : NVML_ERROR_UNINITIALIZED; }, call);
}

/// body(const Device&)
template <typename Body>
nvmlReturn_t with_device(nvmlDevice_t handle, Body&& body, const char* call = __builtin_FUNCTION()) {
  return api_call(
      [&] {
        const Device* const device = Library::get().device(handle);
        return device ? body(*device) : NVML_ERROR_INVALID_ARGUMENT;
      },
      call);
}

/// Stores one value of a device: `value(device)` gives it.
template <typename T, typename Value>
nvmlReturn_t answer(nvmlDevice_t handle, T* to, Value&& value, const char* call = __builtin_FUNCTION()) {
  return with_device(
      handle,
      [&](const Device& device) {
        if (!to) return NVML_ERROR_INVALID_ARGUMENT;
        *to = static_cast<T>(value(device));
        return NVML_SUCCESS;
      },
      call);
}

/// Stores `text` with its terminating zero. Errors: INVALID_ARGUMENT for no buffer, INSUFFICIENT_SIZE.
nvmlReturn_t store_text(char* to, unsigned int length, std::string_view text);

}  // namespace cupola::nvml
