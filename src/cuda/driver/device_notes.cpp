// Smaller questions to a device. "CUDA Driver API, Device Management".

#include "cuda/driver/texel_format.h"

using namespace cupola;
using namespace cupola::driver;

CUresult cuDeviceGetTexture1DLinearMaxWidth(size_t* maxWidthInElements, CUarray_format format, unsigned numChannels,
                                            CUdevice dev) {
  return api_call([&]() -> Result<> {
    TRY(given(maxWidthInElements, "maxWidthInElements"));
    TRY(Device * device, Runtime::get().device(dev));
    if (!texel_format(format, numChannels))
      return fail(ErrorCode::InvalidValue, "texels of {} channels of format {:#x}", numChannels,
                  static_cast<unsigned>(format));
    *maxWidthInElements =
        static_cast<size_t>(device->attribute(CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH).value_or(0));
    return {};
  });
}

namespace {

/// What an operation can do, on memory that host and device share: the bits of CUatomicOperationCapability.
Result<unsigned> capability(CUatomicOperation operation) {
  constexpr unsigned kIntegers = CU_ATOMIC_CAPABILITY_SIGNED | CU_ATOMIC_CAPABILITY_UNSIGNED |
                                 CU_ATOMIC_CAPABILITY_REDUCTION | CU_ATOMIC_CAPABILITY_SCALAR_32 |
                                 CU_ATOMIC_CAPABILITY_SCALAR_64;
  switch (operation) {
    case CU_ATOMIC_OPERATION_INTEGER_ADD:
    case CU_ATOMIC_OPERATION_INTEGER_MIN:
    case CU_ATOMIC_OPERATION_INTEGER_MAX:
    case CU_ATOMIC_OPERATION_AND:
    case CU_ATOMIC_OPERATION_OR:
    case CU_ATOMIC_OPERATION_XOR:
      return kIntegers;
    case CU_ATOMIC_OPERATION_INTEGER_INCREMENT:
    case CU_ATOMIC_OPERATION_INTEGER_DECREMENT:
      return CU_ATOMIC_CAPABILITY_UNSIGNED | CU_ATOMIC_CAPABILITY_REDUCTION | CU_ATOMIC_CAPABILITY_SCALAR_32;
    case CU_ATOMIC_OPERATION_EXCHANGE:
    case CU_ATOMIC_OPERATION_CAS:
      return CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_SCALAR_64;
    case CU_ATOMIC_OPERATION_FLOAT_ADD:
      return CU_ATOMIC_CAPABILITY_REDUCTION | CU_ATOMIC_CAPABILITY_SCALAR_32 | CU_ATOMIC_CAPABILITY_SCALAR_64;
    case CU_ATOMIC_OPERATION_FLOAT_MIN:
    case CU_ATOMIC_OPERATION_FLOAT_MAX:
      return 0u;
    case CU_ATOMIC_OPERATION_MAX:
      break;
  }
  return fail(ErrorCode::InvalidValue, "{} is not one of CUatomicOperation", static_cast<int>(operation));
}

Result<> answer(unsigned* capabilities, const CUatomicOperation* operations, unsigned count) {
  TRY(given(capabilities, "capabilities"));
  TRY(given(operations, "operations"));
  if (count == 0) return fail(ErrorCode::InvalidValue, "count is 0");
  for (unsigned i = 0; i < count; ++i) {
    TRY(capabilities[i], capability(operations[i]));
  }
  return {};
}

}  // namespace

CUresult cuDeviceGetHostAtomicCapabilities(unsigned int* capabilities, const CUatomicOperation* operations,
                                           unsigned int count, CUdevice dev) {
  return api_call([&]() -> Result<> {
    TRY(Runtime::get().device(dev));
    return answer(capabilities, operations, count);
  });
}

CUresult cuDeviceGetP2PAtomicCapabilities(unsigned int* capabilities, const CUatomicOperation* operations,
                                          unsigned int count, CUdevice srcDevice, CUdevice dstDevice) {
  return api_call([&]() -> Result<> {
    TRY(Runtime::get().device(srcDevice));
    TRY(Runtime::get().device(dstDevice));
    if (srcDevice == dstDevice) return fail(ErrorCode::InvalidDevice, "a device is no peer of itself");
    return answer(capabilities, operations, count);
  });
}

// The one notification there is says that a process is over its budget of memory; there are no budgets.
namespace {

struct Notification {
  CUdevice device;
};

Handles<Notification>& notifications() {
  static auto* const instance = new Handles<Notification>;  // leaked: used after static destructors
  return *instance;
}

}  // namespace

CUresult cuDeviceRegisterAsyncNotification(CUdevice device, CUasyncCallback callbackFunc, void*,
                                           CUasyncCallbackHandle* callback) {
  return api_call([&]() -> Result<> {
    TRY(Runtime::get().device(device));
    TRY(given(reinterpret_cast<const void*>(callbackFunc), "callbackFunc"));
    TRY(given(callback, "callback"));
    *callback = handle_of<CUasyncCallbackHandle>(notifications().add(std::make_shared<Notification>(device)));
    return {};
  });
}

CUresult cuDeviceUnregisterAsyncNotification(CUdevice device, CUasyncCallbackHandle callback) {
  return api_call([&]() -> Result<> {
    TRY(Runtime::get().device(device));
    if (!notifications().remove(callback))
      return fail(ErrorCode::InvalidValue, "that is no handle of cuDeviceRegisterAsyncNotification");
    return {};
  });
}
