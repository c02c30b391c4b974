#pragma once

#include <memory>
#include <string>
#include <vector>

#include "backend/cpu/run/cpu_executable.h"

// For tests only.

namespace cupola::cpu {

/// An executable whose kernels are functions of this process, with the signature that generated code has.
class NativeExecutable final : public CpuExecutable {
 public:
  /// The next kernel; its place is the number of kernels before it. `parameter_bytes`: for launches by kernels.
  NativeExecutable& add(std::string name, image::cpu::KernelEntry entry, KernelCode code = {},
                        uint32_t static_shared = 0, uint32_t parameter_bytes = 0) {
    hal::KernelInfo info;
    info.name = std::move(name);
    info.static_shared_bytes = static_shared;
    info.parameter_bytes = parameter_bytes;
    code.entry = entry;
    add_kernel(std::move(info));
    code_.push_back(code);
    descriptors_.push_back({image::cpu::KernelDescriptor::kMark, descriptors_.size()});
    set_module_data(reinterpret_cast<std::byte*>(descriptors_.data()), descriptors_.size() * sizeof descriptors_[0]);
    return *this;
  }

  const KernelCode* code(uint32_t kernel, const Dim3&) const override { return &code_[kernel]; }

  /// What device code takes for a kernel's address, once all are added.
  const void* address(uint32_t kernel) const { return &descriptors_[kernel]; }

 private:
  std::vector<KernelCode> code_;
  std::vector<image::cpu::KernelDescriptor> descriptors_;
};

}  // namespace cupola::cpu
