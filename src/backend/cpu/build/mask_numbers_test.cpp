#include "backend/cpu/build/mask_numbers.h"

#include <gmock/gmock.h>
#include <llvm/Target/TargetMachine.h>

#include "backend/cpu/build/object_file.h"
#include "kir/test_module.h"

// Oracle: the bits that were stored.

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kText = R"(
  define void @f(ptr %p, ptr %q) {
    %mask = load <32 x i1>, ptr %p, align 4
    %few = load <4 x i1>, ptr %p, align 1
    %others = xor <32 x i1> %mask, splat (i1 true)
    store <32 x i1> %others, ptr %q, align 4
    %next = getelementptr i8, ptr %q, i64 4
    store <4 x i1> %few, ptr %next, align 1
    ret void
  })";

TEST(MaskNumbers, MasksOfWholeBytesAreMovedAsNumbers) {
  kir::TestModule module(kText);
  move_masks_as_numbers(*module->getFunction("f"), **machine_for("cpu:x86_64:x86-64-v3"));
  EXPECT_THAT(module.text(), HasSubstr("load i32, ptr %p, align 4"));
  EXPECT_THAT(module.text(), Not(HasSubstr("load <32 x i1>")));
  EXPECT_THAT(module.text(), Not(HasSubstr("store <32 x i1>")));
  EXPECT_THAT(module.text(), HasSubstr("load <4 x i1>")) << "has bits that are no lane's";
  auto* move = module.function<void(const uint32_t*, uint32_t*)>("f");
  for (const uint32_t bits : {0u, ~0u, 1u, 0x80000000u, 0x12345678u}) {
    uint32_t moved[2] = {};
    move(&bits, moved);
    EXPECT_EQ(moved[0], ~bits);
  }
}

// LLVM takes a number apart bit by bit where it knows some of them.
TEST(MaskNumbers, NumbersBecomeMasksLaneByLane) {
  std::string text;
  for (const int lanes : {8, 16, 32, 64}) {
    const std::string n = std::to_string(lanes), mask = "<" + n + " x i1>", number = "i" + n;
    text += "define void @f" + n + "(ptr %p, ptr %q) {\n%n = load " + number + ", ptr %p\n%m = bitcast " + number +
            " %n to " + mask + "\n%v = zext " + mask + " %m to <" + n + " x i8>\nstore <" + n +
            " x i8> %v, ptr %q, align 1\nret void\n}\n";
  }
  kir::TestModule module(text);
  for (const int lanes : {8, 16, 32, 64})
    move_masks_as_numbers(*module->getFunction("f" + std::to_string(lanes)), **machine_for("cpu:x86_64:x86-64-v3"));
  EXPECT_THAT(module.text(), Not(HasSubstr("x i1>\n"))) << "no mask is cast from a number";
  for (const int lanes : {8, 16, 32, 64}) {
    auto* spread = module.function<void(const uint64_t*, uint8_t*)>("f" + std::to_string(lanes));
    for (const uint64_t bits : {0ull, ~0ull, 1ull, 0x8000000080008080ull, 0x123456789abcdef0ull}) {
      uint8_t found[64] = {};
      spread(&bits, found);
      for (int lane = 0; lane < lanes; ++lane) EXPECT_EQ(found[lane], bits >> lane & 1) << lanes << ' ' << lane;
    }
  }
}

TEST(MaskNumbers, NumbersThatAreOnlyAskedStayNumbers) {
  kir::TestModule module(R"(
    define i32 @f(ptr %p) {
      %mask = load <32 x i1>, ptr %p, align 4
      %bits = bitcast <32 x i1> %mask to i32
      ret i32 %bits
    })");
  move_masks_as_numbers(*module->getFunction("f"), **machine_for("cpu:x86_64:x86-64-v3"));
  EXPECT_THAT(module.text(), Not(HasSubstr("x i8>")));
  EXPECT_THAT(module.text(), Not(HasSubstr("x i1>")));
}

TEST(MaskNumbers, RegistersForMasksTakeThemAsTheyAre) {
  kir::TestModule module(kText);
  move_masks_as_numbers(*module->getFunction("f"), **machine_for("cpu:x86_64:x86-64-v4"));
  EXPECT_THAT(module.text(), HasSubstr("load <32 x i1>"));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
