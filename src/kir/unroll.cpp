#include "kir/unroll.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/LoopPassManager.h>
#include <llvm/Transforms/Scalar/LoopUnrollPass.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/SimplifyCFG.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include "kir/combine.h"
#include "kir/intrinsics.h"
#include "kir/passes.h"

// An array of a thread (float sums[4][4]) lives in memory as long as one of its indices is a variable. Where all of
// them follow from the counters of loops whose numbers of turns are known, these loops unrolled leave constant indices
// only. What is gained is all or nothing for each array, so that the loops of an array are chosen together.

namespace cupola::kir {
namespace {

using Loops = llvm::SmallSetVector<llvm::Loop*, 8>;

/// Of a function, with its loops unrolled and before anything is folded.
constexpr uint64_t kMostInstructions = 3000;
/// Of one that gains no registers by it.
constexpr uint64_t kMostWished = 1000;
/// Of a loop; arrays that threads keep in registers are not larger.
constexpr unsigned kMostTurns = 128;

class LoopChoice {
 public:
  LoopChoice(llvm::Function& function, llvm::LoopInfo& loops, llvm::ScalarEvolution& evolution)
      : function_(function), loops_(loops), evolution_(evolution) {}

  Loops find() {
    Loops chosen;
    for (llvm::Instruction& instruction : function_.getEntryBlock()) {
      auto* array = llvm::dyn_cast<llvm::AllocaInst>(&instruction);
      if (!array || !array->isStaticAlloca()) continue;
      Loops more = chosen;
      if (!needs(*array, more) || more.size() == chosen.size() || size_with(more) > kMostInstructions) continue;
      chosen = std::move(more);
    }
    return chosen;
  }

  /// Adds the loops that somebody wishes unrolled, innermost first. The wish goes with the decision.
  void add_wished(Loops& chosen) {
    for (llvm::Loop* loop : llvm::reverse(loops_.getLoopsInPreorder())) {
      const unsigned turns = turns_of(*loop);
      if (turns == 0 || !is_wished(*loop, turns)) continue;
      loop->setLoopID(nullptr);
      Loops more = chosen;
      more.insert(loop);
      if (turns <= kMostTurns && !threads_meet(*loop) && size_with(more) <= kMostWished) chosen = std::move(more);
    }
  }

 private:
  static bool is_wished(const llvm::Loop& loop, unsigned turns) {
    if (llvm::findOptionMDForLoop(&loop, "llvm.loop.unroll.enable")) return true;
    if (llvm::findOptionMDForLoop(&loop, "llvm.loop.unroll.full")) return true;
    return turns <=
           static_cast<unsigned>(llvm::getOptionalIntLoopAttribute(&loop, "llvm.loop.unroll.count").value_or(0));
  }

  /// Other than those of a warp.
  static bool threads_meet(const llvm::Loop& loop) {
    for (const llvm::BasicBlock* block : loop.blocks())
      for (const llvm::Instruction& instruction : *block) {
        const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
        if (!call || !call->isConvergent()) continue;
        const auto known = intrinsic_of(*call);
        using enum Intrinsic;
        if (known != Shuffle && known != Vote && known != Match && known != Redux && known != WarpSync) return true;
      }
    return false;
  }

  /// Adds the loops by whose counters the array is indexed. False: it stays in memory whatever is unrolled.
  bool needs(llvm::AllocaInst& array, Loops& of) {
    llvm::SmallSetVector<llvm::Value*, 16> places;
    places.insert(&array);
    for (size_t i = 0; i < places.size(); ++i)
      for (llvm::Use& use : places[i]->uses()) {
        llvm::User* user = use.getUser();
        if (auto* place = llvm::dyn_cast<llvm::GetElementPtrInst>(user)) {
          if (!llvm::all_of(place->indices(), [&](llvm::Value* index) { return follows_from_counters(index, of); }))
            return false;
          places.insert(place);
        } else if (!is_access(use)) {
          return false;
        }
      }
    return true;
  }

  /// One that leaves the array's address where it is.
  static bool is_access(const llvm::Use& use) {
    const llvm::User* user = use.getUser();
    if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) return load->isSimple();
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(user))
      return store->isSimple() && use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex();
    if (const auto* filled = llvm::dyn_cast<llvm::MemIntrinsic>(user))
      return !filled->isVolatile() && llvm::isa<llvm::ConstantInt>(filled->getLength());
    return llvm::cast<llvm::Instruction>(user)->isLifetimeStartOrEnd();
  }

  /// Made of constants, of those that constant tables hold, and of counters of loops that can be unrolled, which are
  /// added.
  bool follows_from_counters(llvm::Value* index, Loops& of) {
    llvm::SmallSetVector<llvm::Value*, 16> values;
    values.insert(index);
    for (size_t i = 0; i < values.size(); ++i) {
      if (llvm::isa<llvm::Constant>(values[i])) continue;
      if (auto* phi = llvm::dyn_cast<llvm::PHINode>(values[i])) {
        if (!is_counter(*phi, of)) return false;
        continue;
      }
      const auto* load = llvm::dyn_cast<llvm::LoadInst>(values[i]);
      if (load && !is_of_table(*load)) return false;
      if (!load &&
          !llvm::isa<llvm::BinaryOperator, llvm::CastInst, llvm::CmpInst, llvm::SelectInst, llvm::GetElementPtrInst>(
              values[i]))
        return false;
      values.insert_range(llvm::cast<llvm::Instruction>(values[i])->operands());
    }
    return true;
  }

  static bool is_of_table(const llvm::LoadInst& load) {
    const auto* table =
        llvm::dyn_cast<llvm::GlobalVariable>(load.getPointerOperand()->stripInBoundsOffsets()->stripPointerCasts());
    return table && table->isConstant() && table->hasDefinitiveInitializer() && load.isSimple();
  }

  bool is_counter(llvm::PHINode& phi, Loops& of) {
    llvm::Loop* loop = loops_.getLoopFor(phi.getParent());
    if (!loop || loop->getHeader() != phi.getParent() || !evolution_.isSCEVable(phi.getType())) return false;
    const auto* counted = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution_.getSCEV(&phi));
    if (!counted || !llvm::all_of(counted->operands(), llvm::IsaPred<llvm::SCEVConstant>)) return false;
    const unsigned turns = turns_of(*loop);
    if (turns == 0 || turns > kMostTurns) return false;
    of.insert(loop);
    return true;
  }

  /// How often the loop's body runs; 0: it is not known.
  unsigned turns_of(llvm::Loop& loop) {
    const unsigned turns = evolution_.getSmallConstantTripCount(&loop);
    const bool leaves_first = loop.getExitingBlock() == loop.getHeader() && loop.getHeader() != loop.getLoopLatch();
    return turns > 1 && leaves_first ? turns - 1 : turns;
  }

  /// The function's instructions, once these loops are unrolled.
  uint64_t size_with(const Loops& unrolled) {
    llvm::DenseMap<const llvm::Loop*, uint64_t> times;
    uint64_t size = 0;
    for (llvm::Loop* loop : loops_.getLoopsInPreorder()) {
      const llvm::Loop* outer = loop->getParentLoop();
      times[loop] = (outer ? times[outer] : 1) * (unrolled.contains(loop) ? turns_of(*loop) : 1);
      if (times[loop] > kMostInstructions) return times[loop];
    }
    for (const llvm::BasicBlock& block : function_) {
      const llvm::Loop* loop = loops_.getLoopFor(&block);
      size += (loop ? times[loop] : 1) * block.size();
    }
    return size;
  }

  llvm::Function& function_;
  llvm::LoopInfo& loops_;
  llvm::ScalarEvolution& evolution_;
};

llvm::FunctionPassManager unrolling() {
  llvm::FunctionPassManager passes;
  passes.addPass(
      llvm::createFunctionToLoopPassAdaptor(llvm::LoopFullUnrollPass(/*OptLevel=*/2, /*OnlyWhenForced=*/true)));
  passes.addPass(
      llvm::SimplifyCFGPass(simple_cfg()));  // turns that are never begun: SROA does not look through their phis
  add_combine(passes);
  passes.addPass(llvm::SROAPass(llvm::SROAOptions::ModifyCFG));
  passes.addPass(llvm::EarlyCSEPass(/*UseMemorySSA=*/true));
  return passes;
}

}  // namespace

llvm::PreservedAnalyses UnrollLoops::run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses) {
  auto& loops = analyses.getResult<llvm::LoopAnalysis>(function);
  if (loops.empty()) return llvm::PreservedAnalyses::all();
  LoopChoice choice(function, loops, analyses.getResult<llvm::ScalarEvolutionAnalysis>(function));
  Loops chosen = choice.find();
  choice.add_wished(chosen);
  if (chosen.empty()) return llvm::PreservedAnalyses::all();
  for (llvm::Loop* loop : chosen) llvm::addStringMetadataToLoop(loop, "llvm.loop.unroll.full", 1);
  unrolling().run(function, analyses);
  return llvm::PreservedAnalyses::none();
}

}  // namespace cupola::kir
