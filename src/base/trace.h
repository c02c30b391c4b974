#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "base/kernel_info.h"
#include "base/steady_clock.h"
#include "base/trace_format.h"

// Traces: what the program called and what the device did, with times, into the file that CUPOLA_TRACE names (`cupola
// trace` sets it, and reads the file). Costs one relaxed load where it is off.

namespace cupola::trace {
namespace detail {

inline constexpr int kUnknown = 4, kRecording = 1, kLogging = 2;
extern constinit std::atomic<int> state;  ///< kUnknown until first asked
int begin();                              ///< decides; the new state

inline int state_now() {
  const int now = state.load(std::memory_order_relaxed);
  return now == kUnknown ? begin() : now;
}

}  // namespace detail

/// True when there is a file to write to. Any thread.
inline bool recording() {
  return (detail::state_now() & detail::kRecording) != 0;
}

/// Nanoseconds of the records' clock.
inline uint64_t now() {
  return steady_nanoseconds();
}

/// Something that happened. The name may have any length; what is too long for a record is cut.
struct Event {
  Kind kind = Kind::Kernel;
  uint64_t begin = 0, end = 0;
  uint64_t queue = 0, amount = 0;
  Dim3 grid{0, 0, 0}, block{0, 0, 0};
  std::string_view name;
};

/// Writes it, if recording(). Any thread. When the disk is full it says so and recording ends.
void record(const Event& event);

/// One call of an API, from when it is made to when it goes out of scope. Calls that the same library makes within it,
/// of its own functions, are not the program's: they leave no record and no line. `name` must live as long.
class Call {
 public:
  Call(Kind api, const char* name) {
    if (detail::state_now() != 0) [[unlikely]]
      enter(api, name);
  }
  ~Call() {
    if (entered_) [[unlikely]]
      leave();
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// What the call returns.
  void returns(int status) { status_ = status; }

  /// True when calls are recorded or logged.
  bool is_watched() const { return entered_; }

  /// True for a call of the program's when calls are logged.
  bool logged() const;

 private:
  void enter(Kind api, const char* name);
  void leave();

  bool entered_ = false;
  Kind api_ = Kind::DriverCall;
  int status_ = 0;
  uint64_t begin_ = 0;
  const char* name_ = nullptr;
};

/// How many calls of this library the thread is in; known only while calls are recorded or logged.
int depth();

}  // namespace cupola::trace
