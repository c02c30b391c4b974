#include "backend/cpu/build/shared_atomics.h"

#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include "backend/cpu/build/test_program.h"

namespace cupola::cpu::build::testing {
namespace {

/// Atomic updates that are left of `text`, the body of a lowered function with the context, the shared window and some
/// pointer.
size_t left_of(const std::string& text) {
  llvm::LLVMContext context;
  const std::string window = std::to_string(offsetof(ThreadContext, shared_window));
  auto module = parse(
      context, "define i32 @f(ptr %context, ptr %p, i64 %i) {\n%field = getelementptr i8, ptr %context, i64 " + window +
                   "\n%window = load ptr, ptr %field, !invariant.load !0\n" + text + "\nret i32 %old }\n!0 = !{}");
  mark_shared_atomics(*module);
  lower_shared_atomics(*module);
  return static_cast<size_t>(llvm::count_if(llvm::instructions(*module->getFunction("f")),
                                            [](const llvm::Instruction& one) { return one.isAtomic(); }));
}

TEST(SharedAtomics, AreNoneWhereTheAddressIsInTheWindow) {
  const std::string cell = "%cell = getelementptr i32, ptr %window, i64 %i\n";
  EXPECT_EQ(left_of(cell + "%old = atomicrmw add ptr %cell, i32 1 monotonic"), 0u);
  EXPECT_EQ(left_of(cell + "%both = cmpxchg ptr %cell, i32 0, i32 1 monotonic monotonic\n"
                           "%old = extractvalue {i32, i1} %both, 0"),
            0u);
}

TEST(SharedAtomics, StayWhereItMayBeElsewhere) {
  EXPECT_EQ(left_of("%old = atomicrmw add ptr %p, i32 1 monotonic"), 1u);
  EXPECT_EQ(left_of("%which = icmp eq i64 %i, 0\n%either = select i1 %which, ptr %window, ptr %p\n"
                    "%old = atomicrmw add ptr %either, i32 1 monotonic"),
            1u);
  EXPECT_EQ(left_of("%module = getelementptr i8, ptr %context, i64 8\n"
                    "%data = load ptr, ptr %module, !invariant.load !0\n"
                    "%old = atomicrmw add ptr %data, i32 1 monotonic"),
            1u);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
