#pragma once

#include <atomic>
#include <memory>

#include "memory/allocation.h"
#include "runtime/context.h"

namespace cupola::runtime {

/// The value that a conditional node goes by. Its handle is the address of a 32-bit word in device memory, which
/// kernels write through cudaGraphSetConditional. Any thread.
class GraphCondition {
 public:
  /// Error: OutOfMemory.
  static Result<std::shared_ptr<GraphCondition>> make(Context& context, uint32_t default_value, bool assign_default);
  ~GraphCondition();

  /// Error: InvalidValue.
  static Result<std::shared_ptr<GraphCondition>> find(uint64_t handle);

  uint64_t handle() const { return word_.address(); }
  Context& context() const { return context_; }
  /// The value that the word gets at each launch; nothing when what the last launch left counts.
  std::optional<uint32_t> assigned() const {
    return assign_default_ ? std::optional<uint32_t>(default_value_) : std::nullopt;
  }

  /// True for the first caller: a condition belongs to one node.
  bool take() { return !taken_.exchange(true); }
  bool taken() const { return taken_; }

 private:
  GraphCondition(Context& context, memory::Allocation word, uint32_t default_value, bool assign_default)
      : context_(context), word_(std::move(word)), default_value_(default_value), assign_default_(assign_default) {}

  Context& context_;
  memory::Allocation word_;
  const uint32_t default_value_;
  const bool assign_default_;
  std::atomic<bool> taken_{false};
};

}  // namespace cupola::runtime
