#include <llvm/ADT/StringSwitch.h>

#include "kir/expansion.h"

namespace cupola::kir {
namespace {

using llvm::AtomicOrdering;
using llvm::AtomicRMWInst;
using llvm::Value;

llvm::SyncScope::ID scope(const Expansion& e, llvm::StringRef word) {
  llvm::LLVMContext& context = e.call.getContext();
  if (word == "cta") return context.getOrInsertSyncScopeID("block");
  if (word == "gl" || word == "gpu") return context.getOrInsertSyncScopeID("device");
  return llvm::SyncScope::System;
}

/// atomic.OP.gen.{i,f}.{cta,sys}. PTX's atom is relaxed. clang gives min and max of both signs the same name, so these
/// are refused.
Expanded atomic(const Expansion& e) {
  const llvm::SyncScope::ID id = scope(e, e.words.back());
  if (e.words[1] == "cas") {
    Value* pair = e.b.CreateAtomicCmpXchg(e.arg(0), e.arg(1), e.arg(2), llvm::MaybeAlign(), AtomicOrdering::Monotonic,
                                          AtomicOrdering::Monotonic, id);
    return e.b.CreateExtractValue(pair, 0);
  }
  const bool is_float = e.type()->isFloatingPointTy();
  const AtomicRMWInst::BinOp op = llvm::StringSwitch<AtomicRMWInst::BinOp>(e.words[1])
                                      .Case("add", is_float ? AtomicRMWInst::FAdd : AtomicRMWInst::Add)
                                      .Case("and", AtomicRMWInst::And)
                                      .Case("or", AtomicRMWInst::Or)
                                      .Case("xor", AtomicRMWInst::Xor)
                                      .Case("exch", AtomicRMWInst::Xchg)
                                      .Case("inc", AtomicRMWInst::UIncWrap)
                                      .Case("dec", AtomicRMWInst::UDecWrap)
                                      .Default(AtomicRMWInst::BAD_BINOP);
  if (op == AtomicRMWInst::BAD_BINOP) return {};
  return e.b.CreateAtomicRMW(op, e.arg(0), e.arg(1), llvm::MaybeAlign(), AtomicOrdering::Monotonic, id);
}

/// membar.{cta,gl,sys}, fence.sc.cluster
Expanded fence(const Expansion& e) {
  if (e.words[0] == "fence" && e.words[1] != "sc") return {};
  e.b.CreateFence(AtomicOrdering::SequentiallyConsistent, scope(e, e.words[0] == "fence" ? "gpu" : e.words[1]));
  return nullptr;
}

/// ldu.global.{i,f,p}(pointer, alignment)
Expanded load_uniform(const Expansion& e) {
  auto* alignment = llvm::dyn_cast<llvm::ConstantInt>(e.arg(1));
  if (!alignment || !alignment->getValue().isPowerOf2() || alignment->getZExtValue() > 256) return {};
  return e.b.CreateAlignedLoad(e.type(), e.arg(0), llvm::Align(alignment->getZExtValue()));
}

/// Constants lie in global memory here, so isspacep.global is true for them too.
Expanded is_space(const Expansion& e) {
  if (e.words[1] == "shared") return e.intrinsic(Intrinsic::IsShared, {e.arg(0)});
  if (e.words[1] == "local") return e.intrinsic(Intrinsic::IsLocal, {e.arg(0)});
  if (e.words[1] == "const") return e.intrinsic(Intrinsic::IsConstant, {e.arg(0)});
  if (e.words[1] != "global") return {};
  Value* other =
      e.b.CreateOr(e.intrinsic(Intrinsic::IsShared, {e.arg(0)}), e.intrinsic(Intrinsic::IsLocal, {e.arg(0)}));
  return e.b.CreateNot(other);
}

/// cp.async.{ca,cg}.shared.global.BYTES[.s](to, from[, source bytes]): copies at once, which the later wait allows. The
/// rest of the bytes is zero.
Expanded copy_async(const Expansion& e) {
  if (e.words.size() < 3 || e.words[1] != "async") return {};
  if (e.words[2] == "commit" || e.words[2] == "wait") return nullptr;  // nothing is ever under way
  unsigned bytes = 0;
  if (e.words.size() < 6 || e.words[5].getAsInteger(10, bytes)) return {};
  const llvm::Align alignment(bytes);
  if (e.call.arg_size() == 3) {
    e.b.CreateMemSet(e.arg(0), e.b.getInt8(0), bytes, alignment);
    Value* count = e.b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, e.arg(2), e.b.getInt32(bytes));
    e.b.CreateMemCpy(e.arg(0), alignment, e.arg(1), alignment, count);
    return nullptr;
  }
  llvm::Type* word = e.b.getIntNTy(bytes * 8);
  e.b.CreateAlignedStore(e.b.CreateAlignedLoad(word, e.arg(1), alignment), e.arg(0), alignment);
  return nullptr;
}

/// Hints that change no result.
Expanded hint(const Expansion&) {
  return nullptr;
}

constexpr ExpansionRow kRows[] = {
    {"atomic", atomic},      {"membar", fence},  {"fence", fence},         {"ldu", load_uniform},
    {"isspacep", is_space},  {"cp", copy_async}, {"prefetch", hint},       {"prefetchu", hint},
    {"applypriority", hint}, {"pm", hint},       {"griddepcontrol", hint},
};

}  // namespace

llvm::ArrayRef<ExpansionRow> memory_expansions() {
  return kRows;
}

}  // namespace cupola::kir
