#include "backend/cpu/build/memory_scopes.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "backend/cpu/build/test_program.h"

// Oracle: the scopes that the header promises.

namespace cupola::cpu::build::testing {
namespace {

TEST(MemoryScopes, FencesKeepTheStrengthTheirScopeNeeds) {
  llvm::LLVMContext context;
  auto module = parse(context, R"(
    define void @f(ptr %p) {
      fence syncscope("device") seq_cst
      fence seq_cst
      fence syncscope("block") seq_cst
      %a = atomicrmw add ptr %p, i32 1 syncscope("block") monotonic
      %b = load atomic i32, ptr %p syncscope("device") acquire, align 4
      fence syncscope("singlethread") seq_cst
      ret void
    })");
  lower_memory_scopes(*module);
  using namespace llvm::SyncScope;
  std::vector<int> scopes;
  for (llvm::Instruction& instruction : llvm::instructions(*module->getFunction("f")))
    if (auto scope = llvm::getAtomicSyncScopeID(&instruction)) scopes.push_back(*scope);
  EXPECT_EQ(scopes, (std::vector<int>{System, System, SingleThread, System, System, SingleThread}));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
