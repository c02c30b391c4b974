#pragma once

// What the runtime tells kernels of their device and context: written by src/runtime/context.cpp, read by the device
// library through kir's cupola.device_facts. Compiled by the host's compiler and for the device; needs no header.

namespace cupola::image {

struct DeviceFacts {
  static constexpr int kAttributes = 160, kLimits = 10;
  static constexpr int kNoAttribute = -2147483647 - 1;

  int device;                          ///< ordinal
  int devices;                         ///< how many there are
  const int* attributes;               ///< the device's, by CUDA's number; kNoAttribute where it has none
  unsigned long long limits[kLimits];  ///< by CUDA's number; may change while kernels run
};

}  // namespace cupola::image
