#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "hal/executable.h"

namespace cupola::runtime {

class Context;
class Module;

/// A launch that a program prepares piece by piece.
struct PreparedLaunch {
  uint32_t x = 1, y = 1, z = 1, shared_bytes = 0;
  std::vector<std::byte> parameters;
};

/// A kernel of a loaded module. Any thread.
class Function {
 public:
  Function(Context& context, Module& module, std::shared_ptr<hal::Executable> executable, uint32_t index)
      : context_(context), module_(&module), executable_(std::move(executable)), index_(index) {}

  Context& context() const { return context_; }
  /// The module's handle; only to compare and to give out, the module may be gone.
  const Module* module() const { return module_; }
  const std::shared_ptr<hal::Executable>& executable() const { return executable_; }
  uint32_t index() const { return index_; }
  const hal::KernelInfo& info() const { return executable_->kernels()[index_]; }

  std::atomic<int> max_dynamic_shared{-1};  ///< bytes the program asked for; -1: what fits without opting in
  std::atomic<int> carveout{-1};            ///< a hint, kept and reported
  std::atomic<int> cache_config{0};         ///< a hint, kept and reported

  Mutex prepared_mutex;
  PreparedLaunch prepared GUARDED_BY(prepared_mutex);  ///< by the calls of before CUDA 4

 private:
  Context& context_;
  const Module* const module_;
  const std::shared_ptr<hal::Executable> executable_;
  const uint32_t index_;
};

}  // namespace cupola::runtime
