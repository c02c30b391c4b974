#include "backend/cpu/run/command_trace.h"

#include <atomic>
#include <variant>

namespace cupola::cpu {
namespace {

void record_as(trace::Event event, uint64_t queue, uint64_t begin) {
  event.queue = queue;
  event.begin = begin;
  event.end = trace::now();
  trace::record(event);
}

}  // namespace

void record_command(const hal::Command& command, uint64_t queue, uint64_t begin) {
  if (const auto* launch = std::get_if<hal::Launch>(&command))
    record_as({.kind = trace::Kind::Kernel,
               .amount = launch->dynamic_shared_bytes,
               .grid = launch->grid,
               .block = launch->block,
               .name = launch->executable->kernels()[launch->kernel].name},
              queue, begin);
  else if (const auto* copy = std::get_if<hal::Copy>(&command))
    record_as({.kind = trace::Kind::Copy, .amount = copy->width * copy->height * copy->depth, .name = "copy"}, queue,
              begin);
  else if (const auto* fill = std::get_if<hal::Fill>(&command))
    record_as({.kind = trace::Kind::Fill, .amount = fill->width * fill->height * fill->value_bytes, .name = "fill"},
              queue, begin);
}

uint64_t next_traced_queue() {
  static std::atomic<uint64_t> next = 1;
  return next.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace cupola::cpu
