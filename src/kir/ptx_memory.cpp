#include "kir/ptx_emission.h"

namespace cupola::kir::ptx {
namespace {

/// "[a+4]" as a pointer of the instruction's space.
Value* address(const Emission& e, size_t i) {
  if (i >= e.count()) return nullptr;
  llvm::StringRef text = e.statement.operands[i];
  if (!text.consume_front("[") || !text.consume_back("]")) return nullptr;
  const auto [base, offset] = text.split('+');
  Value* place = e.registers.read(base.trim(), e.b.getInt64Ty());
  if (!place) return nullptr;
  if (!offset.empty()) {
    Value* more = e.registers.read(offset.trim(), e.b.getInt64Ty());
    if (!more) return nullptr;
    place = e.b.CreateAdd(place, more);
  }
  return space_of(e) == 5 ? nullptr : e.b.CreateIntToPtr(place, e.b.getPtrTy(space_of(e)));
}

/// ld and st. Cache and eviction hints change no result; .relaxed and stronger become atomic.
bool access(const Emission& e) {
  const bool loads = e.word(0) == "ld" || e.word(0) == "ldu";
  llvm::Type* type = e.type();
  Value* pointer = address(e, loads ? 1 : 0);
  if (!type || !pointer || e.has("param")) return false;
  const llvm::StringRef operand = e.statement.operands[loads ? 0 : 1];
  llvm::SmallVector<llvm::StringRef, 4> parts{operand};
  if (operand.starts_with("{")) parts = parts_of(operand);
  const llvm::Align alignment(type->getPrimitiveSizeInBits() / 8);
  const auto ordering = e.has("acquire")   ? llvm::AtomicOrdering::Acquire
                        : e.has("release") ? llvm::AtomicOrdering::Release
                        : e.has("relaxed") ? llvm::AtomicOrdering::Monotonic
                                           : llvm::AtomicOrdering::NotAtomic;
  const bool is_volatile = e.has("volatile") || (e.registers.is_volatile && !e.has("nc"));
  for (size_t i = 0; i < parts.size(); ++i) {
    Value* place = e.b.CreateConstGEP1_64(type, pointer, i);
    if (loads) {
      llvm::LoadInst* load = e.b.CreateAlignedLoad(type, place, alignment, is_volatile);
      load->setAtomic(ordering);
      Value* value = load;
      if (type->isIntegerTy() && e.is_signed() && type->getIntegerBitWidth() < 32)
        value = e.b.CreateSExt(load, e.b.getInt32Ty());
      e.registers.write(parts[i], value);
    } else {
      Value* value = e.registers.read(parts[i], type);
      if (!value) return false;
      e.b.CreateAlignedStore(value, place, alignment, is_volatile)->setAtomic(ordering);
    }
  }
  return true;
}

/// atom.OP d, [a], b and red.OP [a], b. Relaxed unless said otherwise.
bool atomic(const Emission& e) {
  const bool returns = e.word(0) == "atom";
  Value* pointer = address(e, returns ? 1 : 0);
  Value* value = e.read(returns ? 2 : 1);
  if (!pointer || !value || e.has("v2") || e.has("noftz")) return false;
  const auto ordering = e.has("acq_rel")   ? llvm::AtomicOrdering::AcquireRelease
                        : e.has("acquire") ? llvm::AtomicOrdering::Acquire
                        : e.has("release") ? llvm::AtomicOrdering::Release
                                           : llvm::AtomicOrdering::Monotonic;
  if (e.has("cas")) {
    Value* next = e.read(3);
    if (!next || !returns) return false;
    const auto failure = llvm::AtomicCmpXchgInst::getStrongestFailureOrdering(ordering);
    return e.write(e.b.CreateExtractValue(
        e.b.CreateAtomicCmpXchg(pointer, value, next, llvm::MaybeAlign(), ordering, failure), 0));
  }
  using Op = llvm::AtomicRMWInst::BinOp;
  Op op = Op::BAD_BINOP;
  for (const std::string& word : e.statement.words) {
    const Op found = llvm::StringSwitch<Op>(word)
                         .Case("add", e.is_float() ? Op::FAdd : Op::Add)
                         .Case("and", Op::And)
                         .Case("or", Op::Or)
                         .Case("xor", Op::Xor)
                         .Case("exch", Op::Xchg)
                         .Case("inc", Op::UIncWrap)
                         .Case("dec", Op::UDecWrap)
                         .Case("min", e.is_signed() ? Op::Min : Op::UMin)
                         .Case("max", e.is_signed() ? Op::Max : Op::UMax)
                         .Default(Op::BAD_BINOP);
    if (found != Op::BAD_BINOP) op = found;
  }
  if (op == Op::BAD_BINOP) return false;
  Value* old = e.b.CreateAtomicRMW(op, pointer, value, llvm::MaybeAlign(), ordering);
  return !returns || e.write(old);
}

bool fence(const Emission& e) {
  const Id::ID id = e.has("cta")                  ? Id::nvvm_membar_cta
                    : e.has("gl") || e.has("gpu") ? Id::nvvm_membar_gl
                                                  : Id::nvvm_membar_sys;
  return !e.has("proxy") && e.call(id, {});
}

/// bar.sync, bar.arrive, bar.warp.sync, barrier[.cta].sync
bool barrier(const Emission& e) {
  if (e.has("warp")) return e.count() == 1 && e.call(Id::nvvm_bar_warp_sync, {e.word32(0)});
  if (e.has("cluster") || e.has("red")) return false;
  if (e.has("arrive")) return e.call(Id::nvvm_barrier_cta_arrive_count, {e.word32(0), e.word32(1)});
  if (!e.has("sync")) return false;
  if (e.count() == 1) return e.call(Id::nvvm_barrier_cta_sync_all, {e.word32(0)});
  return e.call(Id::nvvm_barrier_cta_sync_count, {e.word32(0), e.word32(1)});
}

bool vote(const Emission& e) {
  if (!e.has("sync")) return false;
  const auto id = e.has("ballot") ? Id::nvvm_vote_ballot_sync
                  : e.has("all")  ? Id::nvvm_vote_all_sync
                  : e.has("any")  ? Id::nvvm_vote_any_sync
                                  : Id::nvvm_vote_uni_sync;
  return e.call(id, {e.word32(2), e.read(1, e.b.getInt1Ty())});
}

/// shfl.sync.KIND.b32 d[|p], a, b, c, mask
bool shuffle(const Emission& e) {
  if (!e.has("sync")) return false;
  const auto id = e.has("up")     ? Id::nvvm_shfl_sync_up_i32p
                  : e.has("down") ? Id::nvvm_shfl_sync_down_i32p
                  : e.has("bfly") ? Id::nvvm_shfl_sync_bfly_i32p
                                  : Id::nvvm_shfl_sync_idx_i32p;
  Value* arguments[] = {e.word32(4), e.word32(1), e.word32(2), e.word32(3)};
  if (llvm::is_contained(arguments, nullptr)) return false;
  Value* both = e.b.CreateIntrinsic(id, {}, arguments);
  const auto [value, predicate] = llvm::StringRef(e.statement.operands[0]).split('|');
  e.registers.write(value.trim(), e.b.CreateExtractValue(both, 0));
  if (!predicate.empty()) e.registers.write(predicate.trim(), e.b.CreateExtractValue(both, 1));
  return true;
}

bool redux(const Emission& e) {
  const auto id = e.has("add")   ? Id::nvvm_redux_sync_add
                  : e.has("and") ? Id::nvvm_redux_sync_and
                  : e.has("or")  ? Id::nvvm_redux_sync_or
                  : e.has("xor") ? Id::nvvm_redux_sync_xor
                  : e.has("min") ? (e.is_signed() ? Id::nvvm_redux_sync_min : Id::nvvm_redux_sync_umin)
                                 : (e.is_signed() ? Id::nvvm_redux_sync_max : Id::nvvm_redux_sync_umax);
  return e.call(id, {e.word32(1), e.word32(2)});
}

bool active_mask(const Emission& e) {
  return e.call(Id::nvvm_activemask, {});
}
bool sleep(const Emission& e) {
  return e.call(Id::nvvm_nanosleep, {e.word32(0)});
}
bool leave(const Emission& e) {
  return e.call(Id::nvvm_exit, {});
}
bool trap(const Emission& e) {
  return e.call(Id::trap, {});
}
bool hint(const Emission&) {
  return true;
}

constexpr Row kRows[] = {
    {"ld", access, false},
    {"ldu", access, false},
    {"st", access, false},
    {"atom", atomic, false},
    {"red", atomic, false},
    {"membar", fence, false},
    {"fence", fence, false},
    {"bar", barrier, false},
    {"barrier", barrier, false},
    {"vote", vote, false},
    {"shfl", shuffle, false},
    {"redux", redux, false},
    {"activemask", active_mask, false},
    {"nanosleep", sleep, false},
    {"exit", leave, false},
    {"trap", trap, false},
    {"brkpt", trap, false},  // as __brkpt(): no debugger is attached
    {"pmevent", hint, false},
    {"prefetch", hint, false},
    {"prefetchu", hint, false},
};

}  // namespace

llvm::ArrayRef<Row> memory_rows() {
  return kRows;
}

}  // namespace cupola::kir::ptx
