#include "backend/cpu/build/stored_rows.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/AliasAnalysis.h>
#include <llvm/Analysis/MemoryLocation.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>

#include <optional>
#include <utility>

#include "backend/cpu/build/vector_prefetch.h"

namespace cupola::cpu::build {
namespace {

using llvm::Value;

/// Numbers of one type beside each other in memory.
struct Row {
  Value* base;
  int64_t offset;  ///< from `base`, in bytes
  llvm::Type* element;
  unsigned count;
};

/// Nothing for what is no row of whole bytes.
std::optional<Row> row_at(Value* address, llvm::Type* type, const llvm::DataLayout& layout) {
  const auto* rows = llvm::dyn_cast<llvm::FixedVectorType>(type);
  if (!rows || rows->getElementType()->isPointerTy() || rows->getScalarSizeInBits() % 8 != 0) return std::nullopt;
  llvm::APInt offset(layout.getIndexTypeSizeInBits(address->getType()), 0);
  Value* base = address->stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  return Row{base, offset.getSExtValue(), rows->getElementType(), rows->getNumElements()};
}

/// Reads a row, or the lanes of it that a known mask has.
struct Read {
  llvm::Instruction* instruction;
  Row row;
  llvm::Constant* mask;  ///< null: all
  Value* others;         ///< what it has of lanes that are not read
  bool reads(unsigned lane) const { return !mask || mask->getAggregateElement(lane)->isOneValue(); }
};

bool is_known(const llvm::Constant& mask, unsigned lanes) {
  for (unsigned i = 0; i < lanes; ++i)
    if (!llvm::isa_and_nonnull<llvm::ConstantInt>(mask.getAggregateElement(i))) return false;
  return true;
}

std::optional<Read> read_of(llvm::Instruction& instruction, const llvm::DataLayout& layout) {
  if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    const auto row = load->isSimple() ? row_at(load->getPointerOperand(), load->getType(), layout) : std::nullopt;
    return row ? std::optional(Read{load, *row, nullptr, nullptr}) : std::nullopt;
  }
  auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call || call->getIntrinsicID() != llvm::Intrinsic::masked_load) return std::nullopt;
  auto* mask = llvm::dyn_cast<llvm::Constant>(call->getArgOperand(1));
  const auto row = mask ? row_at(call->getArgOperand(0), call->getType(), layout) : std::nullopt;
  if (!row || !is_known(*mask, row->count)) return std::nullopt;
  return Read{call, *row, mask, call->getArgOperand(2)};
}

/// What code has stored on all ways to a place, and is still there.
class StoredRows {
 public:
  StoredRows(llvm::BatchAAResults& aliases, const llvm::DataLayout& layout) : aliases_(aliases), layout_(layout) {}

  /// Ahead of the block, of those that come before it all must have been gone through.
  void begin(const llvm::BasicBlock& block) {
    rows_.clear();
    bool is_first = true;
    for (const llvm::BasicBlock* before : llvm::predecessors(&block)) {
      const auto known = at_ends_.find(before);
      if (known == at_ends_.end()) return rows_.clear();  // the turn of a loop
      if (std::exchange(is_first, false))
        rows_ = known->second;
      else
        llvm::erase_if(rows_, [&](const Stored& one) {
          return llvm::none_of(known->second, [&](const Stored& other) { return one.store == other.store; });
        });
    }
  }
  void end(const llvm::BasicBlock& block) { at_ends_[&block] = rows_; }

  void note(llvm::Instruction& instruction) {
    if (!instruction.mayWriteToMemory() || is_fetch(instruction)) return;
    auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
    const auto row = store && store->isSimple()
                         ? row_at(store->getPointerOperand(), store->getValueOperand()->getType(), layout_)
                         : std::nullopt;
    llvm::erase_if(rows_, [&](const Stored& known) {
      if (row && row->base == known.row.base)
        return begin_of(*row) < end_of(known.row) && begin_of(known.row) < end_of(*row);
      return llvm::isModSet(aliases_.getModRefInfo(&instruction, llvm::MemoryLocation::get(known.store)));
    });
    if (row) rows_.push_back({*row, store});
    if (rows_.size() > kMost) rows_.erase(rows_.begin());
  }

  /// Null: some of it was not stored here, or in more than two rows.
  Value* take(const Read& read) const {
    const unsigned count = read.row.count;
    const int64_t bytes = layout_.getTypeStoreSize(read.row.element);
    const Stored* from[2] = {};
    llvm::SmallVector<int, 32> lanes(count, llvm::PoisonMaskElem);
    for (unsigned i = 0; i < count; ++i) {
      if (!read.reads(i)) continue;
      const int64_t begin = read.row.offset + i * bytes;
      const Stored* known = stored(read.row, begin);
      if (!known) return nullptr;
      const unsigned which = !from[0] || from[0] == known ? 0 : 1;
      if (which == 1 && from[1] && from[1] != known) return nullptr;
      if (which == 1 && from[0]->row.count != known->row.count) return nullptr;
      from[which] = known;
      lanes[i] = static_cast<int>((begin - known->row.offset) / bytes + which * known->row.count);
    }
    if (!from[0]) return nullptr;
    llvm::IRBuilder<> builder(read.instruction);
    Value* first = from[0]->store->getValueOperand();
    Value* second = from[1] ? from[1]->store->getValueOperand() : llvm::PoisonValue::get(first->getType());
    Value* taken = builder.CreateShuffleVector(first, second, lanes);
    if (!read.mask || llvm::isa<llvm::PoisonValue>(read.others)) return taken;
    return builder.CreateSelect(read.mask, taken, read.others);
  }

 private:
  static constexpr size_t kMost = 64;  ///< that are known at a time

  struct Stored {
    Row row;
    llvm::StoreInst* store;
  };

  int64_t begin_of(const Row& row) const { return row.offset; }
  int64_t end_of(const Row& row) const {
    return row.offset + row.count * static_cast<int64_t>(layout_.getTypeStoreSize(row.element));
  }

  /// The row in which the number lies that begins there; null: there is none.
  const Stored* stored(const Row& row, int64_t begin) const {
    const int64_t bytes = layout_.getTypeStoreSize(row.element);
    const auto* found = llvm::find_if(rows_, [&](const Stored& known) {
      return known.row.base == row.base && known.row.element == row.element && begin >= begin_of(known.row) &&
             begin + bytes <= end_of(known.row) && (begin - known.row.offset) % bytes == 0;
    });
    return found == rows_.end() ? nullptr : found;
  }

  llvm::BatchAAResults& aliases_;
  const llvm::DataLayout& layout_;
  llvm::SmallVector<Stored, 16> rows_;  ///< none overlaps another of its base
  llvm::DenseMap<const llvm::BasicBlock*, llvm::SmallVector<Stored, 16>> at_ends_;
};

}  // namespace

llvm::PreservedAnalyses TakeStoredRows::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  const llvm::DataLayout& layout = function.getDataLayout();
  llvm::BatchAAResults aliases(analyses.getResult<llvm::AAManager>(function));
  StoredRows stored(aliases, layout);
  bool changed = false;
  const llvm::ReversePostOrderTraversal<llvm::Function*> order(&function);
  for (llvm::BasicBlock* block : order) {
    stored.begin(*block);
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(*block)) {
      const std::optional<Read> read = read_of(instruction, layout);
      Value* taken = read ? stored.take(*read) : nullptr;
      if (!taken) {
        stored.note(instruction);
        continue;
      }
      instruction.replaceAllUsesWith(taken);
      instruction.eraseFromParent();
      changed = true;
    }
    stored.end(*block);
  }
  return changed ? llvm::PreservedAnalyses::allInSet<llvm::CFGAnalyses>() : llvm::PreservedAnalyses::all();
}

}  // namespace cupola::cpu::build
