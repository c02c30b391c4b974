#include "ptx/lower/memory_order.h"

// PTX ISA, "Parallel Synchronization and Communication Instructions": atom, red, membar, fence.

namespace cupola::ptx::emit {
namespace {

using Op = llvm::AtomicRMWInst::BinOp;

/// Without .sem they are relaxed.
llvm::AtomicOrdering atomic_ordering(const Emission& e) {
  const llvm::AtomicOrdering given = ordering_of(e);
  return given == llvm::AtomicOrdering::NotAtomic ? llvm::AtomicOrdering::Monotonic : given;
}

bool holds_floats(Type type) {
  return is_float(type) || kind_of(type) == TypeKind::Pair;
}

Op operation(const Emission& e) {
  struct Row {
    Modifier name;
    Op of_unsigned, of_signed, of_floats;
  };
  constexpr Row kRows[] = {
      {Modifier::Add, Op::Add, Op::Add, Op::FAdd},
      {Modifier::And, Op::And, Op::And, Op::BAD_BINOP},
      {Modifier::Or, Op::Or, Op::Or, Op::BAD_BINOP},
      {Modifier::Xor, Op::Xor, Op::Xor, Op::BAD_BINOP},
      {Modifier::Exch, Op::Xchg, Op::Xchg, Op::BAD_BINOP},
      {Modifier::Min, Op::UMin, Op::Min, Op::BAD_BINOP},
      {Modifier::Max, Op::UMax, Op::Max, Op::BAD_BINOP},
      {Modifier::Inc, Op::UIncWrap, Op::BAD_BINOP, Op::BAD_BINOP},
      {Modifier::Dec, Op::UDecWrap, Op::BAD_BINOP, Op::BAD_BINOP},
  };
  for (const Row& row : kRows)
    if (e.has(row.name))
      return holds_floats(e.type()) ? row.of_floats : is_signed(e.type()) ? row.of_signed : row.of_unsigned;
  return Op::BAD_BINOP;
}

/// Replaces the element in memory by `next` of it, in a loop until nobody came between; what was there before.
template <typename Next>
Value* update(Emission& e, Value* pointer, llvm::Type* type, Next next) {
  llvm::Type* word = e.b.getIntNTy(type->getPrimitiveSizeInBits());
  const llvm::Align alignment(word->getIntegerBitWidth() / 8);
  llvm::LoadInst* first = e.b.CreateAlignedLoad(word, pointer, alignment);
  first->setAtomic(llvm::AtomicOrdering::Monotonic, scope_of(e));
  llvm::BasicBlock* before = e.b.GetInsertBlock();
  auto* loop = llvm::BasicBlock::Create(e.module.context(), "", &e.into);
  auto* done = llvm::BasicBlock::Create(e.module.context(), "", &e.into);
  e.start_block(loop);
  llvm::PHINode* seen = e.b.CreatePHI(word, 2);
  seen->addIncoming(first, before);
  Value* made = e.convert(next(e.convert(seen, type)), word);
  Value* pair = e.b.CreateAtomicCmpXchg(pointer, seen, made, alignment, atomic_ordering(e),
                                        llvm::AtomicOrdering::Monotonic, scope_of(e));
  seen->addIncoming(e.b.CreateExtractValue(pair, 0), loop);
  e.b.CreateCondBr(e.b.CreateExtractValue(pair, 1), done, loop);
  e.start_block(done);
  return e.convert(seen, type);
}

/// A denormal as a zero of its sign.
Value* flushed(Emission& e, Value* value) {
  Value* bits = e.convert(value, e.b.getInt32Ty());
  Value* denormal = e.b.CreateICmpEQ(e.b.CreateAnd(bits, e.i32(0x7f800000)), e.i32(0));
  return e.convert(e.b.CreateSelect(denormal, e.b.CreateAnd(bits, e.i32(0x80000000)), bits), value->getType());
}

/// What atomic sums do with what memory holds.
class Sum {
 public:
  /// f32 sums in global memory flush denormals, in shared memory they do not; a generic address tells when it is used.
  Sum(Emission& e, Value* pointer) : e_(e), flushes_(e.type() == Type::F32 && e.form().space() != Space::Shared) {
    if (flushes_ && e.form().space() == Space::Generic && e.form().vector() == 1)
      is_shared_ = e.call(Id::nvvm_isspacep_shared, {pointer});
  }

  /// In `update`, whose loop compares bits: as an atomicrmw of bfloat, a signalling NaN would never equal itself.
  Value* operator()(Value* seen, Value* value) const {
    if (!flushes_) return e_.b.CreateFAdd(seen, value);
    Value* result = flushed(e_, e_.b.CreateFAdd(flushed(e_, seen), flushed(e_, value)));
    return is_shared_ ? e_.b.CreateSelect(is_shared_, e_.b.CreateFAdd(seen, value), result) : result;
  }

 private:
  Emission& e_;
  bool flushes_;
  Value* is_shared_ = nullptr;  ///< for generic addresses; vectors lie in global memory
};

}  // namespace

/// atom OP d, [a], b and red OP [a], b; cas has c too.
void atomic(Emission& e) {
  const bool returns = e.opcode() == "atom";
  const size_t at = returns ? 1 : 0;
  const llvm::AtomicOrdering ordering = atomic_ordering(e);
  Value* pointer = e.address(at, e.form().space());
  Value* value = e.read(at + 1);
  if (e.has(Modifier::Cas)) {
    const auto failure = llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering);
    Value* pair =
        e.b.CreateAtomicCmpXchg(pointer, value, e.read(at + 2), llvm::MaybeAlign(), ordering, failure, scope_of(e));
    return e.write(0, e.b.CreateExtractValue(pair, 0));
  }
  if (holds_floats(e.type()) && bits_of(e.type()) != 64) {
    const Sum sum(e, pointer);
    Value* old = update(e, pointer, value->getType(), [&](Value* seen) { return sum(seen, value); });
    if (returns) e.write(0, old);
    return;
  }
  const Op op = operation(e);
  if (op == Op::BAD_BINOP) return e.refuse("the operation has no such type");
  const llvm::Align alignment(bits_of(e.type()) / 8);
  Value* old = e.b.CreateAtomicRMW(op, pointer, value, alignment, ordering, scope_of(e));
  if (returns) e.write(0, old);
}

/// atom and red of .v2, .v4 and .v8: each element for itself is atomic.
void atomic_vector(Emission& e) {
  const bool returns = e.opcode() == "atom";
  const size_t at = returns ? 1 : 0;
  llvm::Type* type = e.value_type(e.type());
  Value* pointer = e.address(at, e.form().space());
  const Sum sum(e, pointer);
  for (unsigned i = 0; i < e.form().vector(); ++i) {
    Value* value = e.read(e.element(at + 1, i), e.type());
    Value* old = update(e, e.b.CreateConstGEP1_64(type, pointer, i), type, [&](Value* seen) {
      if (e.has(Modifier::Add)) return sum(seen, value);
      const auto id = e.has(Modifier::Min) ? Id::minimumnum : Id::maximumnum;
      return static_cast<Value*>(e.b.CreateBinaryIntrinsic(id, seen, value));
    });
    if (returns) e.write(e.element(0, i), old, e.type());
  }
}

/// membar.LEVEL is fence.sc; fence without .sem is .acq_rel. Proxies share one memory here.
void fence(Emission& e) {
  using enum Modifier;
  if (e.has(Proxy)) return;
  const bool membar = e.opcode() == "membar";
  auto ordering = llvm::AtomicOrdering::AcquireRelease;
  if (membar || e.has(Sc)) ordering = llvm::AtomicOrdering::SequentiallyConsistent;
  e.b.CreateFence(ordering, scope_of(e));
}

}  // namespace cupola::ptx::emit
