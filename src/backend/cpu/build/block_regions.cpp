#include "backend/cpu/build/block_regions.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/MapVector.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/MDBuilder.h>
#include <llvm/Support/KnownBits.h>
#include <llvm/Target/TargetMachine.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/Local.h>
#include <llvm/Transforms/Utils/LoopSimplify.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "backend/cpu/build/block_votes.h"
#include "backend/cpu/build/coroutine_frame.h"
#include "backend/cpu/build/first_threads.h"
#include "backend/cpu/build/frame_layout.h"
#include "backend/cpu/build/place_arguments.h"
#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/vector_lanes.h"
#include "backend/cpu/build/warp_coroutine.h"
#include "backend/cpu/build/written_out_gathers.h"
#include "image/cpu_abi.h"
#include "kir/block_uniformity.h"
#include "kir/branch_ways.h"
#include "kir/pass_analyses.h"

// Blocks outside of regions, each cut off from the others: barriers, branches that decide which barrier comes next,
// phis where ways from several regions meet, and the return.

namespace cupola::cpu::build {
namespace {

using image::cpu::ThreadContext;
using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

/// Of instructions that compute a value anew in another region, rather than keep it.
constexpr unsigned kMostRecomputed = 6;

/// Memory that keeps what it holds while the kernel runs.
bool reads_what_stays(const llvm::LoadInst& load) {
  if (!load.isSimple()) return false;
  if (load.hasMetadata(llvm::LLVMContext::MD_invariant_load)) return true;
  const auto* parameter = llvm::dyn_cast<llvm::Argument>(llvm::getUnderlyingObject(load.getPointerOperand()));
  return parameter && parameter->hasByValAttr();
}

/// What loops without barriers leave is what their last turn had: it is kept behind them, not in each turn.
void close_loops(llvm::Function& code, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(code);
  const auto& dominators = analyses.getResult<llvm::DominatorTreeAnalysis>(code);
  for (llvm::Loop* loop : loops_between_stops(loops, is_block_barrier))
    llvm::formLCSSARecursively(*loop, dominators, &loops, /*SE=*/nullptr);
}

bool differs_by_itself(const Instruction& instruction) {
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction)) return !reads_what_stays(*load);
  return instruction.mayReadOrWriteMemory() || llvm::isa<llvm::AllocaInst, llvm::FreezeInst>(instruction);
}

class Cutting {
 public:
  /// `places`: of its arguments, those that differ between warps; `first_thread`: threadIdx.x, null if it has none.
  Cutting(llvm::Function& code, llvm::ArrayRef<Value*> places, const Value* first_thread, llvm::TargetMachine& machine)
      : code_(code),
        first_thread_(first_thread),
        layout_(code.getDataLayout()),
        machine_(machine),
        builder_(code.getContext()) {
    kir::PassAnalyses analyses(&machine);
    llvm::FunctionPassManager form;
    form.addPass(llvm::LoopSimplifyPass());
    form.run(code, analyses.functions);
    close_loops(code, analyses.functions);
    llvm::EliminateUnreachableBlocks(code);
    isolate_return();
    isolate_barriers();
    post_dominators_.recalculate(code);
    uniformity_.emplace(code, places, post_dominators_,
                        kir::BlockUniformity::Questions{is_block_barrier, differs_by_itself});
  }

  std::optional<BlockRegions> cut(uint64_t most_bytes) {
    if (!result_.over || !isolate_branches()) return std::nullopt;
    find_leaders();
    isolate_phis();
    if (!gather() || !plan(most_bytes)) return std::nullopt;
    keep_what_crosses();
    for (BasicBlock* block : barriers_) meet(*block);
    for (llvm::PHINode* phi : kept_phis_) phi->eraseFromParent();
    erase_unused();
    // What a region takes of others is one warp's, and newer than what is known.
    llvm::SmallPtrSet<const Value*, 16> taken;
    for (const auto& [from, value] : taken_) taken.insert(value);
    const auto is_uniform = [&](Value* value) { return uniformity_->is_uniform(value) && !taken.contains(value); };
    for (BlockRegion& region : result_.regions) {
      region.is_for_block = is_for_block(region);
      if (!region.is_for_block) region.acting = acting_threads(region, first_thread_, is_uniform);
    }
    return std::move(result_);
  }

 private:
  // ---- what lies between regions ----

  bool is_between(BasicBlock* block) const { return between_.contains(block); }

  void isolate_return() {
    llvm::SmallVector<llvm::ReturnInst*, 4> returns;
    for (BasicBlock& block : code_)
      if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator())) returns.push_back(end);
    if (returns.empty()) return;
    result_.over = BasicBlock::Create(code_.getContext(), "over", &code_);
    for (llvm::ReturnInst* end : returns) {
      llvm::IRBuilder<>(end).CreateBr(result_.over);
      end->eraseFromParent();
    }
    llvm::IRBuilder<>(result_.over).CreateRetVoid();
    between_.insert(result_.over);
  }

  void isolate_barriers() {
    for (llvm::CallInst* barrier : block_barriers(code_)) {
      BasicBlock* block = llvm::SplitBlock(barrier->getParent(), barrier);
      llvm::SplitBlock(block, barrier->getNextNode());
      barriers_.push_back(block);
      between_.insert(block);
    }
  }

  /// False if not all warps go the same way to a barrier.
  bool isolate_branches() {
    llvm::SmallVector<BasicBlock*, 8> branching;
    for (BasicBlock& block : code_) {
      if (block.getTerminator()->getNumSuccessors() < 2) continue;
      const kir::Ways ways = kir::ways_from(&block, post_dominators_);
      if (llvm::none_of(barriers_, [&](BasicBlock* barrier) { return ways.contains(barrier); })) continue;
      if (!uniformity_->is_uniform(block.getTerminator())) return false;
      branching.push_back(&block);
    }
    for (BasicBlock* block : branching) between_.insert(llvm::SplitBlock(block, block->getTerminator()));
    return true;
  }

  /// Of each block, where the region begins that it is in: what is entered from between or from several regions begins
  /// one.
  void find_leaders() {
    llvm::SmallPtrSet<BasicBlock*, 16> beginning{&code_.getEntryBlock()};
    while (BasicBlock* block = assign_leaders(beginning)) beginning.insert(block);
  }

  /// A block that begins a region too; null: there is no other.
  BasicBlock* assign_leaders(const llvm::SmallPtrSetImpl<BasicBlock*>& beginning) {
    leaders_.clear();
    const llvm::ReversePostOrderTraversal<llvm::Function*> order(&code_);
    for (BasicBlock* block : order) {
      if (is_between(block)) continue;
      if (beginning.contains(block)) {
        leaders_[block] = block;
        continue;
      }
      const auto known = llvm::find_if(llvm::predecessors(block), [&](BasicBlock* before) {
        return is_between(before) || leaders_.contains(before);
      });
      if (is_between(*known)) return block;
      leaders_[block] = leaders_.lookup(*known);
    }
    for (BasicBlock* block : order)
      if (!is_between(block) && !beginning.contains(block) &&
          llvm::any_of(llvm::predecessors(block),
                       [&](BasicBlock* before) { return leaders_.lookup(before) != leaders_.lookup(block); }))
        return block;
    return nullptr;
  }

  void isolate_phis() {
    llvm::SmallVector<BasicBlock*, 8> beginning;
    for (const auto& [block, leader] : leaders_)
      if (block == leader && !block->phis().empty()) beginning.push_back(block);
    for (BasicBlock* block : beginning) {
      BasicBlock* rest = llvm::SplitBlock(block, block->getFirstNonPHIIt());
      between_.insert(block);
      leaders_.erase(block);
      leaders_[rest] = rest;
      for (auto& [other, leader] : leaders_)
        if (leader == block) leader = rest;
    }
  }

  // ---- regions ----

  /// False where a region goes on to several places.
  bool gather() {
    llvm::MapVector<BasicBlock*, BlockRegion> regions;
    for (BasicBlock& block : code_)
      if (!is_between(&block)) regions[leaders_.lookup(&block)].blocks.push_back(&block);
    for (auto& [leader, region] : regions) {
      region.begin = leader;
      if (!give_end(region)) return false;
      result_.regions.push_back(std::move(region));
    }
    for (BasicBlock* block : llvm::SmallVector<BasicBlock*, 8>(between_.begin(), between_.end()))
      if (llvm::any_of(block->phis(), [&](llvm::PHINode& phi) { return is_kept(&phi); })) give_regions_before(*block);
    for (BlockRegion& region : result_.regions) {
      for (BasicBlock* block : region.blocks) region_of_[block] = &region;
      firsts_[&region] = &region.begin->front();
      builder_.SetInsertPoint(firsts_[&region]);
      region.frame =
          llvm::cast<Instruction>(builder_.CreateFreeze(llvm::PoisonValue::get(builder_.getPtrTy()), "frame"));
    }
    return true;
  }

  bool give_end(BlockRegion& region) {
    llvm::SmallSetVector<BasicBlock*, 4> leaving, next;
    for (BasicBlock* block : region.blocks)
      for (BasicBlock* after : llvm::successors(block)) {
        if (!is_between(after) && after != region.begin && leaders_.lookup(after) == region.begin) continue;
        leaving.insert(block);
        next.insert(after);
      }
    if (next.size() != 1 || next[0] == region.begin) return false;
    region.end = llvm::SplitBlockPredecessors(next[0], leaving.getArrayRef(), ".end");
    region.blocks.push_back(region.end);
    return true;
  }

  /// What warps have in a phi is written before it.
  void give_regions_before(BasicBlock& block) {
    for (BasicBlock* before : llvm::SmallVector<BasicBlock*, 4>(llvm::predecessors(&block))) {
      if (!is_between(before)) continue;
      BasicBlock* edge = llvm::SplitBlockPredecessors(&block, before, ".edge");
      BlockRegion& region = result_.regions.emplace_back();
      region.begin = region.end = edge;
      region.blocks.push_back(edge);
    }
  }

  // ---- what crosses from region to region ----

  /// For each warp there is one.
  bool is_kept(Value* value) const { return llvm::isa<Instruction>(value) && !uniformity_->is_uniform(value); }

  bool is_of(const BlockRegion* region, Value* value) const {
    return region_of_.lookup(llvm::cast<Instruction>(value)->getParent()) == region &&
           !llvm::isa<llvm::AllocaInst>(value);
  }

  /// What warps have in a phi where regions meet they write at the end of the one that they come from.
  bool is_of_kept_phi(const llvm::Use& use) const {
    auto* phi = llvm::dyn_cast<llvm::PHINode>(use.getUser());
    return phi && is_between(phi->getParent()) && is_kept(phi);
  }

  /// Where the use asks for its value; null: once for the block.
  BlockRegion* region_of(const llvm::Use& use) const {
    auto* user = llvm::cast<Instruction>(use.getUser());
    BasicBlock* block = user->getParent();
    if (is_of_kept_phi(use)) block = llvm::cast<llvm::PHINode>(user)->getIncomingBlock(use);
    if (is_block_barrier(*user)) block = block->getSinglePredecessor();
    return region_of_.lookup(block);
  }

  /// False if a warp would keep too much.
  bool plan(uint64_t most_bytes) {
    for (Instruction& instruction : llvm::instructions(code_)) {
      if (auto* array = llvm::dyn_cast<llvm::AllocaInst>(&instruction); array && !place(*array)) return false;
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction);
          phi && is_kept(phi) && is_between(phi->getParent())) {
        kept_phis_.push_back(phi);
        give_slot(phi);
      }
      for (llvm::Use& use : instruction.operands()) plan(use);
    }
    recompute_from_kept(most_bytes);
    for (llvm::PHINode* phi : kept_phis_) share_slots(*phi);
    result_.frame_bytes = slots_.settle();
    return result_.frame_bytes <= most_bytes;
  }

  void plan(llvm::Use& use) {
    const auto* user = llvm::cast<Instruction>(use.getUser());
    if (user->isLifetimeStartOrEnd() || is_plain_barrier(*user)) return;
    const bool is_far = is_kept(use) && !is_of(region_of(use), use);
    if (is_far || is_of_kept_phi(use)) crossing_.push_back(&use);
    unsigned left = kMostRecomputed;
    if (is_far && !is_recomputed(use, left)) give_slot(use);
  }

  void give_slot(Value* value) { slots_.add(value, size_of(value), layout_.getPrefTypeAlign(value->getType())); }

  /// What the phi alone takes of another region lies where the phi will, unless that is asked for in between.
  void share_slots(llvm::PHINode& phi) {
    llvm::SmallVector<const BlockRegion*, 2> sharing;  // whose values lie there until the phi takes them
    for (llvm::Use& incoming : phi.incoming_values())
      if (auto* value = llvm::dyn_cast<Instruction>(incoming.get());
          value && slots_.contains(value) && !is_read_again_.contains(value) && !is_between(value->getParent()) &&
          !llvm::isa<llvm::AllocaInst>(value) &&
          llvm::count_if(crossing_, [&](const llvm::Use* use) { return use->get() == value; }) == 1 &&
          is_last_before(phi, *phi.getIncomingBlock(incoming), region_of_.lookup(value->getParent())) &&
          !is_asked_for_behind(phi, region_of_.lookup(value->getParent())) &&
          llvm::none_of(sharing, [&](const BlockRegion* other) {
            return are_on_one_way(phi, *region_of_.lookup(value->getParent()), *other);
          })) {
        slots_.share(value, &phi);
        sharing.push_back(region_of_.lookup(value->getParent()));
      }
  }

  /// Whether both may run before the phi is set.
  static bool are_on_one_way(llvm::PHINode& phi, const BlockRegion& one, const BlockRegion& other) {
    const auto comes_behind = [&](const BlockRegion& first, const BlockRegion& second) {
      return kir::ways_between(first.end->getSingleSuccessor(), phi.getParent()).contains(second.begin);
    };
    return &one == &other || comes_behind(one, other) || comes_behind(other, one);
  }

  /// Whether the phi is not set from the region on before it takes its value by way of `from`: what is made before a
  /// loop may be taken at the end of each turn, when the phi has had what comes into the loop.
  static bool is_last_before(llvm::PHINode& phi, BasicBlock& from, const BlockRegion* region) {
    return region && !kir::ways_between(phi.getParent(), region->begin).contains(&from);
  }

  /// Before it is set anew. What the region itself asks for it has read when it begins.
  static bool is_asked_for_behind(llvm::PHINode& phi, const BlockRegion* region) {
    const kir::Ways ways = kir::ways_between(region->end->getSingleSuccessor(), phi.getParent());
    return llvm::any_of(phi.uses(), [&](const llvm::Use& use) {
      const auto* next = llvm::dyn_cast<llvm::PHINode>(use.getUser());
      return ways.contains(next ? next->getIncomingBlock(use) : llvm::cast<Instruction>(use.getUser())->getParent());
    });
  }

  /// From arguments, what is the same for all warps, and arrays' places.
  bool is_recomputed(Value* value, unsigned& left) const {
    if (!is_kept(value) || llvm::isa<llvm::AllocaInst>(value)) return true;
    auto& instruction = llvm::cast<Instruction>(*value);
    if (is_between(instruction.getParent()) || instruction.isIntDivRem() || left == 0 ||
        !build::is_recomputed(instruction))
      return false;
    --left;
    return llvm::all_of(instruction.operands(), [&](Value* operand) { return is_recomputed(operand, left); });
  }

  /// What little makes of one value that is kept and of what is the same for all warps is not kept beside it, and often
  /// a region that makes nothing else is gone.
  void recompute_from_kept(uint64_t most_bytes) {
    uint64_t bytes = 0;
    for (Value* value : slots_.values()) bytes += size_of(value);
    const bool has_room = bytes <= most_bytes;
    for (Value* value : llvm::SmallVector<Value*, 32>(slots_.values())) {
      if (is_read_again_.contains(value) || (has_room && is_number_of_written_out_gather(*value, machine_))) continue;
      Value* source = nullptr;
      unsigned left = kMostRecomputed;
      if (!is_of_one_kept(value, source, left, /*is_result=*/true) || !source || size_of(source) > size_of(value))
        continue;
      slots_.remove(value);
      is_read_again_.insert(source);
    }
  }

  bool is_of_one_kept(Value* value, Value*& source, unsigned& left, bool is_result) const {
    if (!is_kept(value) || llvm::isa<llvm::AllocaInst>(value) || value == source) return true;
    auto& instruction = llvm::cast<Instruction>(*value);
    if (is_between(instruction.getParent())) return false;  // a phi's slot may have the next value already
    if (!is_result && slots_.contains(value)) {             // it would be read there, not made
      if (source) return false;
      source = value;
      return true;
    }
    if (instruction.isIntDivRem() || left == 0 || !build::is_recomputed(instruction)) return false;
    --left;
    return llvm::all_of(instruction.operands(),
                        [&](Value* operand) { return is_of_one_kept(operand, source, left, /*is_result=*/false); });
  }

  uint64_t size_of(const Value* value) const { return layout_.getTypeAllocSize(value->getType()).getFixedValue(); }

  // ---- local arrays ----

  /// An array that only one region uses, and no second time or anew each time, is the same memory for all warps. False
  /// where that cannot be told of an array without a fixed size.
  bool place(llvm::AllocaInst& array) {
    if (!array.isStaticAlloca()) return false;
    if (const BlockRegion* user = only_user(array); user && (is_scratch(array) || !comes_again(*user))) {
      result_.arrays.push_back(&array);
      return true;
    }
    slots_.add(&array, array.getAllocationSize(layout_)->getFixedValue(), array.getAlign());
    return true;
  }

  /// Others may learn of the address itself.
  static bool gives_away(const llvm::Use& use) {
    if (llvm::isa<llvm::LoadInst>(use.getUser())) return false;
    if (llvm::isa<llvm::StoreInst>(use.getUser())) return use.getOperandNo() == 0;
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(use.getUser());
    if (!call) return true;
    const llvm::Intrinsic::ID which = call->getIntrinsicID();
    return (which == llvm::Intrinsic::masked_store || which == llvm::Intrinsic::masked_scatter) &&
           use.getOperandNo() == 0;
  }

  const BlockRegion* only_user(llvm::AllocaInst& array) const {
    const BlockRegion* region = nullptr;
    llvm::SmallSetVector<Value*, 16> places;
    places.insert(&array);
    for (size_t i = 0; i < places.size(); ++i)
      for (llvm::Use& use : places[i]->uses()) {
        auto* instruction = llvm::cast<Instruction>(use.getUser());
        if (llvm::isa<llvm::GetElementPtrInst, llvm::CastInst>(instruction)) {
          places.insert(instruction);
          continue;
        }
        const BlockRegion* user = region_of(use);
        if (!user || (region && region != user) || gives_away(use)) return nullptr;
        region = user;
      }
    return region;
  }

  bool comes_again(const BlockRegion& region) const {
    return kir::ways_between(region.end->getSingleSuccessor(), nullptr).contains(region.begin);
  }

  // ---- keeping it ----

  void keep_what_crosses() {
    // All before the first is set: some are copies of instructions that use others.
    llvm::SmallVector<Value*, 32> values;
    for (llvm::Use* use : crossing_) values.push_back(in_region(*region_of(*use), *use));
    for (const auto& [use, value] : llvm::zip(crossing_, values)) {
      if (!is_of_kept_phi(*use)) {
        use->set(value);
        continue;
      }
      BlockRegion& region = *region_of(*use);
      keep(*use->getUser(), value, region.end->getTerminator()->getIterator(), region);
    }
    for (Value* value : slots_.values()) {
      auto* instruction = llvm::cast<Instruction>(value);
      if (llvm::isa<llvm::AllocaInst>(instruction)) {
        replace_array(*instruction);
      } else if (BlockRegion* region = region_of_.lookup(instruction->getParent())) {
        BasicBlock::iterator after = llvm::isa<llvm::PHINode>(instruction)
                                         ? instruction->getParent()->getFirstInsertionPt()
                                         : std::next(instruction->getIterator());
        keep(*instruction, instruction, after, *region);
      }
    }
  }

  Value* slot(Value* value, BlockRegion& region, BasicBlock::iterator place) {
    builder_.SetInsertPoint(place->getParent(), place);
    return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), region.frame, slots_.offset(value));
  }
  void keep(Value& of, Value* value, BasicBlock::iterator place, BlockRegion& region) {
    Value* address = slot(&of, region, place);
    builder_.CreateAlignedStore(value, address, slots_.alignment(&of));
  }

  /// The value as the region has it.
  Value* in_region(BlockRegion& region, Value* value) {
    if (!is_kept(value) || is_of(&region, value)) return value;
    if (auto* array = llvm::dyn_cast<llvm::AllocaInst>(value); array && !slots_.contains(array)) return array;
    if (const auto found = taken_.find({&region, value}); found != taken_.end()) return found->second;
    Value* taken = take(region, value);
    taken_[{&region, value}] = taken;
    return taken;
  }

  Value* take(BlockRegion& region, Value* value) {
    if (!slots_.contains(value)) {
      Instruction* copy = llvm::cast<Instruction>(value)->clone();
      for (llvm::Use& operand : copy->operands()) operand.set(in_region(region, operand));
      copy->insertBefore(firsts_[&region]->getIterator());
      return copy;
    }
    Value* address = slot(value, region, firsts_[&region]->getIterator());
    if (llvm::isa<llvm::AllocaInst>(value)) return address;
    llvm::LoadInst* load =
        builder_.CreateAlignedLoad(value->getType(), address, slots_.alignment(value), value->getName());
    keep_range(*load, *value);
    return load;
  }

  /// What is known of the number where it is made stays known: that an index is no more than a mask leaves.
  void keep_range(llvm::LoadInst& load, const Value& value) const {
    if (!value.getType()->isIntOrIntVectorTy()) return;
    const llvm::APInt most = llvm::computeKnownBits(&value, layout_).getMaxValue();
    if (most.isAllOnes()) return;
    const llvm::APInt end = most + 1, zero = llvm::APInt::getZero(end.getBitWidth());
    load.setMetadata(llvm::LLVMContext::MD_range, llvm::MDBuilder(load.getContext()).createRange(zero, end));
  }

  void replace_array(Instruction& array) {
    for (llvm::User* lifetime : llvm::make_early_inc_range(array.users()))
      llvm::cast<Instruction>(lifetime)->eraseFromParent();
    array.eraseFromParent();
  }

  /// It writes nothing, and what it computes is the same for all warps.
  bool is_for_block(const BlockRegion& region) const {
    return llvm::all_of(region.blocks, [&](BasicBlock* block) {
      return llvm::all_of(*block, [&](Instruction& instruction) {
        return &instruction == region.frame || (!is_kept(&instruction) && !instruction.mayWriteToMemory());
      });
    });
  }

  // ---- barriers ----

  static bool is_plain_barrier(const Instruction& instruction) {
    return is_block_barrier(instruction) && !is_reduction(llvm::cast<llvm::CallInst>(instruction));
  }

  void meet(BasicBlock& block) {
    auto& barrier = llvm::cast<llvm::CallInst>(block.front());
    if (is_reduction(barrier)) {
      Value* context = context_of(code_);
      builder_.SetInsertPoint(block.getSinglePredecessor()->getTerminator());
      builder_.SetCurrentDebugLocation(barrier.getDebugLoc());
      add_votes(builder_, context, barrier);
      builder_.SetInsertPoint(&barrier);
      count_votes(builder_, context);
      barrier.replaceAllUsesWith(result_of_votes(builder_, context, barrier));
    }
    barrier.eraseFromParent();
  }

  /// What only barriers asked for.
  void erase_unused() {
    llvm::SmallPtrSet<const Instruction*, 8> frames;
    for (const BlockRegion& region : result_.regions) frames.insert(region.frame);
    for (BasicBlock* block : llvm::post_order(&code_))
      for (Instruction& instruction : llvm::make_early_inc_range(llvm::reverse(*block)))
        if (!frames.contains(&instruction) && llvm::isInstructionTriviallyDead(&instruction))
          instruction.eraseFromParent();
  }

  llvm::Function& code_;
  const Value* first_thread_;
  const llvm::DataLayout& layout_;
  const llvm::TargetMachine& machine_;
  llvm::IRBuilder<> builder_;
  llvm::PostDominatorTree post_dominators_;
  std::optional<kir::BlockUniformity> uniformity_;
  BlockRegions result_;
  llvm::SmallSetVector<BasicBlock*, 16> between_;
  llvm::SmallVector<BasicBlock*, 8> barriers_;
  llvm::MapVector<BasicBlock*, BasicBlock*> leaders_;
  llvm::DenseMap<BasicBlock*, BlockRegion*> region_of_;
  llvm::SmallVector<llvm::Use*, 32> crossing_;
  llvm::SmallVector<llvm::PHINode*, 8> kept_phis_;
  FrameLayout slots_;
  llvm::SmallPtrSet<Value*, 8> is_read_again_;  ///< what others are made of in regions that do not ask for it
  llvm::DenseMap<std::pair<BlockRegion*, Value*>, Value*> taken_;
  llvm::DenseMap<BlockRegion*, Instruction*> firsts_;  ///< before what a region takes from others: its code
};

}  // namespace

std::optional<BlockRegions> cut_at_barriers(const PlacedCode& placed, uint64_t most_bytes, bool beside,
                                            llvm::TargetMachine& machine) {
  const auto places = beside ? placed.places_beside() : placed.places_in_block();
  constexpr size_t kThread = offsetof(ThreadContext, tid);
  const Value* first_thread = llvm::is_contained(placed.fields, kThread) ? placed.place(kThread) : nullptr;
  std::optional<BlockRegions> made = Cutting(*placed.code, places, first_thread, machine).cut(most_bytes);
  if (made) made->beside = beside;
  return made;
}

}  // namespace cupola::cpu::build
