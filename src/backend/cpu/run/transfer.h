#pragma once

#include "backend/cpu/run/work.h"
#include "hal/command.h"

namespace cupola::cpu {

/// Whether a copy or fill is done sooner than a worker is woken for it.
bool is_small(const hal::Copy& copy);
bool is_small(const hal::Fill& fill);

/// Does it on this thread; a fault becomes the domain's.
void transfer_here(const hal::Copy& copy, CpuDomain& domain);
void transfer_here(const hal::Fill& fill, CpuDomain& domain);

/// Rows in pieces of whole rows, and for a single long row a remainder as the last item.
template <typename Command>
struct TransferPlan {
  explicit TransferPlan(const Command& command);
  uint64_t items() const { return row_items + (rest.width != 0); }

  Command rows;
  Command rest;  ///< its width may be 0
  uint64_t rows_per_item = 1;
  uint64_t row_items = 0;
};

/// A copy or fill in progress. Large ones are cut into pieces, the items, for several workers.
template <typename Command>
class Transfer final : public Work {
 public:
  /// `whole` has bytes and stays where it is until the work is done.
  Transfer(const Command& whole, CpuDomain& domain, Owner& owner);

  Ran run(Worker& worker, uint64_t first, uint64_t most) override;

 private:
  struct Piece;
  Transfer(const Command& whole, const TransferPlan<Command>& plan, CpuDomain& domain, Owner& owner);
  static void run_piece(void* piece);

  const Command& whole_;
  const TransferPlan<Command> plan_;
};

extern template class Transfer<hal::Copy>;
extern template class Transfer<hal::Fill>;

}  // namespace cupola::cpu
