#pragma once

#include <cstdint>

namespace llvm {
class Function;
class FunctionType;
class LLVMContext;
class Module;
}  // namespace llvm

namespace cupola::metal::build {

/// A kernel's type: what image/metal_abi.h says its arguments are, then what Metal tells each thread.
llvm::FunctionType* kernel_type(llvm::LLVMContext& context);

/// The arguments of kernel_type, by their places.
enum KernelArgument : unsigned {
  kParameters,
  kLaunch,
  kShared,
  kWords,
  kTid,  ///< <3 x i32>, as the next three
  kNtid,
  kCtaid,
  kNctaid,
  kLane,
  kWarp,
  kWarps,
};

/// What AIR's modules say of themselves, and of this kernel: https://github.com/JuliaGPU/Metal.jl (src/compiler) and
/// Apple's modules in its test folder have it. `macos`: the oldest system that must take it, a row of
/// metallib/versions.def with these versions.
struct AirVersion {
  unsigned macos;
  unsigned air[2], language[2];
};
void describe(llvm::Module& module, llvm::Function& kernel, const AirVersion& version);

}  // namespace cupola::metal::build
