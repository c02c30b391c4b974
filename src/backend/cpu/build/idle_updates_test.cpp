#include "backend/cpu/build/idle_updates.h"

#include <gtest/gtest.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "backend/cpu/build/test_program.h"
#include "kir/test_module.h"

// Oracle: the standard library's min and max.

namespace cupola::cpu::build::testing {
namespace {

bool looks(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), llvm::IsaPred<llvm::LoadInst>);
}

struct Update {
  const char* name;
  uint32_t (*of)(uint32_t a, uint32_t b);
};
constexpr Update kUpdates[] = {
    {"max", [](uint32_t a, uint32_t b) { return static_cast<uint32_t>(std::max(int32_t(a), int32_t(b))); }},
    {"min", [](uint32_t a, uint32_t b) { return static_cast<uint32_t>(std::min(int32_t(a), int32_t(b))); }},
    {"umax", [](uint32_t a, uint32_t b) { return std::max(a, b); }},
    {"umin", [](uint32_t a, uint32_t b) { return std::min(a, b); }},
};

TEST(IdleUpdates, LeaveWhatIsGreatestOrLeast) {
  for (const Update& update : kUpdates) {
    kir::TestModule module(formatted(
        "define void @f(ptr %p, i32 %v) {{ %old = atomicrmw {} ptr %p, i32 %v monotonic\n ret void }}", update.name));
    leave_out_idle_updates(*module->getFunction("f"));
    EXPECT_TRUE(looks(*module->getFunction("f")));
    auto* f = module.function<void(uint32_t*, uint32_t)>("f");
    constexpr uint32_t kNumbers[] = {0, 1, 7, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff};
    for (const uint32_t before : kNumbers)
      for (const uint32_t value : kNumbers) {
        uint32_t place = before;
        f(&place, value);
        EXPECT_EQ(place, update.of(before, value)) << update.name << " of " << before << " and " << value;
      }
  }
}

TEST(IdleUpdates, AreNoneWhereOthersMayTell) {
  for (const char* body :
       {"%old = atomicrmw max ptr %p, i32 %v monotonic\n store i32 %old, ptr %q",
        "%old = atomicrmw max ptr %p, i32 %v seq_cst", "%old = atomicrmw volatile max ptr %p, i32 %v monotonic",
        "%old = atomicrmw add ptr %p, i32 %v monotonic"}) {
    kir::TestModule module(formatted("define void @f(ptr %p, ptr %q, i32 %v) {{ {}\n ret void }}", body));
    leave_out_idle_updates(*module->getFunction("f"));
    EXPECT_FALSE(looks(*module->getFunction("f"))) << body;
  }
}

}  // namespace
}  // namespace cupola::cpu::build::testing
