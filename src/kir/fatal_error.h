#pragma once

#include <string>

namespace cupola::kir {

/// LLVM gave up (llvm::report_fatal_error), where it would have ended the process. Thrown through LLVM's frames, which
/// run no destructors: a little memory leaks, and the program that asked for the compilation lives on.
struct FatalError {
  std::string reason;  ///< the first line of LLVM's own words
};

/// While one lives, a fatal error on this thread is a FatalError. LLVM has one handler in a process; several libraries
/// of ours that share one LLVM hand it on to each other.
class CatchFatalErrors {
 public:
  CatchFatalErrors();
  ~CatchFatalErrors();
  CatchFatalErrors(const CatchFatalErrors&) = delete;
  CatchFatalErrors& operator=(const CatchFatalErrors&) = delete;
};

}  // namespace cupola::kir
