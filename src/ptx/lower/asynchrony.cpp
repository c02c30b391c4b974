#include "ptx/lower/emission.h"

// PTX ISA, "Asynchronous copy" and "mbarrier". Copies are done at once, which the later wait allows. The mbarrier
// object is src/device/asynchrony.cu's.

namespace cupola::ptx::emit {
namespace {

Value* mbarrier(Emission& e, size_t i) {
  return e.generic_address(i, e.form().space());
}

}  // namespace

/// cp.async [a], [b], bytes[, source bytes | ignore source][, policy]
void copy_async(Emission& e) {
  const auto bytes = static_cast<uint32_t>(e.constant(2));
  if ((bytes != 4 && bytes != 8 && bytes != 16) || (bytes != 16 && e.has(Modifier::Cg)))
    return e.refuse(".ca copies 4, 8 or 16 bytes, .cg 16");
  const size_t last = e.count() - (e.has(Modifier::L2CacheHint) ? 1 : 0);
  if (last == 3) {
    llvm::Type* word = e.b.getIntNTy(bytes * 8);
    const llvm::Align alignment(bytes);
    Value* value = e.b.CreateAlignedLoad(word, e.address(1, Space::Global), alignment);
    e.b.CreateAlignedStore(value, e.address(0, Space::Shared), alignment);
    return;
  }
  const bool ignores = e.operand_type(3) == Type::Pred;
  Value* source_bytes =
      ignores ? e.b.CreateSelect(e.read(3, Type::Pred), e.i32(0), e.i32(bytes)) : e.read(3, Type::U32);
  e.call_library(
      "__cupola_ptx_copy_async", e.b.getVoidTy(),
      {e.generic_address(0, Space::Shared), e.generic_address(1, Space::Global), e.i32(bytes), source_bytes});
}

void copy_commit(Emission&) {}
void copy_wait(Emission&) {}

/// cp.async.mbarrier.arrive: the copies are done, so the arrival is now. Without .noinc the pending count grows by the
/// one that arrives, which is nothing.
void copy_arrive(Emission& e) {
  if (!e.has(Modifier::Noinc)) return;
  Value* nothing = e.i32(0);
  e.call_library("__cupola_ptx_mbarrier_arrive", e.b.getInt64Ty(),
                 {mbarrier(e, 0), e.i32(1), nothing, nothing, e.i32(1)});
}

void mbarrier_init(Emission& e) {
  e.call_library("__cupola_ptx_mbarrier_init", e.b.getVoidTy(), {mbarrier(e, 0), e.read(1)});
}

/// mbarrier.inval: the memory is free for other use.
void mbarrier_invalidate(Emission&) {}

/// mbarrier.arrive[_drop][.expect_tx|.noComplete] state, [a][, count]
void mbarrier_arrive(Emission& e) {
  using enum Modifier;
  const bool expects = e.has(ExpectTx);
  Value* given = e.count() == 3 ? e.read(2) : e.i32(1);
  Value* state = e.call_library("__cupola_ptx_mbarrier_arrive", e.b.getInt64Ty(),
                                {mbarrier(e, 1), expects ? e.i32(1) : given, expects ? given : e.i32(0),
                                 e.i32(e.has(ArriveDrop)), e.i32(!e.has(NoComplete))});
  e.write(0, state);
}

void mbarrier_transactions(Emission& e) {
  Value* bytes = e.read(1);
  if (e.has(Modifier::CompleteTx)) bytes = e.b.CreateNeg(bytes);
  e.call_library("__cupola_ptx_mbarrier_transactions", e.b.getVoidTy(), {mbarrier(e, 0), bytes});
}

/// test_wait and try_wait, of a state or of a phase's parity. A time limit is one more reason to return false.
void mbarrier_wait(Emission& e) {
  using enum Modifier;
  Value* phase = e.has(Parity) ? e.b.CreateZExt(e.read(2, Type::U32), e.b.getInt64Ty()) : e.read(2, Type::B64);
  const llvm::StringRef name = e.has(TryWait) ? "__cupola_ptx_mbarrier_try_wait" : "__cupola_ptx_mbarrier_test_wait";
  Value* done = e.call_library(name, e.b.getInt32Ty(), {mbarrier(e, 1), phase, e.i32(e.has(Parity))});
  e.write(0, e.b.CreateIsNotNull(done));
}

void mbarrier_pending(Emission& e) {
  e.write(0, e.call_library("__cupola_ptx_mbarrier_pending", e.b.getInt32Ty(), {e.read(1)}));
}

}  // namespace cupola::ptx::emit
