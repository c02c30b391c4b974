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

/// What sums flush and how a minimum takes NaNs is the back-end's to know: one operation means the same from CUDA C++.
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
      {Modifier::Min, Op::UMin, Op::Min, Op::FMin},
      {Modifier::Max, Op::UMax, Op::Max, Op::FMax},
      {Modifier::Inc, Op::UIncWrap, Op::BAD_BINOP, Op::BAD_BINOP},
      {Modifier::Dec, Op::UDecWrap, Op::BAD_BINOP, Op::BAD_BINOP},
  };
  for (const Row& row : kRows)
    if (e.has(row.name))
      return holds_floats(e.type()) ? row.of_floats : is_signed(e.type()) ? row.of_signed : row.of_unsigned;
  return Op::BAD_BINOP;
}

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
  const Op op = operation(e);
  if (op == Op::BAD_BINOP) return e.refuse("the operation has no such type");
  llvm::Type* type = e.value_type(e.type());
  Value* pointer = e.address(at, e.form().space());
  for (unsigned i = 0; i < e.form().vector(); ++i) {
    Value* old =
        e.b.CreateAtomicRMW(op, e.b.CreateConstGEP1_64(type, pointer, i), e.read(e.element(at + 1, i), e.type()),
                            llvm::Align(bits_of(e.type()) / 8), atomic_ordering(e), scope_of(e));
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
