#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/mutex.h"

namespace cupola::nvml {

/// Ticks of all the machine's processors since it started.
struct ProcessorTime {
  uint64_t busy, total;
};

/// Of text like /proc/stat's: proc(5). Nothing where the text does not say.
std::optional<ProcessorTime> processor_time_of(const std::string& text);
/// The machine's now; nothing on systems without /proc/stat.
std::optional<ProcessorTime> processor_time();

/// Which part of the processors' time was spent working lately. Any thread.
class ProcessorShare {
 public:
  using Read = std::function<std::optional<ProcessorTime>()>;
  /// The least time that an answer is of.
  static constexpr std::chrono::milliseconds kPeriod{100};

  explicit ProcessorShare(Read read = &processor_time) : read_(std::move(read)) {}

  /// The first answer is of the time from here on.
  void begin() EXCLUDES(mutex_);

  /// Percent of the time since the last answer that is older than kPeriod; within kPeriod the last answer again. The
  /// first waits until there was a period. Nothing where the system does not say.
  std::optional<unsigned> percent() EXCLUDES(mutex_);

 private:
  struct Sample {
    ProcessorTime time;
    std::chrono::steady_clock::time_point at;
  };
  std::optional<Sample> sample() const;

  const Read read_;
  Mutex mutex_;
  std::optional<Sample> last_ GUARDED_BY(mutex_);
  std::optional<unsigned> answer_ GUARDED_BY(mutex_);
};

}  // namespace cupola::nvml
