#include "backend/cpu/build/whole_block.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include <optional>
#include <string>
#include <vector>

#include "backend/cpu/build/block_loop.h"
#include "backend/cpu/build/block_regions.h"
#include "backend/cpu/build/block_votes.h"
#include "backend/cpu/build/kept_columns.h"
#include "backend/cpu/build/place_arguments.h"
#include "backend/cpu/build/shared_memory.h"
#include "backend/cpu/build/streaming_stores.h"
#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/turned_stores.h"
#include "backend/cpu/build/vector_shape.h"
#include "backend/cpu/build/vector_turns.h"
#include "backend/cpu/build/warp_coroutine.h"
#include "base/format.h"
#include "image/cpu_abi.h"
#include "kir/call_reach.h"

// A loop over blocks has a loop over the block's warps in it, into which the code for a warp is inlined. Code that
// waits is cut at its barriers, and each piece has a loop of its own. Where warps may come to other barriers, or take
// turns in other places too, it becomes a coroutine: the loop calls its first part for each warp, then the second for
// each that is not over, until all are.

namespace cupola::cpu::build {
namespace {

constexpr const char* kWholeBlocks = "cupola.whole-blocks";

constexpr uint64_t kMostWarps = 32;
/// Of a block's frames, which lie on the stack, a local window.
constexpr uint64_t kMostFrames = image::cpu::kLocalWindow / 2;

// ---- whether it can be done ----

/// Waits for lanes that never come: a fault.
bool is_fault(const llvm::Instruction& instruction) {
  return service_of(instruction) == Service::warp_sync;
}

/// What keeps the code from running a block at a time; empty: nothing.
std::string obstacle(llvm::Function& warp, const kir::CallReach& reach) {
  for (llvm::Function* function : reach.from(&warp))
    for (const llvm::Instruction& instruction : llvm::instructions(*function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      if (!call) continue;
      if (kir::is_indirect(*call) && !service_of(instruction)) return "it calls through pointers";
      if (polls(instruction)) return "it polls";
      if (suspends(instruction) && !is_fault(instruction) && !(function == &warp && is_block_barrier(instruction)))
        return "its threads meet in other ways than all of the block's at once";
    }
  return {};
}

/// Whether something in the code counts all of a block's threads: then the block runs alone.
bool counts_threads(const llvm::Function& code) {
  return llvm::any_of(llvm::instructions(code), [](const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
    return call && is_block_barrier(*call) && is_reduction(*call);
  });
}

/// Whether blocks whose warps take turns may do so beside each other, each with shared memory of its own.
bool can_take_turns_beside(const WideBody& body) {
  return !counts_threads(*body.code) && shared_alignment(*body.code) <= kSharedAlignment &&
         !has_turned_stores(*body.code) && !keeps_columns(*body.code);
}

/// Whether a call may run blocks beside each other from barrier to barrier, each with shared memory of its own, a row
/// of each in turn. Where they go through memory, far in each turn of a loop or once for all, and a block's rows are
/// narrow: 64 bytes here and there, each in a page of its own, are too little for memory to be fast, and rows whose
/// distance is a power of two push each other out of the first cache before the next block comes for what lies beside.
/// Other code has less of that cache then.
bool can_meet_beside(const WideBody& body) {
  return (body.meets_in_grid_turns || (body.writes_far && segment_lanes(body.blocks) < kLanes)) &&
         !calls_others(*body.code) && can_take_turns_beside(body);
}

/// Whether a call may run blocks beside each other, a row of each in turn: they are full rows of warps, and have no
/// shared memory.
bool can_be_beside(const WideBody& body, const kir::CallReach& reach) {
  if (!body.is_rows_only || may_be_partial(body.blocks) || !block_barriers(*body.code).empty()) return false;
  for (llvm::Function* function : reach.from(body.code))
    for (const llvm::Instruction& instruction : llvm::instructions(*function))
      if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction); load && reads_window(*load)) return false;
  return true;
}

// ---- doing it ----

/// Code for a warp that can run all warps of a block.
struct Candidate {
  WideBody* body;
  bool has_barriers, takes_turns, is_beside;
  PlacedCode placed = {};
  std::optional<BlockRegions> regions = {};  ///< nothing: it never stops, or is a coroutine
  llvm::Function* coroutine = nullptr;       ///< null: it never stops, or is cut at its barriers
  InnerBody* inner = nullptr;                ///< which runs_rows too, beside it; null: none

  bool runs_rows() const { return is_beside && !has_barriers && !takes_turns; }
};

/// Blocks take turns, each by its code.
llvm::Function* run_rows(const Candidate& candidate) {
  InnerBody* inner = candidate.inner;
  if (!inner) return loop_over_rows(*candidate.body, candidate.placed, nullptr);
  const PlacedCode placed = give_places_as_arguments(*inner->body.code),
                   look = give_places_as_arguments(*inner->are_inner);
  const InnerRows rows{placed, look};
  llvm::Function* made = loop_over_rows(*candidate.body, candidate.placed, &rows);
  inner->take_in();
  return made;
}

/// The code in a loop over the block's warps, which takes its place. False if its frames are too large.
bool run_whole_block(Candidate& candidate) {
  WideBody& body = *candidate.body;
  llvm::Function* made = nullptr;
  if (candidate.coroutine) {
    const CoroutineParts parts = parts_of(*candidate.coroutine);
    if (parts.frame_bytes * kMostWarps > kMostFrames) {
      if (!candidate.takes_turns)
        body.why_not = formatted("{} bytes of each are needed after its barriers", parts.frame_bytes);
      return false;
    }
    const bool beside =
        candidate.takes_turns && candidate.is_beside && !calls_others(*parts.first) && !calls_others(*parts.second);
    made = loop_over_blocks(body, candidate.placed, parts, {candidate.has_barriers, candidate.takes_turns, beside});
    body.order = !candidate.takes_turns ? WarpOrder::Stops : beside ? WarpOrder::TurnsBeside : WarpOrder::Turns;
  } else if (candidate.regions) {
    made = loop_over_blocks(body, candidate.placed, *candidate.regions);
    body.order = candidate.regions->beside ? WarpOrder::PiecesBeside : WarpOrder::Pieces;
  } else {
    made = candidate.is_beside ? run_rows(candidate) : loop_over_blocks(body, candidate.placed);
    body.order = candidate.is_beside ? WarpOrder::RowAfterRow : WarpOrder::WarpAfterWarp;
  }
  stream_large_outputs(*made, body.output_turns, candidate.inner ? body.code : nullptr);
  body.code->eraseFromParent();
  body.code = made;
  return true;
}

/// For blocks beside each other, if that can be; for one after the other if not.
std::optional<BlockRegions> cut(const Candidate& candidate, llvm::TargetMachine& machine) {
  constexpr uint64_t kMostBytes = kMostFrames / kMostWarps;
  std::optional<BlockRegions> regions;
  if (candidate.is_beside) regions = cut_at_barriers(candidate.placed, kMostBytes, /*beside=*/true, machine);
  if (!regions) regions = cut_at_barriers(candidate.placed, kMostBytes, /*beside=*/false, machine);
  return regions;
}

/// Those whose frames are too large if they take turns.
std::vector<Candidate> run_whole_blocks(llvm::Module& module, std::vector<Candidate>& candidates,
                                        llvm::TargetMachine& machine) {
  bool some_stop = false;
  for (Candidate& candidate : candidates) {
    candidate.placed = give_places_as_arguments(*candidate.body->code);
    if (!candidate.takes_turns) remove_turn_marks(*candidate.placed.code);
    if (!candidate.has_barriers && !candidate.takes_turns) continue;
    if (!candidate.takes_turns) candidate.regions = cut(candidate, machine);
    if (candidate.regions) continue;
    candidate.coroutine = make_coroutine(*candidate.placed.code, machine);
    some_stop = true;
  }
  if (some_stop) split_coroutines(module, machine);
  std::vector<Candidate> too_large;
  for (Candidate& candidate : candidates)
    if (!run_whole_block(candidate) && candidate.takes_turns)
      too_large.push_back({candidate.body, candidate.has_barriers, /*takes_turns=*/false, /*is_beside=*/false});
  return too_large;
}

}  // namespace

const char* words_of(WarpOrder order) {
  switch (order) {
    case WarpOrder::OneWarp:
    case WarpOrder::WarpAfterWarp:
      return nullptr;
    case WarpOrder::RowAfterRow:
      return "blocks beside each other take turns, a row of threads of each, a warp at least";
    case WarpOrder::Pieces:
      return "from barrier to barrier, each piece for one warp after the other";
    case WarpOrder::PiecesBeside:
      return "from barrier to barrier, each piece for the warps of blocks beside each other";
    case WarpOrder::Stops:
      return "each warp stops at barriers and keeps what it needs behind them: they take different ways there, or keep "
             "too much";
    case WarpOrder::Turns:
      return "warps take turns in loops that go far in memory";
    case WarpOrder::TurnsBeside:
      return "warps take turns in loops that go far in memory, with those of blocks beside theirs";
  }
}

void mark_whole_blocks(llvm::Function& code) {
  code.addFnAttr(kWholeBlocks);
}

bool runs_whole_blocks(const llvm::Function& code) {
  return code.hasFnAttribute(kWholeBlocks);
}

void InnerBody::take_in() {
  are_inner->eraseFromParent();
  body.code->eraseFromParent();
  are_inner = body.code = nullptr;
  body.order = WarpOrder::RowAfterRow;
}

void run_whole_blocks(llvm::Module& module, llvm::ArrayRef<WideCode> all, llvm::TargetMachine& machine) {
  std::vector<Candidate> candidates;
  const kir::CallReach reach(module);
  const auto add = [&](WideBody& body) {
    if (std::string why = obstacle(*body.code, reach); why.empty()) {
      const bool takes_turns = !turn_marks(*body.code).empty(), has_barriers = !block_barriers(*body.code).empty();
      candidates.push_back({&body, has_barriers, takes_turns,
                            takes_turns    ? can_take_turns_beside(body)
                            : has_barriers ? can_meet_beside(body)
                                           : can_be_beside(body, reach)});
    } else {
      body.why_not = std::move(why);
      if (!body.is_alone) return;
      body.code->eraseFromParent();
      body = {};
    }
  };
  const auto runs_rows = [&](const WideBody& body) {
    return llvm::any_of(candidates,
                        [&](const Candidate& candidate) { return candidate.body == &body && candidate.runs_rows(); });
  };
  for (const auto& [body, inner] : all) {
    add(*body);
    if (!inner) continue;
    add(inner->body);
    if (!runs_rows(*body) || !runs_rows(inner->body) || inner->least_blocks > 0) continue;
    candidates.pop_back();
    candidates.back().inner = inner;
  }
  while (!candidates.empty()) candidates = run_whole_blocks(module, candidates, machine);
  const auto give_up_turns = [](WideBody& body) {
    if (body.code && !body.runs_block()) remove_turn_marks(*body.code);
  };
  for (const auto& [body, inner] : all) {
    give_up_turns(*body);
    if (inner) give_up_turns(inner->body);
  }
}

}  // namespace cupola::cpu::build
