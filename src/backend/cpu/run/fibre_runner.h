#pragma once

#include <cstdint>
#include <string>

#include "backend/cpu/run/aligned_mapping.h"
#include "backend/cpu/run/fibre.h"
#include "base/fault_router.h"
#include "base/result.h"

namespace cupola::cpu {

/// A synchronous signal that ended what ran.
struct CapturedFault {
  int signal = 0;
  uint64_t address = 0;
  /// Nowhere: at an address that no memory can have; the processor does not say which.
  enum class Access { Unknown, Read, Write, Nowhere } access = Access::Unknown;
  bool stack_overflow = false;
  uint64_t program_counter = 0;

  /// Async-signal-safe.
  static CapturedFault of(const FaultRouter::Fault& fault);

  ErrorCode code() const;
  std::string text()
      const;  ///< "illegal memory access at 0x10 (read), saxpy.cu:12"; the place where the image knows it

 private:
  std::string what() const;
};

/// Runs fibres on one OS thread at a time and survives what goes wrong in them: a fault ends the fibre, not the
/// process.
class FibreRunner {
 public:
  enum class Ending { Suspended, Ended, Faulted };

  /// Routes faults to fibres. First call before the first fibre runs. Any thread.
  static void prepare();

  FibreRunner();
  FibreRunner(const FibreRunner&) = delete;
  FibreRunner& operator=(const FibreRunner&) = delete;

  /// While it lives, the calling thread is the one that runs the runner's fibres.
  class OnThread {
   public:
    explicit OnThread(FibreRunner& runner);
    ~OnThread();
    OnThread(const OnThread&) = delete;
    OnThread& operator=(const OnThread&) = delete;
  };

  /// True on a thread that has an OnThread.
  static bool runs_here();

  /// How the fibre that was the last to run came back: `fibre`, or one that it switched to.
  Ending run(Fibre& fibre);

  /// Called on the running fibre: goes on with `next`.
  void switch_to(Fibre& next) {
    Fibre* left = running_;
    running_ = &next;
    left->switch_to(next);
  }

  /// What ended the fibre that run() last returned Faulted for.
  const CapturedFault& fault() const { return fault_; }

 private:
  struct Router;

  FibreHome home_;
  AlignedMapping landing_stack_;
  Fibre* volatile running_ = nullptr;
  bool faulted_ = false;
  CapturedFault fault_;
};

}  // namespace cupola::cpu
