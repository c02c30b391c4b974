#include "backend/cpu/run/transfer.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/run/cpu_domain.h"
#include "backend/cpu/run/guarded_call.h"
#include "base/format.h"

namespace cupola::cpu {
namespace {

// A piece is worth a worker's wake-up.
constexpr uint64_t kPieceBytes = 4 << 20;
constexpr uint64_t kSmallBytes = 64 << 10, kSmallRows = 4096;

template <typename T = std::byte>
T* at(hal::Address address) {
  return reinterpret_cast<T*>(address);
}

void run_rows(const hal::Copy& copy, uint64_t begin, uint64_t end) {
  for (uint64_t row = begin; row < end; ++row) {
    const uint64_t slice = row / copy.height, line = row % copy.height;
    std::memcpy(at(copy.destination + slice * copy.destination_slice + line * copy.destination_pitch),
                at(copy.source + slice * copy.source_slice + line * copy.source_pitch), copy.width);
  }
}

void run_rows(const hal::Fill& fill, uint64_t begin, uint64_t end) {
  for (uint64_t row = begin; row < end; ++row) {
    const hal::Address line = fill.destination + row * fill.pitch;
    if (fill.value_bytes == 1)
      std::memset(at(line), static_cast<int>(fill.value), fill.width);
    else if (fill.value_bytes == 2)
      std::fill_n(at<uint16_t>(line), fill.width, static_cast<uint16_t>(fill.value));
    else
      std::fill_n(at<uint32_t>(line), fill.width, fill.value);
  }
}

/// A single row, cut into rows of a piece each, as long as it is contiguous.
hal::Copy cut(hal::Copy copy, uint64_t width) {
  copy.height = copy.width / width;
  copy.width = copy.source_pitch = copy.destination_pitch = width;
  return copy;
}

hal::Fill cut(hal::Fill fill, uint64_t width) {
  fill.height = fill.width / width;
  fill.width = width;
  fill.pitch = width * fill.value_bytes;
  return fill;
}

hal::Copy advance(hal::Copy copy, uint64_t elements) {
  copy.destination += elements;
  copy.source += elements;
  copy.width -= elements;
  return copy;
}

hal::Fill advance(hal::Fill fill, uint64_t elements) {
  fill.destination += elements * fill.value_bytes;
  fill.width -= elements;
  return fill;
}

uint64_t rows_of(const hal::Copy& copy) {
  return copy.height * copy.depth;
}
uint64_t rows_of(const hal::Fill& fill) {
  return fill.height;
}
uint64_t element_bytes(const hal::Copy&) {
  return 1;
}
uint64_t element_bytes(const hal::Fill& fill) {
  return fill.value_bytes;
}

std::string text_of(const hal::Copy& copy) {
  return formatted("copy of {} bytes from {:#x} to {:#x}", copy.width * rows_of(copy), copy.source, copy.destination);
}
std::string text_of(const hal::Fill& fill) {
  return formatted("fill of {} bytes at {:#x}", fill.width * fill.value_bytes * fill.height, fill.destination);
}

template <typename Command>
uint64_t bytes_of(const Command& command) {
  return command.width * element_bytes(command) * rows_of(command);
}

template <typename Command>
void record(const Command& command, const Error& error, CpuDomain& domain) {
  domain.faults.record({error.code, formatted("{}: {}", text_of(command), error.message)});
}

template <typename Command>
void run_here(const Command& command, CpuDomain& domain) {
  if (bytes_of(command) == 0) return;
  const auto run_all = [](void* argument) {
    const auto& whole = *static_cast<const Command*>(argument);
    run_rows(whole, 0, rows_of(whole));
  };
  Command whole = command;
  if (const Result<> result = call_guarded(run_all, &whole); !result) record(command, result.error(), domain);
}

}  // namespace

bool is_small(const hal::Copy& copy) {
  return bytes_of(copy) <= kSmallBytes && rows_of(copy) <= kSmallRows;
}
bool is_small(const hal::Fill& fill) {
  return bytes_of(fill) <= kSmallBytes && rows_of(fill) <= kSmallRows;
}

void transfer_here(const hal::Copy& copy, CpuDomain& domain) {
  run_here(copy, domain);
}
void transfer_here(const hal::Fill& fill, CpuDomain& domain) {
  run_here(fill, domain);
}

template <typename Command>
TransferPlan<Command>::TransferPlan(const Command& command) : rows(command), rest(command) {
  const uint64_t row_bytes = command.width * element_bytes(command);
  rest.width = 0;
  uint64_t count = rows_of(command);
  if (count == 0 || row_bytes == 0) return;
  if (count == 1 && row_bytes > 2 * kPieceBytes) {
    const uint64_t piece = kPieceBytes / element_bytes(command);
    count = command.width / piece;
    rest = advance(command, count * piece);
    rows = cut(command, piece);
  } else {
    rows_per_item = std::max<uint64_t>(1, kPieceBytes / row_bytes);
  }
  row_items = (count + rows_per_item - 1) / rows_per_item;
}

template <typename Command>
struct Transfer<Command>::Piece {
  const TransferPlan<Command>& plan;
  uint64_t item;
};

template <typename Command>
Transfer<Command>::Transfer(const Command& whole, CpuDomain& domain, Owner& owner)
    : Transfer(whole, TransferPlan<Command>(whole), domain, owner) {}

template <typename Command>
Transfer<Command>::Transfer(const Command& whole, const TransferPlan<Command>& plan, CpuDomain& domain, Owner& owner)
    : Work(plan.items(), domain, owner), whole_(whole), plan_(plan) {}

template <typename Command>
Work::Ran Transfer<Command>::run(Worker&, uint64_t first, uint64_t) {
  Piece piece{plan_, first};
  if (const Result<> result = call_guarded(&run_piece, &piece); !result) record(whole_, result.error(), domain());
  return {1, 1};
}

template <typename Command>
void Transfer<Command>::run_piece(void* argument) {
  const auto& piece = *static_cast<const Piece*>(argument);
  const TransferPlan<Command>& plan = piece.plan;
  if (piece.item == plan.row_items) return run_rows(plan.rest, 0, 1);
  const uint64_t begin = piece.item * plan.rows_per_item;
  run_rows(plan.rows, begin, std::min(begin + plan.rows_per_item, rows_of(plan.rows)));
}

template class Transfer<hal::Copy>;
template class Transfer<hal::Fill>;

}  // namespace cupola::cpu
