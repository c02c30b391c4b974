#include "backend/cpu/build/gathered_strips.h"

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/ScalarEvolution.h>
#include <llvm/Analysis/ScalarEvolutionExpressions.h>
#include <llvm/Analysis/TargetTransformInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/PatternMatch.h>
#include <llvm/Transforms/Utils/BasicBlockUtils.h>
#include <llvm/Transforms/Utils/PromoteMemToReg.h>
#include <llvm/Transforms/Utils/ScalarEvolutionExpander.h>

#include "backend/cpu/build/hidden_number.h"
#include "backend/cpu/build/register_bits.h"
#include "backend/cpu/build/vector_prefetch.h"

// A gather, in its block or as the last of several ways,
//
//   before:  ...test -> ways, gather          ways, gather -> on
//   on:      row = phi ..., [gathered, gather]
//
// becomes, with the turns so far and a number of turns for which the strip has rows,
//
//   before:  turn < filled -> strip, test
//   test:    ...test -> ways, ask
//   ask:     enough turns for a strip, all lanes -> look, each
//   look:    no index wraps, nothing of it is written -> fill, each
//   fill:    each lane's numbers, made rows;  filled = the turn behind the last one -> strip
//   strip:   the row of the turn -> on
//   each:    as it was -> on

namespace cupola::cpu::build {
namespace {

using llvm::BasicBlock;
using llvm::Instruction;
using llvm::Value;

/// Each lane asks for the numbers of the strip after the next one: so many lines at a time no processor fetches by
/// itself.
constexpr uint64_t kAhead = 2;

constexpr const char* kOneRead = "cupola.one.read";

/// What advances by one number a turn, in all lanes.
class Advance {
 public:
  Advance(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) : loop_(loop), evolution_(evolution) {}

  /// Whether the addresses do, of numbers of the type. Once for each.
  bool of_addresses(Value* addresses, const llvm::Type& number) {
    const auto* sum = llvm::dyn_cast<llvm::GetElementPtrInst>(addresses);
    if (!sum || sum->getNumIndices() != 1) return false;
    Value *base = sum->getOperand(0), *index = sum->getOperand(1);
    if (index->getType()->getScalarSizeInBits() != 64) return false;
    if (loop_.isLoopInvariant(base)) return sum->getSourceElementType() == &number && of_index(index);
    return loop_.isLoopInvariant(index) && of_addresses(base, number);
  }

  /// Numbers that are extended, which must not wrap; whether by their signs.
  struct Narrow {
    Value* number;
    bool is_signed;
  };
  llvm::ArrayRef<Narrow> narrow() const { return narrow_; }

 private:
  bool of_index(Value* index) {
    using namespace llvm::PatternMatch;
    Value *a = nullptr, *b = nullptr;
    if (match(index, m_Shuffle(m_InsertElt(m_Undef(), m_Value(a), m_ZeroInt()), m_Undef(), m_ZeroMask())))
      return of_index(a);
    if (match(index, m_Freeze(m_Value(a)))) return of_index(a);
    if (auto* cast = llvm::dyn_cast<llvm::CastInst>(index);
        cast && llvm::isa<llvm::SExtInst, llvm::ZExtInst>(cast) && cast->getSrcTy()->getScalarSizeInBits() >= 8) {
      narrow_.push_back({cast->getOperand(0), llvm::isa<llvm::SExtInst>(cast)});
      return of_index(cast->getOperand(0));
    }
    if (match(index, m_Add(m_Value(a), m_Value(b)))) {
      if (loop_.isLoopInvariant(a)) return of_index(b);
      if (loop_.isLoopInvariant(b)) return of_index(a);
    }
    if (!evolution_.isSCEVable(index->getType())) return false;
    const auto* turns = llvm::dyn_cast<llvm::SCEVAddRecExpr>(evolution_.getSCEV(index));
    return turns && turns->getLoop() == &loop_ && turns->isAffine() && turns->getStepRecurrence(evolution_)->isOne();
  }

  const llvm::Loop& loop_;
  llvm::ScalarEvolution& evolution_;
  llvm::SmallVector<Narrow, 2> narrow_;
};

/// A row or a number that a loop writes to the same place in all turns.
struct Output {
  Value* place;
  uint64_t bytes;
};

struct Strip {
  llvm::IntrinsicInst* gather;
  Instruction* question;  ///< which way it is; null: there is one way
  BasicBlock* on;         ///< where the ways meet
  llvm::SmallVector<Advance::Narrow, 2> narrow;
  llvm::SmallVector<Output, 2> outputs;

  Value* addresses() const { return gather->getArgOperand(0); }
  Value* mask() const { return gather->getArgOperand(1); }
  llvm::FixedVectorType* type() const { return llvm::cast<llvm::FixedVectorType>(gather->getType()); }
};

bool is_intrinsic(const Instruction& instruction, llvm::Intrinsic::ID id) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->getIntrinsicID() == id;
}

std::optional<Output> output_of(const llvm::Loop& loop, Instruction& instruction) {
  Value *place = nullptr, *what = nullptr;
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction); store && store->isSimple())
    place = store->getPointerOperand(), what = store->getValueOperand();
  else if (is_intrinsic(instruction, llvm::Intrinsic::masked_store))
    place = instruction.getOperand(1), what = instruction.getOperand(0);
  if (!place || !loop.isLoopInvariant(place)) return std::nullopt;
  return Output{place, instruction.getDataLayout().getTypeStoreSize(what->getType()).getFixedValue()};
}

/// What a loop writes. Nothing: it writes something else, or may.
std::optional<llvm::SmallVector<Output, 2>> outputs_of(const llvm::Loop& loop) {
  llvm::SmallVector<Output, 2> outputs;
  for (BasicBlock* block : loop.blocks())
    for (Instruction& instruction : *block) {
      if (!instruction.mayWriteToMemory() || is_fetch(instruction)) continue;
      const auto output = output_of(loop, instruction);
      if (!output) return std::nullopt;
      outputs.push_back(*output);
    }
  return outputs;
}

/// Whether it is the same in all turns, also where it is computed in each.
bool is_same(const llvm::Loop& loop, const Value* value, unsigned depth = 4) {
  if (loop.isLoopInvariant(value)) return true;
  const auto* instruction = llvm::cast<Instruction>(value);
  return depth > 0 && !llvm::isa<llvm::PHINode>(instruction) && !instruction->mayReadOrWriteMemory() &&
         !instruction->mayHaveSideEffects() &&
         llvm::all_of(instruction->operands(), [&](const Value* each) { return is_same(loop, each, depth - 1); });
}

/// Whether the loop comes to the block in each whole turn or in none: all come by, or whether they do is asked of what
/// is the same in all turns.
bool is_steady(const llvm::Loop& loop, const BasicBlock& block, const llvm::DominatorTree& tree, unsigned depth = 8) {
  if (tree.dominates(&block, loop.getLoopLatch())) return true;
  return depth > 0 && llvm::all_of(llvm::predecessors(&block), [&](const BasicBlock* before) {
           const Instruction* end = before->getTerminator();
           return (end->getNumSuccessors() == 1 || is_same(loop, end->getOperand(0))) &&
                  is_steady(loop, *before, tree, depth - 1);
         });
}

/// What is read of loops of which all of this is known.
class Strips {
 public:
  Strips(llvm::Function& function, llvm::FunctionAnalysisManager& analyses)
      : tree_(analyses.getResult<llvm::DominatorTreeAnalysis>(function)),
        evolution_(analyses.getResult<llvm::ScalarEvolutionAnalysis>(function)) {}

  llvm::SmallVector<Strip, 4> of(const llvm::Loop& loop) {
    llvm::SmallVector<Strip, 4> strips;
    const auto outputs = outputs_of(loop);
    if (!outputs) return strips;
    for (BasicBlock* block : loop.blocks())
      for (Instruction& instruction : *block)
        if (auto strip = strip_of(loop, instruction)) {
          strip->outputs = *outputs;
          strips.push_back(std::move(*strip));
        }
    return strips;
  }

 private:
  std::optional<Strip> strip_of(const llvm::Loop& loop, Instruction& instruction) {
    if (!is_intrinsic(instruction, llvm::Intrinsic::masked_gather)) return std::nullopt;
    auto* gather = llvm::cast<llvm::IntrinsicInst>(&instruction);
    Strip strip{.gather = gather, .question = nullptr, .on = nullptr, .narrow = {}, .outputs = {}};
    const unsigned bits = strip.type()->getScalarSizeInBits();
    if ((bits != 32 && bits != 64) || strip.type()->getElementType()->isPointerTy() ||
        !llvm::isPowerOf2_32(strip.type()->getNumElements()) || !loop.isLoopInvariant(strip.mask()))
      return std::nullopt;
    const auto* row = gather->hasOneUse() ? llvm::dyn_cast<llvm::PHINode>(gather->user_back()) : nullptr;
    if (row && row->hasMetadata(kOneRead)) {
      strip.on = gather->getParent()->getSingleSuccessor();
      if (strip.on != row->getParent()) return std::nullopt;
      strip.question = tree_.getNode(strip.on)->getIDom()->getBlock()->getTerminator();
      if (!loop.contains(strip.question) || !are_known_before(*strip.question, *row)) return std::nullopt;
    } else {
      strip.on = gather->getParent();
    }
    Advance advance(loop, evolution_);
    const BasicBlock* asked = strip.question ? strip.question->getParent() : strip.on;
    // A turn that is left in its midst may read, too, but is not counted.
    const BasicBlock* exit = loop.getExitingBlock();
    if (!is_steady(loop, *asked, tree_) || (exit != loop.getLoopLatch() && !tree_.properlyDominates(exit, asked)) ||
        !advance.of_addresses(strip.addresses(), *strip.type()->getElementType()))
      return std::nullopt;
    strip.narrow.assign(advance.narrow().begin(), advance.narrow().end());
    return strip;
  }

  /// Whether a further way from the question has what the others say at their end, but for the row.
  bool are_known_before(const Instruction& question, const llvm::PHINode& row) const {
    return llvm::all_of(row.getParent()->phis(), [&](const llvm::PHINode& each) {
      return &each == &row || llvm::all_of(each.incoming_values(),
                                           [&](const Value* value) { return tree_.dominates(value, &question); });
    });
  }

  const llvm::DominatorTree& tree_;
  llvm::ScalarEvolution& evolution_;
};

/// The K rows of K numbers each, which become columns: blocks of half the size change places, of a quarter, ...
void transpose(llvm::IRBuilder<>& builder, llvm::MutableArrayRef<Value*> rows) {
  const auto count = static_cast<unsigned>(rows.size());
  for (unsigned half = count / 2; half > 0; half /= 2) {
    llvm::SmallVector<int, 16> low(count), high(count);
    for (unsigned i = 0; i < count; ++i) {
      low[i] = static_cast<int>((i & half) == 0 ? i : count + i - half);
      high[i] = static_cast<int>((i & half) == 0 ? i + half : count + i);
    }
    for (unsigned i = 0; i < count; ++i) {
      if ((i & half) != 0) continue;
      Value *a = rows[i], *b = rows[i + half];
      rows[i] = builder.CreateShuffleVector(a, b, low);
      rows[i + half] = builder.CreateShuffleVector(a, b, high);
    }
  }
}

/// Of a loop, what its strips share.
struct Turns {
  Value* turn;   ///< 64 bits: how many there were
  Value* count;  ///< of whole ones, how many there are
};

class StripMaker {
 public:
  StripMaker(const Strip& strip, const Turns& turns, unsigned bits)
      : strip_(strip),
        turns_(turns),
        type_(strip.type()),
        lanes_(type_->getNumElements()),
        turns_of_strip_(std::min(lanes_, bits / type_->getScalarSizeInBits())),
        function_(*strip.gather->getFunction()) {
    llvm::IRBuilder<> builder(&*function_.getEntryBlock().getFirstInsertionPt());
    rows_ = builder.CreateAlloca(llvm::ArrayType::get(type_, turns_of_strip_));
    rows_->setAlignment(llvm::Align(64));
    filled_ = builder.CreateAlloca(builder.getInt64Ty());
  }

  /// Of how many turns the strip has rows: a number in memory, for llvm::PromoteMemToReg.
  llvm::AllocaInst* filled() const { return filled_; }

  void make(BasicBlock& preheader) {
    llvm::IRBuilder<> builder(preheader.getTerminator());
    builder.CreateStore(builder.getInt64(0), filled_);
    Value* may_fill = builder.CreateAnd(builder.CreateICmpUGE(turns_.count, builder.getInt64(turns_of_strip_)),
                                        are_all(builder, strip_.mask()));
    separate();
    BasicBlock* each = strip_.gather->getParent();
    BasicBlock* ask = each->splitBasicBlockBefore(strip_.gather, "strip.ask");
    test_ = before_->getSingleSuccessor();
    find_ways();
    move_to_test();
    strip_block_ = new_block("strip.row");
    BasicBlock *look = new_block("strip.look"), *fill = new_block("strip.fill");
    take_row_of_turn();
    llvm::IRBuilder<>(ask->getTerminator()).CreateCondBr(may_fill, look, each);
    ask->getTerminator()->eraseFromParent();
    look_at_strip(*look, *fill, *each);
    make_rows(*fill);
  }

 private:
  BasicBlock* new_block(const char* name) {
    return BasicBlock::Create(function_.getContext(), name, &function_, strip_.on);
  }

  /// Makes what is read a phi behind a block that asks nothing yet.
  void separate() {
    Instruction* gather = strip_.gather;
    if (strip_.question) {
      before_ = strip_.question->getParent();
      row_ = llvm::cast<llvm::PHINode>(gather->user_back());
      before_->splitBasicBlock(strip_.question, "strip.test");
      return;
    }
    before_ = gather->getParent();
    strip_.on = before_->splitBasicBlock(std::next(gather->getIterator()), "strip.on");
    BasicBlock* each = before_->splitBasicBlock(gather, "strip.each");
    llvm::IRBuilder<> builder(strip_.on, strip_.on->begin());
    row_ = builder.CreatePHI(type_, 2);
    gather->replaceAllUsesWith(row_);
    row_->addIncoming(gather, each);
  }

  /// What is computed for the question and the ways alone.
  void move_to_test() {
    for (Instruction& each : llvm::make_early_inc_range(llvm::reverse(*before_)))
      if (!each.isTerminator() && !llvm::isa<llvm::PHINode>(each) && !each.mayReadOrWriteMemory() &&
          !each.mayHaveSideEffects() && is_for_test(each))
        each.moveBefore(*test_, test_->getFirstInsertionPt());
  }

  /// Whether only the question, or a way, takes it.
  bool is_for_test(const Instruction& instruction) const {
    return llvm::all_of(instruction.users(), [&](const llvm::User* user) {
      return ways_.contains(llvm::cast<Instruction>(user)->getParent());
    });
  }

  /// The blocks from the question to where the ways meet.
  void find_ways() {
    llvm::SmallVector<BasicBlock*, 8> ends = {test_};
    while (!ends.empty()) {
      BasicBlock* block = ends.pop_back_val();
      if (block != strip_.on && ways_.insert(block).second) llvm::append_range(ends, llvm::successors(block));
    }
  }

  void take_row_of_turn() {
    llvm::IRBuilder<> builder(strip_block_);
    Value* behind = builder.CreateSub(builder.CreateLoad(builder.getInt64Ty(), filled_), turns_.turn);
    Value* which = builder.CreateSub(builder.getInt64(turns_of_strip_), behind);
    Value* row = builder.CreateAlignedLoad(type_, builder.CreateInBoundsGEP(type_, rows_, which), llvm::Align(64));
    builder.CreateBr(strip_.on);
    row_->addIncoming(row, strip_block_);
    for (llvm::PHINode& other : strip_.on->phis())
      if (&other != row_) other.addIncoming(other.getIncomingValueForBlock(strip_.gather->getParent()), strip_block_);

    llvm::IRBuilder<> question(before_->getTerminator());
    Value* has_row = question.CreateICmpULT(turns_.turn, question.CreateLoad(question.getInt64Ty(), filled_));
    question.CreateCondBr(has_row, strip_block_, test_);
    before_->getTerminator()->eraseFromParent();
  }

  /// A strip begins with the turn, or ends with the last one: of what was read before it may have some once more.
  void look_at_strip(BasicBlock& look, BasicBlock& fill, BasicBlock& each) {
    llvm::IRBuilder<> builder(&look);
    Value* turns = builder.getInt64(turns_of_strip_);
    Value* last = builder.CreateSub(turns_.count, turns);
    Value* turn = hidden_number(builder, turns_.turn);  // LLVM would compute what is made of it in each turn
    begin_ = builder.CreateBinaryIntrinsic(llvm::Intrinsic::umin, turn, last);
    back_ = builder.CreateSub(turn, begin_);
    llvm::SmallVector<Value*, 4> questions;
    for (const Advance::Narrow& narrow : strip_.narrow) questions.push_back(has_no_wrap(builder, narrow));
    for (const Output& output : strip_.outputs) questions.push_back(is_beside(builder, output));
    builder.CreateCondBr(questions.empty() ? builder.getTrue() : builder.CreateAnd(questions), &fill, &each);
  }

  /// Whether the number was no less by the turns that the strip goes back, and will be more by those to come.
  Value* has_no_wrap(llvm::IRBuilder<>& builder, const Advance::Narrow& narrow) {
    llvm::Type* type = narrow.number->getType();
    const unsigned bits = type->getScalarSizeInBits();
    const llvm::APInt least = narrow.is_signed ? llvm::APInt::getSignedMinValue(bits) : llvm::APInt::getZero(bits);
    const llvm::APInt most = narrow.is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
    Value* number = builder.CreateFreeze(narrow.number);
    Value* back = builder.CreateTrunc(back_, type->getScalarType());
    if (const auto* row = llvm::dyn_cast<llvm::FixedVectorType>(type))
      back = builder.CreateVectorSplat(row->getNumElements(), back);
    Value* before = builder.CreateSub(number, llvm::ConstantInt::get(type, least));
    Value* behind = builder.CreateSub(llvm::ConstantInt::get(type, most), number);
    Value* ahead = builder.CreateSub(llvm::ConstantInt::get(type, turns_of_strip_ - 1), back);
    Value* fits = builder.CreateAnd(builder.CreateICmpUGE(before, back), builder.CreateICmpUGE(behind, ahead));
    return type->isVectorTy() ? are_all(builder, fits) : fits;
  }

  /// Whether no lane's numbers of so many turns from here on are among what the loop writes.
  Value* is_beside(llvm::IRBuilder<>& builder, const Output& output) {
    const uint64_t number = type_->getScalarSizeInBits() / 8, bytes = number * turns_of_strip_;
    auto* integers = llvm::FixedVectorType::get(builder.getInt64Ty(), lanes_);
    Value* begins = builder.CreatePtrToInt(strip_.addresses(), integers);
    Value* reach = builder.CreatePtrToInt(output.place, builder.getInt64Ty());
    reach = builder.CreateSub(reach, builder.getInt64(bytes - 1));
    Value* distance = builder.CreateSub(begins, builder.CreateVectorSplat(lanes_, reach));
    return are_all(builder,
                   builder.CreateICmpUGE(distance, llvm::ConstantInt::get(integers, output.bytes + bytes - 1)));
  }

  static Value* are_all(llvm::IRBuilder<>& builder, Value* lanes) {
    const unsigned count = llvm::cast<llvm::FixedVectorType>(lanes->getType())->getNumElements();
    Value* bits = builder.CreateBitCast(lanes, builder.getIntNTy(count));
    return builder.CreateICmpEQ(bits, llvm::Constant::getAllOnesValue(bits->getType()));
  }

  void make_rows(BasicBlock& fill) {
    llvm::IRBuilder<> builder(&fill);
    auto* part = llvm::FixedVectorType::get(type_->getElementType(), turns_of_strip_);
    const llvm::Align alignment = strip_.gather->getParamAlign(0).valueOrOne();
    Value* places = builder.CreateGEP(type_->getElementType(), strip_.addresses(), builder.CreateNeg(back_));
    for (unsigned first = 0; first < lanes_; first += turns_of_strip_) {
      llvm::SmallVector<Value*, 16> rows(turns_of_strip_);
      for (unsigned i = 0; i < turns_of_strip_; ++i) {
        Value* place = builder.CreateExtractElement(places, first + i);
        auto* load = builder.CreateAlignedLoad(part, place, alignment);
        load->setAAMetadata(strip_.gather->getAAMetadata());
        rows[i] = load;
        fetch_line(builder, builder.CreateConstGEP1_64(part, place, kAhead), Level::First);
      }
      transpose(builder, rows);
      for (unsigned i = 0; i < turns_of_strip_; ++i) {
        Value* to = builder.CreateConstInBoundsGEP1_64(type_->getElementType(), rows_, i * lanes_ + first);
        builder.CreateAlignedStore(rows[i], to, llvm::Align(part->getPrimitiveSizeInBits().getFixedValue() / 8));
      }
    }
    builder.CreateStore(builder.CreateAdd(begin_, builder.getInt64(turns_of_strip_)), filled_);
    builder.CreateBr(strip_block_);
  }

  Strip strip_;
  Turns turns_;
  llvm::FixedVectorType* type_;
  unsigned lanes_, turns_of_strip_;
  llvm::Function& function_;
  llvm::AllocaInst *rows_, *filled_;
  llvm::SmallPtrSet<BasicBlock*, 16> ways_;
  BasicBlock *before_ = nullptr, *test_ = nullptr, *strip_block_ = nullptr;
  llvm::PHINode* row_ = nullptr;
  Value *begin_ = nullptr, *back_ = nullptr;  ///< of the strip: its first turn, and how long ago that was
};

/// Null: nobody knows how many turns there will be, or the loop has not the form for it.
const llvm::SCEV* turns_ahead(const llvm::Loop& loop, llvm::ScalarEvolution& evolution) {
  if (!loop.isInnermost() || !loop.getLoopPreheader() || !loop.getLoopLatch() || !loop.getExitingBlock())
    return nullptr;
  const llvm::SCEV* turns = evolution.getBackedgeTakenCount(&loop);
  return llvm::isa<llvm::SCEVCouldNotCompute>(turns) || turns->getType()->getScalarSizeInBits() > 64 ? nullptr : turns;
}

Turns count_turns(const llvm::Loop& loop, const llvm::SCEV& back, llvm::SCEVExpander& expander) {
  Instruction* before = loop.getLoopPreheader()->getTerminator();
  Value* count = expander.expandCodeFor(&back, back.getType(), before);
  llvm::IRBuilder<> builder(before);
  count = builder.CreateZExt(count, builder.getInt64Ty());
  // A loop that is left at the end of a turn has one more than it goes back; of 2^64 turns none ends.
  if (loop.getExitingBlock() == loop.getLoopLatch()) count = builder.CreateAdd(count, builder.getInt64(1));
  llvm::IRBuilder<> first(loop.getHeader(), loop.getHeader()->begin());
  llvm::PHINode* turn = first.CreatePHI(first.getInt64Ty(), 2, "turn");
  llvm::IRBuilder<> last(loop.getLoopLatch()->getTerminator());
  turn->addIncoming(first.getInt64(0), loop.getLoopPreheader());
  turn->addIncoming(last.CreateAdd(turn, last.getInt64(1)), loop.getLoopLatch());
  return {turn, count};
}

}  // namespace

void note_ways_of_one_read(Value& row) {
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&row))
    phi->setMetadata(kOneRead, llvm::MDNode::get(phi->getContext(), {}));
}

void take_strips(llvm::Function& function, llvm::FunctionAnalysisManager& analyses,
                 const llvm::TargetTransformInfo& target, size_t most) {
  const unsigned bits = register_bits(target);
  if (bits < 128) return;
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
  auto& evolution = analyses.getResult<llvm::ScalarEvolutionAnalysis>(function);
  struct Found {
    llvm::Loop* loop;
    const llvm::SCEV* back;
    llvm::SmallVector<Strip, 4> strips;
  };
  llvm::SmallVector<Found, 4> found;
  size_t count = 0;
  llvm::SCEVExpander expander(evolution, "turns");
  Strips strips(function, analyses);
  for (llvm::Loop* loop : analyses.getResult<llvm::LoopAnalysis>(function).getLoopsInPreorder()) {
    const llvm::SCEV* back = turns_ahead(*loop, evolution);
    if (!back || !expander.isSafeToExpandAt(back, loop->getLoopPreheader()->getTerminator())) continue;
    auto of_loop = strips.of(*loop);
    count += of_loop.size();
    if (!of_loop.empty()) found.push_back({loop, back, std::move(of_loop)});
  }
  if (count == 0 || count > most) return;
  llvm::SmallVector<llvm::AllocaInst*, 4> filled;
  // Before blocks are split, of which analyses know nothing.
  llvm::SmallVector<Turns, 4> turns;
  for (const Found& each : found) turns.push_back(count_turns(*each.loop, *each.back, expander));
  for (const auto& [each, of_loop] : llvm::zip_equal(found, turns)) {
    BasicBlock* preheader = each.loop->getLoopPreheader();
    for (const Strip& strip : each.strips) {
      StripMaker maker(strip, of_loop, bits);
      maker.make(*preheader);
      filled.push_back(maker.filled());
    }
  }
  llvm::DominatorTree tree(function);
  llvm::PromoteMemToReg(filled, tree);
  analyses.invalidate(function, llvm::PreservedAnalyses::none());
}

}  // namespace cupola::cpu::build
