#pragma once

#include <cstring>
#include <optional>

#include "cuda/driver/api.h"

namespace cupola::driver {

/// The log buffers among CUjit_option's; the other options tune NVIDIA's compiler and mean nothing here.
class JitLogs {
 public:
  /// Error: InvalidValue when options are announced but missing.
  static Result<JitLogs> read(unsigned count, const CUjit_option* options, void** values) {
    if (count && (!options || !values))
      return fail(ErrorCode::InvalidValue, "{} options are announced, but none are given", count);
    JitLogs logs;
    for (unsigned i = 0; i < count; ++i) {
      switch (options[i]) {
        case CU_JIT_INFO_LOG_BUFFER:
          logs.info_.text = static_cast<char*>(values[i]);
          break;
        case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
          logs.info_.size = &values[i];
          break;
        case CU_JIT_ERROR_LOG_BUFFER:
          logs.error_.text = static_cast<char*>(values[i]);
          break;
        case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
          logs.error_.size = &values[i];
          break;
        default:
          break;  // an int from outside, not a table's enum
      }
    }
    return logs;
  }

  /// Fills the buffers and says how much was written, as CUDA documents for the size options.
  void write(const Result<>& result) {
    info_.write("");
    error_.write(result ? std::string() : result.error().message);
  }

 private:
  struct Buffer {
    char* text = nullptr;
    void** size = nullptr;  ///< in: bytes there are; out: bytes written
    void write(const std::string& message) {
      if (!size) return;
      const auto room = reinterpret_cast<uintptr_t>(*size) & 0xffffffff;
      size_t written = 0;
      if (text && room) {
        written = std::min<size_t>(message.size(), room - 1);
        std::memcpy(text, message.data(), written);
        text[written] = 0;
      }
      *size = reinterpret_cast<void*>(written);  // NOLINT(performance-no-int-to-ptr)
    }
  };
  Buffer info_, error_;
};

}  // namespace cupola::driver
