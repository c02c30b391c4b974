#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>
#include "kir/call_reach.h"

#include "backend/cpu/build/context_parameter.h"
#include "base/result.h"

namespace llvm {
class LLVMContext;
class Module;
}  // namespace llvm

namespace cupola::cpu::build {

/// A kernel with all that its code is generated from: data and shared memory are laid out, so that it needs nothing of
/// the module that it comes from.
struct KernelUnit {
  std::unique_ptr<llvm::Module> module;
  KernelBody kernel;
  uint64_t constant_bytes = 0;  ///< of the module's data, see kir::ModuleData
};

/// The unit of `kernel` as bytes; the same for the same code. After lower_shared, before lower_intrinsics.
std::vector<std::byte> write_unit(const KernelBody& kernel, uint64_t constant_bytes, const kir::CallReach& reach);

/// The way back. Error: InvalidImage for bytes that write_unit did not make.
Result<KernelUnit> read_unit(llvm::LLVMContext& context, std::span<const std::byte> bytes);

}  // namespace cupola::cpu::build
