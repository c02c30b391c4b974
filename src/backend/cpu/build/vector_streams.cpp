#include "backend/cpu/build/vector_streams.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <cstdlib>

#include "backend/cpu/build/stream_habits.h"
#include "backend/cpu/build/vector_shapes.h"
#include "backend/cpu/build/vector_steps.h"
#include "backend/cpu/build/vector_turns.h"

namespace cupola::cpu::build {
namespace {

using llvm::SCEV;

/// Of blocks of narrow rows, a line of each, into the second cache: the first takes them from there in time.
/// With 1 KiB and 4 KiB the same.
constexpr StreamHabits::Ahead kAheadOfNarrow = {2048, Level::Second};
/// Of a tile, for each thread; the turn that finds that the loop is over counts too.
constexpr uint64_t kMostPieces = 16;
/// From block to block, in bytes: with more the next block's lies elsewhere.
constexpr uint64_t kMostStep = 4096;
/// From thread to thread, where a block's width is not known.
constexpr uint64_t kMostOfThread = 16;

/// What a value is in the first thread of the first block.
class OfFirstThread : public llvm::SCEVRewriteVisitor<OfFirstThread> {
 public:
  using SCEVRewriteVisitor::SCEVRewriteVisitor;

  const SCEV* visitUnknown(const llvm::SCEVUnknown* value) {
    using enum kir::Intrinsic;
    constexpr kir::Intrinsic kPlaces[] = {TidX, TidY, TidZ, CtaidX, CtaidY, CtaidZ};
    const auto known = register_of(value);
    return known && llvm::is_contained(kPlaces, *known) ? SE.getZero(value->getType()) : value;
  }
};

class Streams {
 public:
  /// `meets`: threads of a block wait for each other, each for what all read.
  Streams(llvm::ScalarEvolution& evolution, bool meets) : evolution_(evolution), meets_(meets) {}

  /// `loop`: in which it is read; null: in none. Those in none come first.
  void add(llvm::LoadInst& load, const llvm::Loop* loop) {
    if (loop && !(meets_ && is_short(*loop))) return;
    const SCEV* address = evolution_.getSCEV(load.getPointerOperand());
    const SCEV* base = evolution_.getPointerBase(address);
    for (Stream& other : streams_) {
      if (other.base != base) continue;
      if (loop) return;
      if (!is_beside(address, other.address)) other.is_alone = false;
      return;
    }
    const SCEV* step = Steps(evolution_, kir::Intrinsic::CtaidX).of(address);
    const bool goes = step && goes_on(step);
    streams_.push_back({&load, address, base, goes && !loop, goes && meets_ && is_narrow(step)});
  }

  Fetches fetch(const StreamHabits& habits) const {
    Fetches fetches;
    for (const Stream& stream : streams_) {
      std::optional<StreamHabits::Ahead> ahead;
      if (stream.is_alone) ahead = habits.ahead;
      if (!ahead && stream.is_narrow) ahead = kAheadOfNarrow;
      if (!ahead) continue;
      llvm::IRBuilder<> builder(stream.load);
      llvm::Value* place =
          builder.CreateConstGEP1_64(builder.getInt8Ty(), stream.load->getPointerOperand(), ahead->bytes);
      fetches.push_back(fetch_line(builder, place, ahead->level));
    }
    return fetches;
  }

 private:
  struct Stream {
    llvm::LoadInst* load;
    const SCEV *address, *base;
    bool is_alone;   ///< it goes on, and nothing else is read of its array: rows of which the cache has all but one
    bool is_narrow;  ///< it goes on, a line or less in each block: rows that no processor notices, though all are read
  };

  /// All loops around what is read in it are of few turns: a tile that is somewhat larger than the block.
  bool is_short(const llvm::Loop& loop) const {
    uint64_t turns = 1;
    for (const llvm::Loop* each = &loop; each; each = each->getParentLoop()) {
      const auto* again =
          llvm::dyn_cast<llvm::SCEVConstant>(OfFirstThread(evolution_).visit(evolution_.getBackedgeTakenCount(each)));
      if (!again || again->getAPInt().uge(kMostPieces)) return false;
      turns *= again->getAPInt().getZExtValue() + 1;
    }
    return turns <= kMostPieces;
  }

  /// Whether a step is what a block is wide, as far as that is known.
  static bool goes_on(const SCEV* step) {
    if (const auto* known = llvm::dyn_cast<llvm::SCEVConstant>(step))
      return known->getAPInt().isStrictlyPositive() && known->getAPInt().ule(kMostStep);
    const auto* product = llvm::dyn_cast<llvm::SCEVMulExpr>(step);
    if (!product || product->getNumOperands() != 2) return false;
    const auto* of_thread = llvm::dyn_cast<llvm::SCEVConstant>(product->getOperand(0));
    if (!of_thread || !of_thread->getAPInt().isStrictlyPositive() || of_thread->getAPInt().ugt(kMostOfThread))
      return false;
    const SCEV* factor = product->getOperand(1);
    if (const auto* cast = llvm::dyn_cast<llvm::SCEVIntegralCastExpr>(factor)) factor = cast->getOperand();
    return register_of(factor) == kir::Intrinsic::NtidX;
  }

  static bool is_narrow(const SCEV* step) {
    const auto* known = llvm::dyn_cast<llvm::SCEVConstant>(step);
    return known && known->getAPInt().ule(kLine);
  }

  /// Whether it is in the same lines.
  bool is_beside(const SCEV* address, const SCEV* other) const {
    const auto* apart = llvm::dyn_cast<llvm::SCEVConstant>(evolution_.getMinusSCEV(address, other));
    return apart && apart->getAPInt().abs().ult(kLine);
  }

  llvm::ScalarEvolution& evolution_;
  const bool meets_;
  llvm::SmallVector<Stream, 8> streams_;
};

}  // namespace

Fetches fetch_ahead_in_streams(llvm::Function& function, Evolution& evolution, const llvm::LoopInfo& loops,
                               const StreamHabits& habits) {
  Streams streams(*evolution, meets(function));
  for (const bool in_loops : {false, true})
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
        if (const llvm::Loop* loop = loops.getLoopFor(load->getParent()); (loop != nullptr) == in_loops)
          streams.add(*load, loop);
  return streams.fetch(habits);
}

bool reads_of_others(llvm::Function& function, Evolution& evolution, const Shapes& shapes) {
  struct Read {
    const SCEV *address, *base;
    uint64_t stride;  ///< from thread to thread
  };
  llvm::ScalarEvolution& scalars = *evolution;
  llvm::SmallVector<Read, 8> reads;
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load) continue;
    const SCEV* address = scalars.getSCEV(load->getPointerOperand());
    const int64_t stride = shapes.at(load->getPointerOperand(), load->getParent()).stride;
    const Read read{address, scalars.getPointerBase(address), static_cast<uint64_t>(std::abs(stride))};
    for (const Read& other : reads) {
      if (other.base != read.base) continue;
      const auto* apart = llvm::dyn_cast<llvm::SCEVConstant>(scalars.getMinusSCEV(address, other.address));
      if (!apart || (!apart->isZero() && apart->getAPInt().abs().uge(read.stride))) return true;
    }
    reads.push_back(read);
  }
  return false;
}

}  // namespace cupola::cpu::build
