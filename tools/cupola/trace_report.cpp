#include "cupola/trace_report.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/demangled.h"
#include "base/format.h"
#include "cupola/json.h"

namespace cupola::tool {
namespace {

using trace::Kind;

std::string shape_text(const Dim3& shape) {
  if (shape.z != 1) return formatted("{}x{}x{}", shape.x, shape.y, shape.z);
  return shape.y != 1 ? formatted("{}x{}", shape.x, shape.y) : formatted("{}", shape.x);
}

/// Bytes a nanosecond are GB (10^9) a second.
double gigabytes_per_second(uint64_t bytes, uint64_t nanoseconds) {
  return nanoseconds ? static_cast<double>(bytes) / static_cast<double>(nanoseconds) : 0;
}

double microseconds(uint64_t nanoseconds) {
  return static_cast<double>(nanoseconds) / 1000;
}

// ---- JSON ----

/// Rows of streams come after those of threads, whose numbers are the system's.
constexpr uint64_t kFirstQueueRow = uint64_t{1} << 32;

uint64_t row_of(const TraceEvent& event) {
  return event.on_thread() ? event.thread : kFirstQueueRow + event.queue;
}

const char* category(Kind kind) {
  switch (kind) {
    case Kind::RuntimeCall:
      return "runtime";
    case Kind::DriverCall:
      return "driver";
    case Kind::Kernel:
      return "kernel";
    case Kind::Copy:
      return "copy";
    case Kind::Fill:
      return "fill";
    case Kind::HostFunction:
      return "host function";
  }
  return "";
}

std::string arguments(const TraceEvent& event) {
  switch (event.kind) {
    case Kind::RuntimeCall:
    case Kind::DriverCall:
      return formatted("{{\"status\":{}}}", event.amount);
    case Kind::Kernel:
      return formatted("{{\"grid\":\"{}\",\"block\":\"{}\",\"dynamic shared bytes\":{}}}", shape_text(event.grid),
                       shape_text(event.block), event.amount);
    case Kind::Copy:
    case Kind::Fill:
      return formatted("{{\"bytes\":{},\"GB/s\":{:.3f}}}", event.amount,
                       gigabytes_per_second(event.amount, event.duration()));
    case Kind::HostFunction:
      return "{}";
  }
  return "{}";
}

void append_names(std::span<const TraceEvent> events, std::string& json) {
  std::set<std::pair<uint32_t, uint64_t>> seen;
  for (const TraceEvent& event : events) {
    if (!seen.insert({event.process, row_of(event)}).second) continue;
    json +=
        formatted("{{\"ph\":\"M\",\"pid\":{},\"tid\":{},\"name\":\"thread_name\",\"args\":{{\"name\":\"{} {}\"}}}},\n",
                  event.process, row_of(event), event.on_thread() ? "thread" : "stream",
                  event.on_thread() ? uint64_t{event.thread} : event.queue);
  }
}

// ---- tables ----

struct Total {
  uint64_t count = 0, nanoseconds = 0, longest = 0, bytes = 0;
  void add(const TraceEvent& event) {
    ++count;
    nanoseconds += event.duration();
    longest = std::max(longest, event.duration());
    bytes += event.amount;
  }
};

using Totals = std::map<std::string, Total>;

std::string table(const char* title, const Totals& totals, bool with_bytes) {
  if (totals.empty()) return {};
  std::vector<std::pair<std::string, Total>> rows(totals.begin(), totals.end());
  std::ranges::sort(rows, {}, [](const auto& row) { return std::pair(~row.second.nanoseconds, row.first); });
  std::string text = formatted("{:>10}  {:>12}  {:>12}  {:>12}  {}{}\n", "calls", "total ms", "mean us", "longest us",
                               with_bytes ? "         MB      GB/s  " : "", title);
  for (const auto& [name, total] : rows) {
    text += formatted("{:>10}  {:>12.3f}  {:>12.2f}  {:>12.2f}  ", total.count, microseconds(total.nanoseconds) / 1000,
                      microseconds(total.nanoseconds) / static_cast<double>(total.count), microseconds(total.longest));
    if (with_bytes)
      text += formatted("{:>11.3f}  {:>8.2f}  ", static_cast<double>(total.bytes) / 1e6,
                        gigabytes_per_second(total.bytes, total.nanoseconds));
    text += name + "\n";
  }
  return text + "\n";
}

}  // namespace

std::string trace_json(std::span<const TraceEvent> events, bool with_nested) {
  uint64_t origin = UINT64_MAX;
  for (const TraceEvent& event : events) origin = std::min(origin, event.begin);
  std::string json = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  append_names(events, json);
  for (const TraceEvent& event : events) {
    if (event.nested && !with_nested) continue;
    json += formatted(
        "{{\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{:.3f},\"dur\":{:.3f},\"cat\":\"{}\",\"name\":{},\"args\":{}}},\n",
        event.process, row_of(event), microseconds(event.begin - origin), microseconds(event.duration()),
        category(event.kind), json_string(demangled(event.name)), arguments(event));
  }
  if (json.ends_with(",\n")) json.resize(json.size() - 2);
  return json + "\n]}\n";
}

std::string trace_summary(std::span<const TraceEvent> events) {
  Totals calls, kernels, copies, functions;
  for (const TraceEvent& event : events) {
    switch (event.kind) {
      case Kind::RuntimeCall:
      case Kind::DriverCall:
        if (!event.nested) calls[event.name].add(event);
        break;
      case Kind::Kernel:
        kernels[formatted("{} <<<{}, {}>>>", demangled(event.name), shape_text(event.grid), shape_text(event.block))]
            .add(event);
        break;
      case Kind::Copy:
      case Kind::Fill:
        copies[event.name].add(event);
        break;
      case Kind::HostFunction:
        functions[event.name].add(event);
        break;
    }
  }
  std::string text = table("API call", calls, false) + table("kernel", kernels, false) +
                     table("copy or fill", copies, true) + table("host function", functions, false);
  if (text.empty()) return "no CUDA calls were made with Cupola's libraries\n";
  text.pop_back();
  return text;
}

}  // namespace cupola::tool
