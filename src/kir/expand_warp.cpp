#include <llvm/ADT/StringSwitch.h>

#include <optional>
#include <type_traits>
#include <utility>

#include "image/thread_operations.h"
#include "kir/expansion.h"

namespace cupola::kir {
namespace {

using image::BarrierOp;
using image::MatchOp;
using image::ReduxOp;
using image::ShuffleKind;
using image::VoteOp;
using llvm::Value;

Value* number(const Expansion& e, uint32_t value) {
  return e.b.getInt32(value);
}
template <typename Operation>
  requires std::is_enum_v<Operation>
Value* number(const Expansion& e, Operation operation) {
  return number(e, std::to_underlying(operation));
}

/// The low half of a service's result, and bit 32 as a predicate.
Value* low_half(const Expansion& e, Value* both) {
  return e.b.CreateTrunc(both, e.b.getInt32Ty());
}
Value* predicate_bit(const Expansion& e, Value* both) {
  return e.b.CreateTrunc(e.b.CreateLShr(both, 32), e.b.getInt1Ty());
}

/// Makes {value, predicate} if the call returns both, else the value.
Value* value_and_predicate(const Expansion& e, Value* value, Value* both) {
  if (!e.type()->isStructTy()) return value;
  Value* pair = e.b.CreateInsertValue(llvm::PoisonValue::get(e.type()), value, 0);
  return e.b.CreateInsertValue(pair, predicate_bit(e, both), 1);
}

/// barrier.cta.{sync,arrive,red.OP}[.aligned].{all,count}
Expanded cta_barrier(const Expansion& e) {
  if (e.words.size() < 3 || e.words[1] != "cta") return {};  // clusters
  const bool counted = e.words.back() == "count";
  Value* id = e.arg(0);
  Value* count = counted ? e.arg(1) : number(e, 0);
  if (e.words[2] == "sync") return e.intrinsic(Intrinsic::Barrier, {id, count});
  if (e.words[2] == "arrive") return e.intrinsic(Intrinsic::BarrierArrive, {id, count});
  if (e.words[2] != "red" || e.words.size() < 4) return {};
  const auto op = llvm::StringSwitch<BarrierOp>(e.words[3])
                      .Case("popc", BarrierOp::Popc)
                      .Case("and", BarrierOp::And)
                      .Default(BarrierOp::Or);
  Value* predicate = e.b.CreateZExt(e.arg(counted ? 2 : 1), e.b.getInt32Ty());
  Value* result = e.intrinsic(Intrinsic::BarrierReduce, {id, count, number(e, op), predicate});
  return e.type()->isIntegerTy(1) ? e.b.CreateIsNotNull(result) : result;
}

/// bar.warp.sync
Expanded warp_barrier(const Expansion& e) {
  if (e.words.size() != 3 || e.words[1] != "warp") return {};
  return e.intrinsic(Intrinsic::WarpSync, {e.arg(0)});
}

/// shfl.sync.KIND.{i32,f32}[p]; the forms without .sync are gone since sm_70.
Expanded shuffle(const Expansion& e) {
  if (e.words.size() != 4 || e.words[1] != "sync") return {};
  const auto kind = llvm::StringSwitch<ShuffleKind>(e.words[2])
                        .Case("up", ShuffleKind::Up)
                        .Case("down", ShuffleKind::Down)
                        .Case("bfly", ShuffleKind::Bfly)
                        .Default(ShuffleKind::Idx);
  Value* value = e.b.CreateBitCast(e.arg(1), e.b.getInt32Ty());
  Value* both = e.intrinsic(Intrinsic::Shuffle, {e.arg(0), number(e, kind), value, e.arg(2), e.arg(3)});
  Value* result = e.b.CreateBitCast(low_half(e, both), e.arg(1)->getType());
  return value_and_predicate(e, result, both);
}

/// vote.OP.sync
Expanded vote(const Expansion& e) {
  if (e.words.size() != 3 || e.words[2] != "sync") return {};
  const auto op = llvm::StringSwitch<VoteOp>(e.words[1])
                      .Case("all", VoteOp::All)
                      .Case("any", VoteOp::Any)
                      .Case("uni", VoteOp::Uni)
                      .Default(VoteOp::Ballot);
  Value* predicate = e.b.CreateZExt(e.arg(1), e.b.getInt32Ty());
  Value* result = e.intrinsic(Intrinsic::Vote, {e.arg(0), number(e, op), predicate});
  return e.type()->isIntegerTy(1) ? e.b.CreateIsNotNull(result) : result;
}

/// match.{any,all}.sync.{i32,i64}[p]
Expanded match(const Expansion& e) {
  Value* value = e.b.CreateZExt(e.arg(1), e.b.getInt64Ty());
  Value* both =
      e.intrinsic(Intrinsic::Match, {e.arg(0), number(e, e.words[1] == "all" ? MatchOp::All : MatchOp::Any), value});
  return value_and_predicate(e, low_half(e, both), both);
}

/// redux.sync.OP; the float forms need sm_100.
Expanded redux(const Expansion& e) {
  const auto op = llvm::StringSwitch<std::optional<ReduxOp>>(e.words.back())
                      .Case("add", ReduxOp::Add)
                      .Case("min", ReduxOp::Min)
                      .Case("max", ReduxOp::Max)
                      .Case("umin", ReduxOp::Umin)
                      .Case("umax", ReduxOp::Umax)
                      .Case("and", ReduxOp::And)
                      .Case("or", ReduxOp::Or)
                      .Case("xor", ReduxOp::Xor)
                      .Default(std::nullopt);
  if (!op || !e.type()->isIntegerTy(32)) return {};
  return e.intrinsic(Intrinsic::Redux, {e.arg(1), number(e, *op), e.arg(0)});
}

Expanded active_mask(const Expansion& e) {
  return e.intrinsic(Intrinsic::ActiveMask, {});
}
Expanded nanosleep(const Expansion& e) {
  return e.intrinsic(Intrinsic::Nanosleep, {e.arg(0)});
}
Expanded exit(const Expansion& e) {
  return e.intrinsic(Intrinsic::Exit, {});
}

constexpr ExpansionRow kRows[] = {
    {"barrier", cta_barrier}, {"bar", warp_barrier},       {"shfl", shuffle},        {"vote", vote}, {"match", match},
    {"redux", redux},         {"activemask", active_mask}, {"nanosleep", nanosleep}, {"exit", exit},
};

}  // namespace

llvm::ArrayRef<ExpansionRow> warp_expansions() {
  return kRows;
}

}  // namespace cupola::kir
