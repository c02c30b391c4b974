#include "cuda/nvml/processor_share.h"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>

namespace cupola::nvml {

std::optional<ProcessorTime> processor_time_of(const std::string& text) {
  std::istringstream words(text);
  std::string name;
  // user, nice, system, idle, iowait, irq, softirq, steal; what guests take is within user and nice
  std::array<uint64_t, 8> ticks{};
  if (!(words >> name) || name != "cpu") return std::nullopt;
  for (uint64_t& tick : ticks)
    if (!(words >> tick)) return std::nullopt;
  uint64_t total = 0;
  for (const uint64_t tick : ticks) total += tick;
  return ProcessorTime{total - ticks[3] - ticks[4], total};
}

std::optional<ProcessorTime> processor_time() {
  std::ifstream file("/proc/stat");
  std::string line;
  std::getline(file, line);
  return processor_time_of(line);
}

std::optional<ProcessorShare::Sample> ProcessorShare::sample() const {
  const std::optional<ProcessorTime> time = read_();
  if (!time) return std::nullopt;
  return Sample{*time, std::chrono::steady_clock::now()};
}

void ProcessorShare::begin() {
  Lock lock(mutex_);
  if (!last_) last_ = sample();
}

std::optional<unsigned> ProcessorShare::percent() {
  Lock lock(mutex_);
  if (!last_) last_ = sample();
  if (!last_) return std::nullopt;
  const auto next = last_->at + kPeriod;
  if (answer_ && std::chrono::steady_clock::now() < next) return answer_;
  std::this_thread::sleep_until(next);
  const std::optional<Sample> now = sample();
  if (!now) return std::nullopt;
  // The counters of a processor may step back a little: proc(5).
  const uint64_t total = now->time.total - std::min(now->time.total, last_->time.total);
  const uint64_t busy = std::min(total, now->time.busy - std::min(now->time.busy, last_->time.busy));
  if (total > 0) answer_ = static_cast<unsigned>((busy * 100 + total / 2) / total);
  last_ = now;
  return answer_.value_or(0);
}

}  // namespace cupola::nvml
