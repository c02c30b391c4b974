#pragma once

#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "backend/cpu/build/segment.h"
#include "base/result.h"
#include "image/block_class.h"
#include "image/kernel_image.h"

namespace llvm {
class Module;
class TargetMachine;
}  // namespace llvm

namespace cupola::cpu::build {

struct KernelBody;

struct CodeOptions {
  /// The code that each kernel has: nothing: for one thread and for each class of blocks; else for these blocks alone.
  std::optional<image::BlocksOfCode> blocks;
  bool exports_functions = false;  ///< those whose address a program may hold become symbols of the segment
  uint64_t constant_bytes = 0;     ///< as lower_intrinsics has it
  std::string keep;                ///< as BuildOptions has it
  std::string* report = nullptr;   ///< as BuildOptions has it
  const std::atomic<bool>* given_up = nullptr;  ///< as BuildOptions has it
};

struct GeneratedCode {
  Segment segment;
  std::vector<image::Kernel> kernels;  ///< where each begins and how it runs; what else they say is not filled in
};

/// Turns a module whose data and shared memory are laid out into code of the machine. Consumes its contents. Errors
/// name what it holds that is not supported.
Result<GeneratedCode> generate_code(llvm::Module& module, std::span<const KernelBody> kernels,
                                    const CodeOptions& options, llvm::TargetMachine& machine);

}  // namespace cupola::cpu::build
