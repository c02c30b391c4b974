#include "cuda/driver/jit_options.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace cupola::driver {
namespace {

enum class Treatment { Honoured, Ignored, Refused };

struct Row {
  CUjit_option option;
  Treatment treatment;
  const char* name;
  const char* why;
};

constexpr std::array kRows = {
#define CU_JIT(option, treatment, why) Row{option, Treatment::treatment, #option, why},
#include "cuda/driver/jit_options.def"
#undef CU_JIT
};

constexpr bool complete() {
  for (size_t i = 0; i < kRows.size(); ++i)
    if (static_cast<size_t>(kRows[i].option) != i) return false;
  return kRows.size() == CU_JIT_NUM_OPTIONS;
}
static_assert(complete(), "jit_options.def has a row for each option, in the order of the numbers");

/// Options that hold a value of 32 bits hold it in the low half of their slot.
uint32_t low_half(const void* value) {
  return static_cast<uint32_t>(reinterpret_cast<uintptr_t>(value));
}

}  // namespace

Result<JitOptions> JitOptions::read(unsigned count, const CUjit_option* options, void** values) {
  if (count && (!options || !values))
    return fail(ErrorCode::InvalidValue, "{} options are announced, but none are given", count);
  JitOptions read;
  for (unsigned i = 0; i < count; ++i) {
    TRY(read.take(options[i], &values[i]));
  }
  return read;
}

Result<> JitOptions::take(CUjit_option option, void** value) {
  const auto number = static_cast<uint32_t>(option);  // any int, from outside
  if (number >= kRows.size())
    return fail(ErrorCode::InvalidValue, "{} is no option of CUjit_option; the last is {}", static_cast<int>(number),
                kRows.back().name);
  const Row& row = kRows[number];
  // Names and addresses alone mean nothing: it is their count that says how many there are.
  if (row.treatment == Treatment::Refused && option == CU_JIT_GLOBAL_SYMBOL_COUNT && low_half(*value) > 0)
    return fail(ErrorCode::NotSupported, "{} is {}: {}", row.name, low_half(*value), row.why);
  if (option == CU_JIT_WALL_TIME) wall_time_ = value;
  struct Buffer {
    Log& log;
    CUjit_option text, size;
  };
  for (const Buffer& each : {Buffer{info_, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES},
                             Buffer{error_, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}}) {
    if (option == each.text) each.log.text = static_cast<char*>(*value);
    if (option != each.size) continue;
    each.log.size = value;
    each.log.room = low_half(*value);
  }
  return {};
}

void JitOptions::Log::write(const std::string& message) const {
  if (!size) return;
  size_t written = 0;
  if (text && room) {
    written = std::min(message.size(), room - 1);
    std::memcpy(text, message.data(), written);
    text[written] = 0;
  }
  *size = reinterpret_cast<void*>(written);  // NOLINT(performance-no-int-to-ptr)
}

Result<> JitOptions::answer(Result<> result) const {
  info_.write("");
  error_.write(result ? std::string() : result.error().message);
  if (wall_time_) {
    const std::chrono::duration<float, std::milli> took = std::chrono::steady_clock::now() - begin_;
    const float milliseconds = took.count();
    std::memcpy(static_cast<void*>(wall_time_), &milliseconds, sizeof milliseconds);
  }
  return result;
}

Result<> check_library_options(unsigned count, const CUlibraryOption* options, bool from_memory) {
  if (count && !options)
    return fail(ErrorCode::InvalidValue, "{} library options are announced, but none are given", count);
  for (unsigned i = 0; i < count; ++i) {
    const auto number = static_cast<uint32_t>(options[i]);
    if (number >= CU_LIBRARY_NUM_OPTIONS)
      return fail(ErrorCode::InvalidValue, "{} is no option of CUlibraryOption", number);
    if (options[i] == CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE)
      return fail(ErrorCode::NotSupported,
                  "CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE: device code cannot use functions of the host");
    // A permission to keep no copy; ours is kept.
    if (options[i] == CU_LIBRARY_BINARY_IS_PRESERVED && !from_memory)
      return fail(ErrorCode::InvalidValue, "CU_LIBRARY_BINARY_IS_PRESERVED is for cuLibraryLoadData only");
  }
  return {};
}

}  // namespace cupola::driver
