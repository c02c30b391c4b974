#include "backend/cpu/run/transfer.h"

#include <algorithm>
#include <cstring>

#include "backend/cpu/run/cpu_domain.h"
#include "backend/cpu/run/worker.h"
#include "base/format.h"

namespace cupola::cpu {
namespace {

// A piece is worth a worker's wake-up.
constexpr uint64_t kPieceBytes = 4 << 20;

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

/// Rows in pieces of whole rows, and for a single long row a remainder as the last item.
template <typename Command>
class Transfer final : public Work {
 public:
  struct Plan {
    Command rows;
    Command rest;  ///< its width may be 0
    uint64_t rows_per_item = 1;
    uint64_t row_items = 0;
  };

  static Plan plan(const Command& command) {
    const uint64_t row_bytes = command.width * element_bytes(command);
    Plan result{command, command, 1, 0};
    result.rest.width = 0;
    uint64_t rows = rows_of(command);
    if (rows == 0 || row_bytes == 0) return result;
    if (rows == 1 && row_bytes > 2 * kPieceBytes) {
      const uint64_t piece = kPieceBytes / element_bytes(command);
      rows = command.width / piece;
      result.rest = advance(command, rows * piece);
      result.rows = cut(command, piece);
    } else {
      result.rows_per_item = std::max<uint64_t>(1, kPieceBytes / row_bytes);
    }
    result.row_items = (rows + result.rows_per_item - 1) / result.rows_per_item;
    return result;
  }

  Transfer(Command whole, Plan plan, std::shared_ptr<CpuDomain> domain, std::function<void()> done)
      : Work(plan.row_items + (plan.rest.width != 0), std::move(domain), std::move(done)), whole_(whole), plan_(plan) {}

  bool run(Worker& worker, const std::shared_ptr<Work>&, uint64_t item) override {
    Piece piece{this, item};
    const Result<> result = worker.run_guarded(&run_piece, &piece);
    if (!result)
      domain().faults.record({result.error().code, formatted("{}: {}", text_of(whole_), result.error().message)});
    return true;
  }

 private:
  struct Piece {
    Transfer* transfer;
    uint64_t item;
  };

  static void run_piece(void* argument) {
    const auto* piece = static_cast<const Piece*>(argument);
    const Plan& plan = piece->transfer->plan_;
    if (piece->item == plan.row_items) return run_rows(plan.rest, 0, 1);
    const uint64_t begin = piece->item * plan.rows_per_item;
    run_rows(plan.rows, begin, std::min(begin + plan.rows_per_item, rows_of(plan.rows)));
  }

  const Command whole_;
  const Plan plan_;
};

template <typename Command>
std::shared_ptr<Work> make(const Command& command, std::shared_ptr<CpuDomain> domain, std::function<void()> done) {
  return std::make_shared<Transfer<Command>>(command, Transfer<Command>::plan(command), std::move(domain),
                                             std::move(done));
}

}  // namespace

std::shared_ptr<Work> make_transfer(const hal::Copy& copy, std::shared_ptr<CpuDomain> domain,
                                    std::function<void()> done) {
  return make(copy, std::move(domain), std::move(done));
}
std::shared_ptr<Work> make_transfer(const hal::Fill& fill, std::shared_ptr<CpuDomain> domain,
                                    std::function<void()> done) {
  return make(fill, std::move(domain), std::move(done));
}

}  // namespace cupola::cpu
