// Every row of the expansion tables is reached by an intrinsic that LLVM has, and what it becomes is well formed. The
// values are in the tests of each table.

#include <gtest/gtest.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "kir/expansion.h"
#include "kir/passes.h"
#include "kir/test_module.h"

namespace cupola::kir {
namespace {

/// Declarations, without "@llvm.nvvm.".
constexpr const char* kSamples[] = {
    // registers
    "i32 read.ptx.sreg.tid.x()",
    "i1 is_explicit_cluster()",
    "i32 getctarank(ptr)",
    // warps
    "void barrier.cta.sync.aligned.all(i32)",
    "void bar.warp.sync(i32)",
    "i32 shfl.sync.idx.i32(i32, i32, i32, i32)",
    "i1 vote.all.sync(i32, i1)",
    "i32 match.any.sync.i32(i32, i32)",
    "i32 redux.sync.add(i32, i32)",
    "i32 activemask()",
    "void nanosleep(i32)",
    "void exit()",
    // floating point
    "float add.rn.f(float, float)",
    "float mul.rn.f(float, float)",
    "float div.rn.f(float, float)",
    "float fma.rn.f(float, float, float)",
    "float rcp.rn.f(float)",
    "float sqrt.rn.f(float)",
    "double rsqrt.approx.d(double)",
    "float sin.approx.f(float)",
    "float cos.approx.f(float)",
    "float ex2.approx.f32(float)",
    "float lg2.approx.f(float)",
    "double ceil.d(double)",
    "double floor.d(double)",
    "double trunc.d(double)",
    "double round.d(double)",
    "float fabs.ftz.f32(float)",
    "double saturate.d(double)",
    "bfloat neg.bf16(bfloat)",
    "<2 x half> fmin.f16x2(<2 x half>, <2 x half>)",
    "double fmax.d(double, double)",
    "i32 f2i.rn(float)",
    "i32 f2ui.rp(float)",
    "i64 f2ll.rm(float)",
    "i64 f2ull.rz(float)",
    "i32 d2i.rn(double)",
    "i32 d2ui.rn(double)",
    "i64 d2ll.rn(double)",
    "i64 d2ull.rn(double)",
    "double lohi.i2d(i32, i32)",
    "double i2d.rz(i32)",
    "double ui2d.rz(i32)",
    "double ll2d.rn(i64)",
    "double ull2d.rn(i64)",
    "float i2f.rn(i32)",
    "float ui2f.rn(i32)",
    "float ll2f.rn(i64)",
    "float ull2f.rn(i64)",
    "float d2f.rn(double)",
    "i16 f2h.rn(float)",
    "half f2f16.rn(float)",
    "bfloat f2bf16.rn(float)",
    "<2 x half> ff2f16x2.rn(float, float)",
    "<2 x bfloat> ff2bf16x2.rn(float, float)",
    // integers and bits
    "i64 mulhi.ll(i64, i64)",
    "i32 mul24.i(i32, i32)",
    "i32 sad.i(i32, i32, i32)",
    "i32 prmt(i32, i32, i32)",
    "i32 flo.u.i64(i64, i1)",
    "i32 bmsk.clamp(i32, i32)",
    "i32 sext.wrap(i32, i32)",
    "i32 zext.wrap(i32, i32)",
    "i32 fshl.clamp.i32(i32, i32, i32)",
    "i32 fshr.clamp.i32(i32, i32, i32)",
    "i32 idp4a.u.s(i32, i32, i32)",
    "i32 idp2a.u.s(i32, i32, i1, i32)",
    "float move.float(float)",
    // memory
    "i32 atomic.add.gen.i.cta.i32.p0(ptr, i32)",
    "void membar.gl()",
    "void fence.sc.cluster()",
    "i32 ldu.global.i.i32.p1(ptr addrspace(1), i32)",
    "i1 isspacep.global(ptr)",
    "void cp.async.wait.all()",
    "void prefetch.L1(ptr)",
    "void prefetchu.L1(ptr)",
    "void applypriority.L2.evict.normal(ptr)",
    "void pm.event.mask(i16)",
    "void griddepcontrol.wait()",
};

/// Calls the module's one intrinsic from a new function @f, with @f's parameters; integers are 1.
void call_it(llvm::Function& callee) {
  std::vector<llvm::Type*> types(callee.getFunctionType()->params().vec());
  auto* f = llvm::Function::Create(llvm::FunctionType::get(callee.getReturnType(), types, false),
                                   llvm::GlobalValue::ExternalLinkage, "f", *callee.getParent());
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(callee.getContext(), "", f));
  std::vector<llvm::Value*> arguments;
  for (unsigned i = 0; i < types.size(); ++i)
    arguments.push_back(types[i]->isIntegerTy() ? llvm::cast<llvm::Value>(llvm::ConstantInt::get(types[i], 1))
                                                : f->getArg(i));
  llvm::Value* result = b.CreateCall(&callee, arguments);
  if (result->getType()->isVoidTy())
    b.CreateRetVoid();
  else
    b.CreateRet(result);
}

TEST(Expansions, EveryRowIsReachedByAnIntrinsicOfLlvms) {
  llvm::StringSet<> reached;
  for (const llvm::StringRef sample : kSamples) {
    const size_t space = sample.rfind(' ', sample.find('('));
    const auto type = sample.take_front(space), name = sample.drop_front(space + 1);
    TestModule module(("declare " + type + " @llvm.nvvm." + name).str());
    llvm::Function& callee = *module->begin();
    EXPECT_NE(callee.getIntrinsicID(), llvm::Intrinsic::not_intrinsic) << name.str();
    call_it(callee);
    const Result<> expanded = expand_nvvm(*module);
    EXPECT_TRUE(expanded) << expanded.error().message;
    EXPECT_TRUE(callee.use_empty()) << name.str();
    EXPECT_FALSE(llvm::verifyModule(*module, &llvm::errs())) << name.str();
    reached.insert(name.take_until([](char c) { return c == '.' || c == '('; }));
  }
  for (const auto& table :
       {register_expansions(), warp_expansions(), math_expansions(), bit_expansions(), memory_expansions()})
    for (const ExpansionRow& row : table) EXPECT_TRUE(reached.contains(row.word)) << row.word;
}

}  // namespace
}  // namespace cupola::kir
