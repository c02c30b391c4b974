#pragma once

#include <chrono>
#include <string>

#include "cuda/driver/api.h"

namespace cupola::driver {

/// The options of a call that loads code. The table jit_options.def says what becomes of each.
class JitOptions {
 public:
  /// Starts the clock of CU_JIT_WALL_TIME. Errors: InvalidValue when options are announced but missing, or for a number
  /// that is no option; NotSupported for a refused one.
  static Result<JitOptions> read(unsigned count, const CUjit_option* options, void** values);

  /// Writes what the options ask for: logs, their sizes, the time. Gives the result back.
  Result<> answer(Result<> result) const;

 private:
  struct Log {
    char* text = nullptr;
    size_t room = 0;        ///< bytes
    void** size = nullptr;  ///< where the bytes of text go
    void write(const std::string& message) const;
  };
  Result<> take(CUjit_option option, void** value);

  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  Log info_, error_;
  void** wall_time_ = nullptr;
};

/// Checks the options of a library that come beside those of the compiler. `from_memory`: for cuLibraryLoadData.
/// Errors: as JitOptions::read.
Result<> check_library_options(unsigned count, const CUlibraryOption* options, bool from_memory);

}  // namespace cupola::driver
