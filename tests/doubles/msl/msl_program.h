#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/kernel_info.h"
#include "base/result.h"

// A double of Metal's compiler and GPU: MSL source through clang with a strict header of our own (metal_stdlib beside
// this file), and kernels on fibres of the host, a fibre a thread, 32 threads a SIMD group. It has what our code uses
// and refuses the rest.

namespace cupola::doubles {

/// One argument of a kernel in MSL: what its attribute says.
struct MslArgument {
  enum class Kind { Buffer, Threadgroup, BuiltIn };
  Kind kind;
  uint32_t index = 0;  ///< of a Buffer or Threadgroup
  std::string name;    ///< of a BuiltIn: "thread_position_in_grid"
};

struct MslFunction {
  std::string name;
  std::vector<MslArgument> arguments;
};

/// A compiled library. Any thread; runs of one program one after the other.
class MslProgram {
 public:
  /// Errors: InvalidSource with clang's words.
  static Result<std::shared_ptr<MslProgram>> compile(const std::string& source);

  virtual ~MslProgram() = default;
  virtual std::span<const MslFunction> functions() const = 0;

  struct Launch {
    uint32_t function;                        ///< place in functions()
    Dim3 grid, block;                         ///< threadgroups, threads in each
    std::vector<void*> buffers;               ///< by index; addresses of the host at which the GPU sees the bytes
    std::vector<uint32_t> threadgroup_bytes;  ///< by index
    uint64_t patience = 100'000'000;          ///< how often threads that wait for others are taken up in vain
  };

  /// Runs all threadgroups. Errors: LaunchFailed for what Metal leaves undefined and this double finds: threads of a
  /// group at different barriers, or gone before one; IllegalAddress where a kernel faults; LaunchTimeout for a grid
  /// that does not get on, as macOS ends it after some seconds.
  virtual Result<> run(const Launch& launch) = 0;
};

}  // namespace cupola::doubles
