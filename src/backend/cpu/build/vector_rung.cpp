#include "backend/cpu/build/vector_rung.h"

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <cstdlib>

#include "backend/cpu/build/context_parameter.h"
#include "backend/cpu/build/few_turns.h"
#include "backend/cpu/build/grid_turns.h"
#include "backend/cpu/build/inner_blocks.h"
#include "backend/cpu/build/interleaved_fields.h"
#include "backend/cpu/build/intrinsics.h"
#include "backend/cpu/build/kept_columns.h"
#include "backend/cpu/build/lone_lanes.h"
#include "backend/cpu/build/lone_loops.h"
#include "backend/cpu/build/lone_threads.h"
#include "backend/cpu/build/output_turns.h"
#include "backend/cpu/build/peer_stores.h"
#include "backend/cpu/build/row_turns.h"
#include "backend/cpu/build/rows_behind.h"
#include "backend/cpu/build/rows_in_step.h"
#include "backend/cpu/build/stream_habits.h"
#include "backend/cpu/build/structures_in_turn.h"
#include "backend/cpu/build/turn_vectors.h"
#include "backend/cpu/build/turned_stores.h"
#include "backend/cpu/build/vector_convergence.h"
#include "backend/cpu/build/vector_departures.h"
#include "backend/cpu/build/vector_groups.h"
#include "backend/cpu/build/vector_next_block.h"
#include "backend/cpu/build/vector_next_turn.h"
#include "backend/cpu/build/vector_prefetch.h"
#include "backend/cpu/build/vector_prepare.h"
#include "backend/cpu/build/vector_report.h"
#include "backend/cpu/build/vector_shapes.h"
#include "backend/cpu/build/vector_steps.h"
#include "backend/cpu/build/vector_streams.h"
#include "backend/cpu/build/vector_turns.h"
#include "backend/cpu/build/vector_widening.h"
#include "image/cpu_abi.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

/// Of a warp's local window, which is the stack; the rest is for what the code spills and calls.
constexpr uint64_t kMostFrame = image::cpu::kLocalWindow / 4 * 3;

/// That are fetched ahead where threads meet: in one turn's time not all of the next one's lines come. Of far turns
/// several are taken together, and the next ones' time is enough.
constexpr uint32_t kTurnsAhead = 2;

std::unexpected<Error> refuse(const std::string& why) {
  return fail(ErrorCode::NotSupported, "{}", why);
}

/// A function that lives as long as this, unless it is kept.
class Draft {
 public:
  explicit Draft(llvm::Function* function) : function_(function) {}
  ~Draft() {
    if (function_) function_->eraseFromParent();
  }
  Draft(const Draft&) = delete;
  Draft& operator=(const Draft&) = delete;

  llvm::Function& operator*() const { return *function_; }
  llvm::Function* keep() { return std::exchange(function_, nullptr); }

 private:
  llvm::Function* function_;
};

/// Their functions live as long as this, unless they are kept.
class Counts {
 public:
  using All = llvm::SmallVector<OutputTurns, 2>;

  explicit Counts(All all) : all_(std::move(all)) {}
  ~Counts() {
    for (const OutputTurns& each : all_) each.counts->eraseFromParent();
  }
  Counts(const Counts&) = delete;
  Counts& operator=(const Counts&) = delete;

  All keep() { return std::exchange(all_, {}); }

 private:
  All all_;
};

llvm::Function* copy_of(llvm::Function& function) {
  llvm::ValueToValueMapTy map;
  return llvm::CloneFunction(&function, map);
}

/// Local arrays of all lanes, and the places for operands of what is done lane by lane.
uint64_t frame_bytes(const llvm::Function& function) {
  uint64_t bytes = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(function))
    if (const auto* place = llvm::dyn_cast<llvm::AllocaInst>(&instruction))
      bytes += place->getAllocationSize(function.getDataLayout())->getFixedValue();
  return bytes;
}

/// How many threads there are in the direction that the register tells of; nothing: it is no thread's place.
std::optional<uint32_t> threads_along(kir::Intrinsic known, const Dim3& shape) {
  using enum kir::Intrinsic;
  if (known == TidX) return shape.x;
  if (known == TidY) return shape.y;
  if (known == TidZ) return shape.z;
  return std::nullopt;
}

/// What a register of the block's shape has in blocks of that shape; nothing where that is not known.
std::optional<uint32_t> known_size(kir::Intrinsic known, const Dim3& shape) {
  using enum kir::Intrinsic;
  if (known == NtidX) return shape.x;
  if (known == NtidY) return shape.y;
  if (known == NtidZ) return shape.z;
  return threads_along(known, shape) == 1 ? std::optional(0u) : std::nullopt;
}

/// The same in all blocks of the class.
std::optional<uint32_t> known_size(kir::Intrinsic known, BlockClass blocks) {
  using enum kir::Intrinsic;
  if (known == NtidX && segment_lanes(blocks) != kLanes) return segment_lanes(blocks);
  if (blocks != BlockClass::Line) return std::nullopt;
  if (known == NtidY || known == NtidZ) return 1;
  if (known == TidY || known == TidZ) return 0;
  return std::nullopt;
}

/// `blocks`: a shape, or a class.
template <typename Blocks>
void set_known_sizes(llvm::Function& function, const Blocks& blocks) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
    const auto known = kir::intrinsic_of(instruction);
    const auto size = known ? known_size(*known, blocks) : std::nullopt;
    if (!size) continue;
    instruction.replaceAllUsesWith(llvm::ConstantInt::get(instruction.getType(), *size));
    instruction.eraseFromParent();
  }
}

void set_known_ranges(llvm::Function& function, const Dim3& shape) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    const auto known = kir::intrinsic_of(instruction);
    const auto threads = known ? threads_along(*known, shape) : std::nullopt;
    if (threads)
      llvm::cast<llvm::CallInst>(instruction)
          .addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, *threads)));
  }
}

/// From lane to lane, in bytes: with more a line is a few lanes' at most.
constexpr int64_t kMostOfRow = 16;

/// Whether lanes read and write the same place, or places near each other in the order of lanes.
bool has_rows_only(llvm::Function& function, const Shapes& shapes) {
  return llvm::all_of(llvm::instructions(function), [&](const llvm::Instruction& instruction) {
    const llvm::Value* address = llvm::getLoadStorePointerOperand(&instruction);
    if (!address)
      return !instruction.mayReadOrWriteMemory() || kir::intrinsic_of(instruction).has_value() || is_fetch(instruction);
    const Shape shape = shapes.at(address, instruction.getParent());
    return shape.is_flat() || (shape.has_steps() && std::abs(shape.stride) <= kMostOfRow);
  });
}

/// Of such blocks, or where their shape says nothing of lanes beside each other, as if they lay in rows: most do.
bool is_faster_alone(llvm::Function& draft, BlockClass blocks, const Shapes& shapes, const llvm::LoopInfo& loops,
                     const llvm::PostDominatorTree& post_dominators) {
  if (blocks != BlockClass::Any) return is_faster_alone(draft, shapes, loops);
  return is_faster_alone(draft, Shapes(draft, BlockClass::Rows, loops, post_dominators), loops);
}

/// Whether lanes may read what others of their warp wrote before: in step nothing is to be done for it.
bool hands_on_within_warps(llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    return kir::intrinsic_of(instruction) == kir::Intrinsic::WarpSync;
  });
}

/// LLVM would take wide addresses made of an argument for others than the argument's, and what is promised of one
/// thread's for a promise of all threads'.
void forget_noalias(llvm::Function& function) {
  for (unsigned i = 0; i < function.arg_size(); ++i) function.removeParamAttr(i, llvm::Attribute::NoAlias);
}

llvm::Function* code_for_one(llvm::Function& prepared, const std::string& name) {
  llvm::Function* made = copy_of(prepared);
  made->setName(name);
  made->setLinkage(llvm::GlobalValue::InternalLinkage);
  forget_noalias(*made);
  fetch_rows_behind(*made);
  return made;
}

Result<WideBody> widen_for(llvm::Function& prepared, const image::BlocksOfCode& code, const std::string& name,
                           const kir::CallReach& reach, const llvm::TargetMachine& machine, std::string* report) {
  const BlockClass blocks = code.blocks;
  LoneLoops lone_loops;  // outlives what calls them
  const Draft draft(copy_of(prepared));
  set_known_sizes(*draft, blocks);
  if (!may_run_alone(prepared, reach)) lone_loops.take_out(*draft, blocks);
  const bool leaves_vectors = !code.hot && llvm::any_of(lone_loops.functions(), [](llvm::Function* loop) {
    return may_take_turns_in_vectors(*loop);
  });
  if (code.hot)
    for (llvm::Function* loop : lone_loops.functions()) take_turns_in_vectors(*loop, machine);
  store_with_peers(*draft, blocks);
  const bool is_hot = code.hot && code.shape;
  llvm::StoreInst* column = is_hot && blocks == BlockClass::Rows ? store_down_a_column(*draft, *code.shape) : nullptr;
  const Exits exits = separate_exits(*draft, blocks);
  const bool in_order = is_hot && meet_between_rows(*draft, reach, *code.shape);
  const StreamHabits& habits = stream_habits(machine);
  const bool in_grid_turns = is_hot && meet_in_grid_turns(*draft, reach, *code.shape, habits.rows_of_grid);
  if (llvm::Function* write = column ? keep_column(*column, *code.shape) : nullptr) lone_loops.add(*write);
  llvm::DominatorTree dominators(*draft);
  const llvm::PostDominatorTree post_dominators(*draft);
  llvm::LoopInfo loops(dominators);
  if (const std::string why = obstacle(*draft, loops, post_dominators); !why.empty()) return refuse(why);
  Evolution evolution(*draft, loops, dominators);
  const FarTurns turns = in_grid_turns ? FarTurns{} : mark_far_turns(evolution, loops, dominators);
  const bool writes_far =
      writes_far_where_it_meets(evolution, loops) || writes_rows_far_apart(*draft, evolution, loops);
  Counts output_turns(turns_of_outputs(evolution, loops));
  Fetches fetches;
  if (!in_order || habits.fetches_next_in_order) fetches = fetch_for_next_block(*draft, evolution, loops, in_order);
  add_fetches(fetches, fetch_ahead_in_streams(*draft, evolution, loops, habits));
  if (!in_grid_turns || habits.fetches_next_of_grid)
    fetches.append(fetch_next_turns(evolution, loops, in_grid_turns ? 1 : kTurnsAhead));
  fetches.append(fetch_rows_behind(evolution, loops));
  const Shapes shapes(*draft, blocks, loops, post_dominators);
  const bool of_others = habits.every_second_block && loops.empty() && reads_of_others(*draft, evolution, shapes);
  const bool leaves_turns = keep_turns_of_rows(turns, shapes, /*to_the_end=*/!code.hot) && !code.hot;
  keep_fetches_of_rows(fetches, shapes);
  if (!loops.empty() && may_run_alone(prepared, reach) &&
      is_faster_alone(*draft, blocks, shapes, loops, post_dominators)) {
    llvm::Function* alone = code_for_one(prepared, name);
    const bool has_vectors = may_take_turns_in_vectors(*alone);
    if (code.hot) take_turns_in_vectors(*alone, machine);
    return WideBody{.code = alone, .blocks = blocks, .is_alone = true, .leaves_out = has_vectors && !code.hot};
  }
  const Departures departures(*draft, shapes, loops, Companions(loops, dominators, post_dominators), exits);
  if (const std::string why = convergence_obstacle(*draft, shapes, loops, post_dominators, departures, reach);
      !why.empty())
    return refuse(why);
  Draft whole(llvm::Function::Create(prepared.getFunctionType(), llvm::GlobalValue::InternalLinkage, name,
                                     prepared.getParent()));
  (*whole).setAttributes(prepared.getAttributes());
  forget_noalias(*whole);
  // They are read in the launch's parameter block: never undefined.
  for (unsigned i = 0; i < (*whole).arg_size(); ++i) (*whole).addParamAttr(i, llvm::Attribute::NoUndef);
  (*whole).setSubprogram((*draft).getSubprogram());
  (*draft).setSubprogram(nullptr);
  const Groups groups(*draft, shapes, dominators);
  const Accesses accesses = widen(*draft, *whole, code, shapes, groups, departures, loops, exits, machine);
  lone_loops.put_back(*whole);
  keep_fields_interleaved(*whole);
  if (habits.structures_in_turn && !hands_on_within_warps(*draft)) take_structures_in_turn(*whole);
  if (frame_bytes(*whole) > kMostFrame) return refuse("what it does lane by lane needs too large a stack");
  if (report) *report = report_accesses(*draft, blocks, shapes, groups, loops, accesses);
  const bool is_rows_only = loops.empty() && has_rows_only(*draft, shapes);
  const bool leaves_runs =
      !code.hot && llvm::any_of(accesses, [](const auto& one) { return one.second == Access::FoundRuns; });
  return WideBody{.code = whole.keep(),
                  .blocks = blocks,
                  .is_rows_only = is_rows_only,
                  .reads_of_others = of_others,
                  .leaves_out = leaves_runs || leaves_turns || leaves_vectors,
                  .writes_far = writes_far,
                  .meets_in_grid_turns = in_grid_turns,
                  .output_turns = output_turns.keep()};
}

/// Whether threads ask for more than threadIdx.x: rows of 16 and of 8 are for kernels of several dimensions.
bool has_rows(llvm::Function& prepared) {
  return llvm::any_of(llvm::instructions(prepared), [](const llvm::Instruction& instruction) {
    const auto known = kir::intrinsic_of(instruction);
    return known == kir::Intrinsic::TidY || known == kir::Intrinsic::TidZ;
  });
}

const char* prefix_of(BlockClass blocks) {
  switch (blocks) {
    case BlockClass::Rows:
      return "warp.";
    case BlockClass::Rows16:
      return "rows16.";
    case BlockClass::Rows8:
      return "rows8.";
    case BlockClass::Line:
      return "line.";
    case BlockClass::Any:
    case BlockClass::One:
      return "lanes.";
  }
}

/// For all classes, or for one.
using Wanted = std::optional<BlockClass>;

class Rung {
 public:
  Rung(const KernelBody& kernel, uint64_t constant_bytes, const kir::CallReach& reach,
       const llvm::TargetMachine& machine, bool is_hot, std::string* report)
      : kernel_(kernel),
        constant_bytes_(constant_bytes),
        reach_(reach),
        machine_(machine),
        is_hot_(is_hot),
        report_(report) {}

  /// `shape`: of all the blocks.
  Result<VectorRung> bodies(Wanted blocks, const std::optional<Dim3>& shape) {
    const Draft prepared(copy_of(*kernel_.body));
    TRY(inline_calls(*prepared, reach_));
    if (shape) {
      set_known_sizes(*prepared, *shape);
      set_known_ranges(*prepared, *shape);
    }
    prepare_for_lanes(*prepared);
    while (shape && write_out_few_turns(*prepared)) prepare_for_lanes(*prepared);
    const size_t questions = blocks && shape ? questions_for_places(*prepared, *shape) : 0;
    const bool is_stream = blocks && shape && stream_habits(machine_).arrays_in_turn && questions < kFewestQuestions &&
                           is_short_stream(*prepared, *shape, questions != 0);
    const bool has_inner = is_stream || (questions >= kFewestQuestions && questions <= kMostQuestions);
    std::optional<InnerBlocks> inner;
    if (is_hot_ && has_inner) inner = code_for_inner_blocks(*prepared, *shape);
    const Draft inner_code(inner ? inner->code : nullptr);
    Draft are_inner(inner ? inner->are_inner : nullptr);
    TRY(WarpBodies made, widen_prepared(*prepared, blocks, shape, report_));
    for (WideBody& body : made) body.leaves_out |= has_inner && !is_hot_;
    VectorRung rung{std::move(made)};
    if (!inner) return rung;
    prepare_for_lanes(*inner_code);
    const std::optional<uint32_t> least_blocks = is_stream ? meet_in_step(*inner_code, *shape) : 0;
    if (!least_blocks) return rung;  // it is the same code
    std::string accesses;
    Result<WarpBodies> inner_made = widen_prepared(*inner_code, blocks, shape, report_ ? &accesses : nullptr);
    if (!inner_made) return rung;
    for (const BlockClass one : image::kBlockClasses) {
      const WideBody &all = rung.warps[one], &body = (*inner_made)[one];
      if (all.code && body.code && !all.is_alone && !body.is_alone)
        rung.inner = {are_inner.keep(), body, *least_blocks, accesses};
    }
    return rung;
  }

 private:
  Result<WarpBodies> widen_prepared(llvm::Function& prepared, Wanted blocks, const std::optional<Dim3>& shape,
                                    std::string* report) {
    know_lone_lanes(prepared);
    if (shape) turn_stores(prepared, *shape);
    lower_address_questions(prepared, constant_bytes_);
    TRY(WarpBodies made, widen(prepared, blocks, shape, report));
    for (WideBody& body : made) body.shape = shape;
    return made;
  }

  Result<WarpBodies> widen(llvm::Function& prepared, Wanted blocks, const std::optional<Dim3>& shape,
                           std::string* report) {
    WarpBodies made;
    const auto widen_one = [&](BlockClass one) -> Result<> {
      TRY(made[one],
          widen_for(prepared, {one, shape, is_hot_}, prefix_of(one) + kernel_.name, reach_, machine_, report));
      return {};
    };
    const bool rows = has_rows(prepared);
    // Less is known of others than of rows of 32, so that what is right there may not be here.
    if (!blocks) {
      TRY(widen_one(BlockClass::Rows));
      for (const BlockClass one : image::kBlockClasses)
        if (one != BlockClass::Rows && (rows || segment_lanes(one) == kLanes)) (void)widen_one(one);
      return made;
    }
    if (rows || segment_lanes(*blocks) == kLanes) {
      const Result<> one = widen_one(*blocks);
      if (one) return made;
      if (*blocks == BlockClass::Any) return fail(one.error());
    }
    TRY(widen_one(BlockClass::Any));
    return made;
  }

  const KernelBody& kernel_;
  const uint64_t constant_bytes_;
  const kir::CallReach& reach_;
  const llvm::TargetMachine& machine_;
  const bool is_hot_;
  std::string* const report_;
};

}  // namespace

Result<VectorRung> vectorise(const KernelBody& kernel, const std::optional<image::BlocksOfCode>& blocks,
                             uint64_t constant_bytes, const kir::CallReach& reach, const llvm::TargetMachine& machine,
                             std::string* report) {
  const bool is_hot = !blocks || blocks->hot;  // what is made before it runs stays
  Rung rung(kernel, constant_bytes, reach, machine, is_hot, report);
  if (!blocks) return rung.bodies(std::nullopt, std::nullopt);
  if (blocks->shape)  // its loops may be written out, and be too much then
    if (Result<VectorRung> made = rung.bodies(blocks->blocks, blocks->shape)) return made;
  return rung.bodies(blocks->blocks, std::nullopt);
}

}  // namespace cupola::cpu::build
