#pragma once

#include <memory>
#include <string>

#include "backend/cpu/run/cpu_executable.h"

// For tests only.

namespace cupola::cpu {

/// An executable whose kernels are functions of this process, with the signature that generated code has.
class NativeExecutable final : public CpuExecutable {
 public:
  /// The next kernel; its place is the number of kernels before it.
  NativeExecutable& add(std::string name, image::cpu::KernelEntry entry, KernelCode code = {},
                        uint32_t static_shared = 0) {
    hal::KernelInfo info;
    info.name = std::move(name);
    info.static_shared_bytes = static_shared;
    code.entry = entry;
    add_kernel(std::move(info), code);
    return *this;
  }
};

}  // namespace cupola::cpu
