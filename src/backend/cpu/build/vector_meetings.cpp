#include "backend/cpu/build/vector_meetings.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsX86.h>
#include <llvm/IR/Module.h>
#include <llvm/TargetParser/Triple.h>
#include <llvm/Transforms/Utils/LoopUtils.h>

#include <numeric>
#include <utility>

#include "backend/cpu/build/register_bits.h"
#include "backend/cpu/build/thread_context.h"
#include "backend/cpu/build/vector_departures.h"
#include "backend/cpu/build/vector_lanes.h"
#include "image/thread_operations.h"
#include "image/warp_shuffle.h"
#include "kir/intrinsics.h"

namespace cupola::cpu::build {
namespace {

using image::BarrierOp;
using image::MatchOp;
using image::ShuffleKind;
using image::VoteOp;
using kir::Intrinsic;
using llvm::Type;
using llvm::Value;

class Meeting {
 public:
  Meeting(Lanes& lanes, const Departures& departures, llvm::CallInst& call)
      : lanes_(lanes), departures_(departures), builder_(lanes.builder), call_(call) {}

  bool write(Intrinsic intrinsic) {
    if (departures_.may_miss_members(call_)) expect(names_members(intrinsic) ? named() : number(~0u));
    switch (intrinsic) {
      case Intrinsic::Barrier:
        service(Service::barrier, {uniform(0), uniform(1), lanes_left()});
        return true;
      case Intrinsic::BarrierArrive:
        service(Service::barrier_arrive, {uniform(0), uniform(1), lanes_left()});
        return true;
      case Intrinsic::BarrierReduce: {
        define(service(Service::barrier_reduce, {uniform(0), uniform(1), uniform(2), votes(), lanes_left()}));
        return true;
      }
      case Intrinsic::GridSync:
        service(Service::grid_sync, {lanes_left()});
        return true;
      case Intrinsic::Nanosleep:
        service(Service::nanosleep, {builder_.getInt32(0)});
        return true;
      case Intrinsic::WarpSync:  // lanes run in step
        return true;
      case Intrinsic::ActiveMask:
        define(running());
        return true;
      case Intrinsic::Vote:
        define(vote());
        return true;
      case Intrinsic::Shuffle:
        define(shuffle());
        return true;
      case Intrinsic::Match:
        define(kir::does(call_, MatchOp::Any) ? match_any() : match_all());
        return true;
      case Intrinsic::Redux:
        define(lanes_.shape(call_.getArgOperand(0)).is_uniform() ? reduce_one_group() : reduce_groups());
        return true;
      case Intrinsic::WarpPublish:
        define(publish());
        return true;
      default:
        return false;
    }
  }

 private:
  Value* uniform(unsigned i) { return lanes_.scalar(call_.getArgOperand(i)); }
  Value* vector(unsigned i) { return lanes_.vector(call_.getArgOperand(i)); }
  uint64_t constant(unsigned i) const { return llvm::cast<llvm::ConstantInt>(call_.getArgOperand(i))->getZExtValue(); }
  void define(Value* value) { lanes_.define(call_, value); }
  Value* number(uint32_t value) { return builder_.getInt32(value); }
  Value* count(Value* bits) { return builder_.CreateUnaryIntrinsic(llvm::Intrinsic::ctpop, bits); }
  Type* words() { return widened(builder_.getInt32Ty()); }

  Value* service(Service which, llvm::ArrayRef<Value*> arguments) {
    return call_service(builder_, lanes_.context, which, arguments);
  }

  /// The lanes that do the operation.
  Value* running() {
    Value* mask = lanes_.mask();
    return mask ? lanes_.bits(mask) : number(~0u);
  }

  /// How many lanes of the warp have not left: a warp waits as one.
  Value* lanes_left() {
    Value* live = lanes_.live();
    return live ? count(lanes_.bits(live)) : number(kLanes);
  }

  /// Those who say yes at a barrier. Who went another way does not say no.
  Value* votes() {
    Value* yes = count(builder_.CreateAnd(ballot(3), running()));
    if (!lanes_.shapes.is_masked(lanes_.current)) return yes;
    Value* elsewhere = builder_.CreateSub(lanes_left(), count(running()));
    return builder_.CreateSelect(builder_.CreateICmpEQ(uniform(2), number(std::to_underlying(BarrierOp::And))),
                                 builder_.CreateAdd(yes, elsewhere), yes);
  }

  /// All that a lane names which is there.
  Value* named() {
    if (lanes_.shape(call_.getArgOperand(0)).is_uniform()) return uniform(0);
    return builder_.CreateOrReduce(
        builder_.CreateSelect(lanes_.mask(), vector(0), llvm::Constant::getNullValue(words())));
  }

  /// Under divergence: members that are neither here nor gone, and will meet elsewhere, never come.
  void expect(Value* members) {
    Value* live = lanes_.live();
    if (live) members = builder_.CreateAnd(members, lanes_.bits(live));
    if (Value* departed = lanes_.departed())
      members = builder_.CreateAnd(members, builder_.CreateNot(lanes_.bits(departed)));
    Value* missing = builder_.CreateAnd(members, builder_.CreateNot(running()));
    llvm::BasicBlock *stuck = lanes_.make_block("stuck"), *on = lanes_.make_block("on");
    builder_.CreateCondBr(builder_.CreateICmpNE(missing, number(0)), stuck, on);
    builder_.SetInsertPoint(stuck);
    service(Service::warp_sync, {missing});
    builder_.CreateUnreachable();
    builder_.SetInsertPoint(on);
  }

  /// The lanes whose operand is not zero.
  Value* ballot(unsigned operand) {
    Value* value = builder_.CreateFreeze(vector(operand));  // lanes may not be there
    return lanes_.bits(builder_.CreateICmpNE(value, llvm::Constant::getNullValue(value->getType())));
  }

  // ---- votes; the result is a vector where the members are one ----

  Value* vote() {
    Value* all = running();
    Value* said = builder_.CreateAnd(ballot(2), all);
    Value* members = call_.getArgOperand(0);
    if (lanes_.shape(members).is_uniform()) {
      members = lanes_.scalar(members);
    } else {
      members = lanes_.vector(members);
      all = lanes_.splat(all);
      said = lanes_.splat(said);
    }
    said = builder_.CreateAnd(said, members);
    all = builder_.CreateAnd(all, members);
    Value* zero = llvm::Constant::getNullValue(said->getType());
    const auto truth = [&](Value* is_true) { return builder_.CreateZExt(is_true, said->getType()); };
    switch (static_cast<VoteOp>(constant(1) & 3)) {
      case VoteOp::All:
        return truth(builder_.CreateICmpEQ(said, all));
      case VoteOp::Any:
        return truth(builder_.CreateICmpNE(said, zero));
      case VoteOp::Uni:
        return truth(builder_.CreateOr(builder_.CreateICmpEQ(said, all), builder_.CreateICmpEQ(said, zero)));
      case VoteOp::Ballot:
        break;
    }
    return said;
  }

  // ---- shuffles ----

  struct Sources {
    Value *lane, *valid;
  };

  Value* shuffle() {
    const auto kind = static_cast<ShuffleKind>(constant(1) & 3);
    const auto *b = llvm::dyn_cast<llvm::ConstantInt>(call_.getArgOperand(3)),
               *c = llvm::dyn_cast<llvm::ConstantInt>(call_.getArgOperand(4));
    const Sources from =
        b && c ? known_sources(kind, static_cast<uint32_t>(b->getZExtValue()), static_cast<uint32_t>(c->getZExtValue()))
               : sources(kind);
    Value *own = vector(2), *value = permute(own, from.lane);
    if (Value* mask = lanes_.mask()) {  // what is not there cannot be read
      Value* there =
          builder_.CreateTrunc(builder_.CreateLShr(lanes_.splat(lanes_.bits(mask)), from.lane), mask->getType());
      value = builder_.CreateSelect(there, value, own);
    }
    Type* wide = widened(builder_.getInt64Ty());
    Value* valid = builder_.CreateShl(builder_.CreateZExt(from.valid, wide), uint64_t{32});
    return builder_.CreateOr(builder_.CreateZExt(value, wide), valid);
  }

  Sources known_sources(ShuffleKind kind, uint32_t b, uint32_t c) {
    llvm::SmallVector<uint32_t, kLanes> from;
    llvm::SmallVector<llvm::Constant*, kLanes> valid;
    for (uint32_t lane = 0; lane < kLanes; ++lane) {
      const image::ShuffleSource source = image::shuffle_source(kind, b, c, lane);
      from.push_back(source.lane);
      valid.push_back(builder_.getInt1(source.valid));
    }
    return {llvm::ConstantDataVector::get(builder_.getContext(), from), llvm::ConstantVector::get(valid)};
  }

  /// image::shuffle_source, of vectors.
  Sources sources(ShuffleKind kind) {
    const auto low = [&](Value* value) { return builder_.CreateAnd(value, lanes_.splat(number(31))); };
    Value *lane = lanes_.lane_numbers(builder_.getInt32Ty()), *b = low(vector(3)), *c = vector(4);
    Value* segment = low(builder_.CreateLShr(c, uint64_t{8}));
    Value *outside = builder_.CreateNot(segment), *first = builder_.CreateAnd(lane, segment);
    Value* last = builder_.CreateOr(first, builder_.CreateAnd(low(c), outside));
    Value* source = nullptr;
    if (kind == ShuffleKind::Up)
      source = builder_.CreateSub(lane, b);
    else if (kind == ShuffleKind::Down)
      source = builder_.CreateAdd(lane, b);
    else if (kind == ShuffleKind::Bfly)
      source = builder_.CreateXor(lane, b);
    else
      source = builder_.CreateOr(first, builder_.CreateAnd(b, outside));
    Value* valid =
        kind == ShuffleKind::Up ? builder_.CreateICmpSGE(source, last) : builder_.CreateICmpULE(source, last);
    return {builder_.CreateSelect(valid, source, lane), valid};
  }

  /// Element from[i] of `value` for each i; `from` lies in 0 to 31.
  Value* permute(Value* value, Value* from) {
    if (auto* known = llvm::dyn_cast<llvm::ConstantDataVector>(from)) {
      llvm::SmallVector<int, kLanes> order;
      for (unsigned i = 0; i < kLanes; ++i) order.push_back(static_cast<int>(known->getElementAsInteger(i)));
      return builder_.CreateShuffleVector(value, order);
    }
    if (has_permutes()) return permute_halves(value, from);
    llvm::AllocaInst* place = lanes_.slot(value->getType(), "permuted");
    builder_.CreateStore(value, place);
    Value* addresses = builder_.CreateInBoundsGEP(builder_.getInt32Ty(), place, from);
    return builder_.CreateMaskedGather(value->getType(), addresses, llvm::Align(4));
  }

  /// AVX-512 takes each of 16 words from any place of two registers.
  bool has_permutes() const {
    const llvm::Triple& triple = lanes_.from.getParent()->getTargetTriple();
    return triple.getArch() == llvm::Triple::x86_64 && register_bits(lanes_.target) == 512;
  }

  Value* permute_halves(Value* value, Value* from) {
    constexpr unsigned kHalf = kLanes / 2;
    const auto half = [&](Value* wide, unsigned first) {
      llvm::SmallVector<int, kHalf> order(kHalf);
      std::iota(order.begin(), order.end(), static_cast<int>(first));
      return builder_.CreateShuffleVector(wide, order);
    };
    Type* type = value->getType();
    Value* bits = builder_.CreateBitCast(value, words());
    Value *low = half(bits, 0), *high = half(bits, kHalf), *results[2] = {};
    for (unsigned i = 0; i < 2; ++i)
      results[i] = builder_.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {},
                                            {low, half(from, i * kHalf), high});
    llvm::SmallVector<int, kLanes> both(kLanes);
    std::iota(both.begin(), both.end(), 0);
    return builder_.CreateBitCast(builder_.CreateShuffleVector(results[0], results[1], both), type);
  }

  // ---- groups of lanes ----

  /// Goes through groups that `group_of(first lane)` names, as bits, until each running lane was in one; `visit(group)`
  /// gives the result of its lanes.
  template <typename GroupOf, typename Visit>
  Value* each_group(Type* type, GroupOf group_of, Visit visit) {
    Value* all = running();
    llvm::BasicBlock *before = builder_.GetInsertBlock(), *turn = lanes_.make_block("group"),
                     *on = lanes_.make_block("on");
    builder_.CreateBr(turn);
    builder_.SetInsertPoint(turn);
    llvm::PHINode *left = builder_.CreatePHI(builder_.getInt32Ty(), 2), *result = builder_.CreatePHI(type, 2);
    left->addIncoming(all, before);
    result->addIncoming(llvm::Constant::getNullValue(type), before);
    Value* lane = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, left, builder_.getTrue());
    Value* own = builder_.CreateShl(number(1), lane);
    Value* group = builder_.CreateOr(builder_.CreateAnd(group_of(lane), left), own);
    Value* of_group = visit(group);
    Value* next = builder_.CreateSelect(lanes_.from_bits(group), of_group, result);
    Value* rest = builder_.CreateAnd(left, builder_.CreateNot(group));
    left->addIncoming(rest, turn);
    result->addIncoming(next, turn);
    builder_.CreateCondBr(builder_.CreateICmpNE(rest, number(0)), turn, on);
    builder_.SetInsertPoint(on);
    return next;
  }

  Value* equal_to(Value* values, Value* value) {
    return lanes_.bits(builder_.CreateICmpEQ(values, lanes_.splat(value)));
  }

  Value* match_any() {
    Value *values = builder_.CreateFreeze(vector(2)), *members = vector(0), *all = running();
    Value* same = each_group(
        words(), [&](Value* lane) { return equal_to(values, builder_.CreateExtractElement(values, lane)); },
        [&](Value* group) { return lanes_.splat(builder_.CreateAnd(group, all)); });
    Value* own = builder_.CreateShl(lanes_.splat(number(1)), lanes_.lane_numbers(builder_.getInt32Ty()));
    return builder_.CreateZExt(builder_.CreateAnd(same, builder_.CreateOr(members, own)),
                               widened(builder_.getInt64Ty()));
  }

  Value* match_all() {
    Value *values = builder_.CreateFreeze(vector(2)), *members = builder_.CreateAnd(uniform(0), running());
    Value* lane = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, running(), builder_.getTrue());
    Value* first = builder_.CreateBinaryIntrinsic(llvm::Intrinsic::cttz, members, builder_.getFalse());
    lane = builder_.CreateSelect(builder_.CreateICmpULT(first, number(kLanes)), first, lane);
    Value* same = equal_to(values, builder_.CreateExtractElement(values, lane));
    Value* agree = builder_.CreateICmpEQ(builder_.CreateAnd(same, members), members);
    Value* answer =
        builder_.CreateOr(builder_.CreateZExt(members, builder_.getInt64Ty()), builder_.getInt64(uint64_t{1} << 32));
    return lanes_.splat(builder_.CreateSelect(agree, answer, builder_.getInt64(0)));
  }

  // ---- reductions ----

  Value* reduce_one_group() { return reduced(builder_.CreateAnd(uniform(0), running())); }

  Value* reduce_groups() {
    Value* members = vector(0);
    return each_group(
        words(), [&](Value* lane) { return builder_.CreateExtractElement(members, lane); },
        [&](Value* group) { return lanes_.splat(reduced(group)); });
  }

  /// The values of the lanes of `group` combined.
  Value* reduced(Value* group) {
    static constexpr llvm::Intrinsic::ID kOperations[] = {
        // by ReduxOp
        llvm::Intrinsic::vector_reduce_add,  llvm::Intrinsic::vector_reduce_smin, llvm::Intrinsic::vector_reduce_smax,
        llvm::Intrinsic::vector_reduce_umin, llvm::Intrinsic::vector_reduce_umax, llvm::Intrinsic::vector_reduce_and,
        llvm::Intrinsic::vector_reduce_or,   llvm::Intrinsic::vector_reduce_xor,
    };
    const llvm::Intrinsic::ID operation = kOperations[constant(1) & 7];
    Value* neutral = llvm::getReductionIdentity(operation, builder_.getInt32Ty(), llvm::FastMathFlags());
    Value* values = builder_.CreateSelect(lanes_.from_bits(group), vector(2), lanes_.splat(neutral));
    return builder_.CreateUnaryIntrinsic(operation, values);
  }

  // ---- matrices ----

  /// Each lane's words, one lane's after the other's, where none of them changes them; zeros of lanes that are not
  /// there.
  Value* publish() {
    const uint64_t bytes = 4 * constant(1);
    auto* table = lanes_.slot(llvm::ArrayType::get(builder_.getInt8Ty(), kLanes * bytes), "published");
    table->setAlignment(llvm::Align(64));
    Value *from = vector(0), *mask = lanes_.mask();
    if (mask) builder_.CreateMemSet(table, builder_.getInt8(0), kLanes * bytes, llvm::Align(64));
    llvm::BasicBlock* on = nullptr;
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      if (mask) {
        llvm::BasicBlock* copy = lanes_.make_block("publish");
        on = lanes_.make_block("on");
        builder_.CreateCondBr(builder_.CreateExtractElement(mask, lane), copy, on);
        builder_.SetInsertPoint(copy);
      }
      Value* place = builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), table, lane * bytes);
      builder_.CreateMemCpy(place, llvm::Align(4), builder_.CreateExtractElement(from, lane), llvm::Align(4), bytes);
      if (!mask) continue;
      builder_.CreateBr(on);
      builder_.SetInsertPoint(on);
    }
    return table;
  }

  Lanes& lanes_;
  const Departures& departures_;
  llvm::IRBuilder<>& builder_;
  llvm::CallInst& call_;
};

}  // namespace

std::optional<Intrinsic> meeting_of(const llvm::Instruction& instruction) {
  const auto intrinsic = kir::intrinsic_of(instruction);
  if (!intrinsic || kir::effect_of(*intrinsic) != kir::Effect::kSync) return std::nullopt;
  if (*intrinsic == Intrinsic::ActiveMask || *intrinsic == Intrinsic::Nanosleep) return std::nullopt;
  return intrinsic;
}

bool names_members(Intrinsic meeting) {
  using enum Intrinsic;
  return meeting == WarpSync || meeting == Vote || meeting == Shuffle || meeting == Match || meeting == Redux;
}

bool is_of_warp(Intrinsic meeting) {
  return names_members(meeting) || meeting == Intrinsic::WarpPublish;
}

bool widen_meeting(Lanes& lanes, const Departures& departures, llvm::CallInst& call) {
  const auto intrinsic = kir::intrinsic_of(call);
  return intrinsic && Meeting(lanes, departures, call).write(*intrinsic);
}

}  // namespace cupola::cpu::build
