#pragma once

#include <cstdint>
#include <string>

#include "backend/cpu/run/aligned_mapping.h"
#include "backend/cpu/run/fibre.h"
#include "base/result.h"

namespace cupola::cpu {

/// A synchronous signal that ended a fibre.
struct CapturedFault {
  int signal = 0;
  uint64_t address = 0;
  enum class Access { Unknown, Read, Write } access = Access::Unknown;
  bool stack_overflow = false;
  uint64_t program_counter = 0;

  ErrorCode code() const;
  std::string text()
      const;  ///< "illegal memory access at 0x10 (read), saxpy.cu:12"; the place where the image knows it

 private:
  std::string what() const;
};

/// Runs fibres on one OS thread and survives what goes wrong in them: a fault ends the fibre, not the process. The
/// thread that runs fibres constructs it, and destroys it.
class FibreRunner {
 public:
  enum class Ending { Suspended, Ended, Faulted };

  FibreRunner();
  ~FibreRunner();
  FibreRunner(const FibreRunner&) = delete;
  FibreRunner& operator=(const FibreRunner&) = delete;

  Ending run(Fibre& fibre);

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
