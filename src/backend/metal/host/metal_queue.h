#pragma once

#include <thread>

#include "backend/metal/host/metal_semaphore.h"
#include "backend/metal/host/metal_services.h"
#include "hal/queue.h"

namespace cupola::metal {

/// One thread that executes commands in order, and waits for the GPU. It starts with the queue and ends with it; when
/// the queue goes on that thread, because a function that it called held the last reference, right after it.
class MetalQueue final : public hal::Queue {
 public:
  /// Errors: OutOfMemory; DevicesUnavailable.
  static Result<std::unique_ptr<hal::Queue>> make(const MetalServices& services, std::shared_ptr<MetalDomain> domain);
  ~MetalQueue() override;

  using Queue::enqueue;
  uint64_t enqueue(std::span<hal::Command> commands) override;
  void start() override;
  const std::shared_ptr<hal::Semaphore>& progress() const override;

 private:
  struct State;
  explicit MetalQueue(std::shared_ptr<State> state);

  const std::shared_ptr<State> state_;  ///< the thread's too
  std::thread thread_;
};

}  // namespace cupola::metal
