#include "ptx/lower/memory_order.h"

// PTX ISA, "Data Movement and Conversion Instructions": ld, ldu, st, createpolicy. Cache and eviction hints change no
// result; addresses are aligned to the size of the whole access.

namespace cupola::ptx {

llvm::SyncScope::ID scope_of(const Emission& e) {
  using enum Modifier;
  if (e.has(Sys)) return llvm::SyncScope::System;
  return e.module.context().getOrInsertSyncScopeID(e.has(Cta) ? "block" : "device");
}

llvm::AtomicOrdering ordering_of(const Emission& e) {
  using enum Modifier;
  if (e.has(AcqRel)) return llvm::AtomicOrdering::AcquireRelease;
  if (e.has(Acquire)) return llvm::AtomicOrdering::Acquire;
  if (e.has(Release)) return llvm::AtomicOrdering::Release;
  if (e.has(Relaxed)) return llvm::AtomicOrdering::Monotonic;
  return llvm::AtomicOrdering::NotAtomic;
}

namespace {

constexpr unsigned kWidestAtomicBits = 128;
constexpr std::string_view kTooWide = "a vector has 128 bits at most; those of 256 bits need sm_100";

/// An access of the whole vector. Strong ones move words as wide as an atomic may be: programs publish a value and its
/// flag in one vector, which GPUs move at once.
struct Access {
  explicit Access(Emission& e)
      : count(e.form().vector()),
        bits(bits_of(e.type())),
        ordering(ordering_of(e)),
        is_volatile(e.any(Modifier::Volatile, Modifier::Mmio) || (e.is_volatile && !e.has(Modifier::Nc))) {}

  /// 256 bits are for sm_100.
  bool too_wide(const Emission& e) const { return count * bits > 128 && e.form().row->target < 100; }
  bool strong() const { return ordering != llvm::AtomicOrdering::NotAtomic; }
  unsigned word_bits() const { return std::min(count * bits, kWidestAtomicBits); }
  unsigned words() const { return count * bits / word_bits(); }
  /// Several words are relaxed, with a fence for all of them.
  llvm::AtomicOrdering word_ordering() const { return words() > 1 ? llvm::AtomicOrdering::Monotonic : ordering; }
  llvm::Align alignment() const { return llvm::Align(strong() ? word_bits() / 8 : count * bits / 8); }

  unsigned count, bits;
  llvm::AtomicOrdering ordering;
  bool is_volatile;
};

void load_strong(Emission& e, const Access& access, Value* pointer) {
  llvm::Type* word = e.b.getIntNTy(access.word_bits());
  const unsigned each = access.count / access.words();
  for (unsigned w = 0; w < access.words(); ++w) {
    llvm::LoadInst* load =
        e.b.CreateAlignedLoad(word, e.b.CreateConstGEP1_64(word, pointer, w), access.alignment(), access.is_volatile);
    load->setAtomic(access.word_ordering(), scope_of(e));
    for (unsigned i = 0; i < each; ++i)
      e.write(e.element(0, w * each + i),
              e.b.CreateTrunc(e.b.CreateLShr(load, uint64_t{i} * access.bits), e.b.getIntNTy(access.bits)), e.type());
  }
  if (access.words() > 1 && access.ordering == llvm::AtomicOrdering::Acquire)
    e.b.CreateFence(access.ordering, scope_of(e));
}

void store_strong(Emission& e, const Access& access, Value* pointer) {
  llvm::Type* word = e.b.getIntNTy(access.word_bits());
  const unsigned each = access.count / access.words();
  if (access.words() > 1 && access.ordering == llvm::AtomicOrdering::Release)
    e.b.CreateFence(access.ordering, scope_of(e));
  for (unsigned w = 0; w < access.words(); ++w) {
    Value* whole = llvm::ConstantInt::get(word, 0);
    for (unsigned i = 0; i < each; ++i) {
      Value* part = e.convert(e.read(e.element(1, w * each + i), e.type()), e.b.getIntNTy(access.bits));
      whole = e.b.CreateOr(whole, e.b.CreateShl(e.b.CreateZExt(part, word), uint64_t{i} * access.bits));
    }
    llvm::StoreInst* store =
        e.b.CreateAlignedStore(whole, e.b.CreateConstGEP1_64(word, pointer, w), access.alignment(), access.is_volatile);
    store->setAtomic(access.word_ordering(), scope_of(e));
  }
}

}  // namespace

namespace emit {

void load(Emission& e) {
  const Access access(e);
  if (access.too_wide(e)) return e.refuse(kTooWide);
  Value* pointer = e.address(1, e.form().space());
  if (access.strong()) return load_strong(e, access, pointer);
  llvm::Type* type = e.value_type(e.type());
  if (access.count > 1) type = llvm::FixedVectorType::get(type, access.count);
  Value* whole = e.b.CreateAlignedLoad(type, pointer, access.alignment(), access.is_volatile);
  if (access.count == 1) return e.write(0, whole);
  for (unsigned i = 0; i < access.count; ++i)
    e.write(e.element(0, i), e.b.CreateExtractElement(whole, uint64_t{i}), e.type());
}

void store(Emission& e) {
  const Access access(e);
  if (access.too_wide(e)) return e.refuse(kTooWide);
  Value* pointer = e.address(0, e.form().space());
  if (access.strong()) return store_strong(e, access, pointer);
  Value* whole = nullptr;
  if (access.count == 1) {
    whole = e.read(1);
  } else {
    whole = llvm::PoisonValue::get(llvm::FixedVectorType::get(e.value_type(e.type()), access.count));
    for (unsigned i = 0; i < access.count; ++i)
      whole = e.b.CreateInsertElement(whole, e.read(e.element(1, i), e.type()), uint64_t{i});
  }
  e.b.CreateAlignedStore(whole, pointer, access.alignment(), access.is_volatile);
}

/// createpolicy: a policy is a hint to caches; its bits are nobody's but theirs.
void cache_policy(Emission& e) {
  e.write(0, e.b.getInt64(0));
}

}  // namespace emit
}  // namespace cupola::ptx
