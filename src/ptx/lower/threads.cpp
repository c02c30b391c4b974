#include "ptx/lower/emission.h"

// PTX ISA, "Parallel Synchronization and Communication Instructions": barriers, and what a warp does together.

namespace cupola::ptx::emit {
namespace {

/// The lanes that an instruction without .sync works with: those that run it now.
Value* mask_or_active(Emission& e, size_t i) {
  return e.has(Modifier::Sync) ? e.read(i, Type::B32) : e.call(Id::nvvm_activemask, {});
}

/// "d|p": d gets the value, p the predicate, where they are asked for.
void write_both(Emission& e, Value* value, Value* predicate) {
  e.write(0, value);
  const Operand& whole = e.operand(0);
  if (whole.kind == Operand::Kind::Pair) e.write(e.f.operands[whole.index + 1], predicate, Type::Pred);
}

}  // namespace

/// bar.sync a [, b], bar.arrive a, b and barrier likewise.
void barrier(Emission& e) {
  Value* id = e.read(0);
  if (e.has(Modifier::Arrive))
    e.call(Id::nvvm_barrier_cta_arrive_count, {id, e.read(1)});
  else if (e.count() == 1)
    e.call(Id::nvvm_barrier_cta_sync_all, {id});
  else
    e.call(Id::nvvm_barrier_cta_sync_count, {id, e.read(1)});
}

/// bar.red.OP d, a [, b], p
void barrier_reduce(Emission& e) {
  using enum Modifier;
  Value* id = e.read(1);
  Value* predicate = e.read(e.count() - 1, Type::Pred);
  if (e.count() == 3) {
    const auto of_all = e.has(Popc)  ? Id::nvvm_barrier_cta_red_popc_all
                        : e.has(And) ? Id::nvvm_barrier_cta_red_and_all
                                     : Id::nvvm_barrier_cta_red_or_all;
    return e.write(0, e.call(of_all, {id, predicate}));
  }
  const auto of_some = e.has(Popc)  ? Id::nvvm_barrier_cta_red_popc_count
                       : e.has(And) ? Id::nvvm_barrier_cta_red_and_count
                                    : Id::nvvm_barrier_cta_red_or_count;
  e.write(0, e.call(of_some, {id, e.read(2), predicate}));
}

void warp_barrier(Emission& e) {
  e.call(Id::nvvm_bar_warp_sync, {e.read(0)});
}

/// shfl[.sync].KIND d[|p], a, b, c[, mask]
void shuffle(Emission& e) {
  using enum Modifier;
  const auto id = e.has(Up)     ? Id::nvvm_shfl_sync_up_i32p
                  : e.has(Down) ? Id::nvvm_shfl_sync_down_i32p
                  : e.has(Bfly) ? Id::nvvm_shfl_sync_bfly_i32p
                                : Id::nvvm_shfl_sync_idx_i32p;
  Value* both = e.call(id, {mask_or_active(e, 4), e.read(1), e.read(2), e.read(3)});
  write_both(e, e.b.CreateExtractValue(both, 0), e.b.CreateExtractValue(both, 1));
}

void vote(Emission& e) {
  using enum Modifier;
  const auto id = e.has(Ballot) ? Id::nvvm_vote_ballot_sync
                  : e.has(All)  ? Id::nvvm_vote_all_sync
                  : e.has(Any)  ? Id::nvvm_vote_any_sync
                                : Id::nvvm_vote_uni_sync;
  Value* predicate = e.read(1, Type::Pred);
  e.write(0, e.call(id, {mask_or_active(e, 2), predicate}));
}

void match(Emission& e) {
  const bool wide = bits_of(e.type()) == 64;
  Value* value = e.read(1);
  Value* mask = e.read(2);
  if (e.has(Modifier::Any))
    return e.write(0, e.call(wide ? Id::nvvm_match_any_sync_i64 : Id::nvvm_match_any_sync_i32, {mask, value}));
  Value* both = e.call(wide ? Id::nvvm_match_all_sync_i64p : Id::nvvm_match_all_sync_i32p, {mask, value});
  write_both(e, e.b.CreateExtractValue(both, 0), e.b.CreateExtractValue(both, 1));
}

void active_mask(Emission& e) {
  e.write(0, e.call(Id::nvvm_activemask, {}));
}

void reduce_warp(Emission& e) {
  using enum Modifier;
  const bool has_sign = is_signed(e.type());
  const auto id = e.has(Add)   ? Id::nvvm_redux_sync_add
                  : e.has(And) ? Id::nvvm_redux_sync_and
                  : e.has(Or)  ? Id::nvvm_redux_sync_or
                  : e.has(Xor) ? Id::nvvm_redux_sync_xor
                  : e.has(Min) ? (has_sign ? Id::nvvm_redux_sync_min : Id::nvvm_redux_sync_umin)
                               : (has_sign ? Id::nvvm_redux_sync_max : Id::nvvm_redux_sync_umax);
  e.write(0, e.call(id, {e.read(1), e.read(2)}));
}

/// elect.sync d|p, mask: the mask's lowest lane leads. No lane leads an empty mask, whose d is 32.
void elect(Emission& e) {
  Value* mask = e.read(1);
  e.call(Id::nvvm_bar_warp_sync, {mask});
  Value* leader = e.b.CreateBinaryIntrinsic(Id::cttz, mask, e.b.getFalse());
  write_both(e, leader, e.b.CreateICmpEQ(leader, e.call(Id::nvvm_read_ptx_sreg_laneid, {})));
}

}  // namespace cupola::ptx::emit
