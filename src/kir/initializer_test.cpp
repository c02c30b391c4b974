#include "kir/initializer.h"

#include <gmock/gmock.h>
#include <llvm/IR/Constants.h>

#include "base/format.h"
#include "kir/test_module.h"

// Oracle: the bytes that a C++ compiler gives the same initial value, and the addresses as written in the text.

namespace cupola::kir {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Rendered {
  std::vector<std::byte> bytes;
  std::vector<std::string> words;  ///< "offset: target+addend"
  Result<> result;
};

/// Renders the variable @v of the text.
Rendered render(const std::string& text) {
  TestModule module("target datalayout = \"" + std::string(kDataLayout) + "\"\n" + text);
  const llvm::GlobalVariable* variable = module->getGlobalVariable("v", true);
  const llvm::DataLayout& layout = module->getDataLayout();
  Rendered out{std::vector<std::byte>(layout.getTypeAllocSize(variable->getValueType())), {}, {}};
  out.result = render_initializer(*variable->getInitializer(), layout, out.bytes,
                                  [&](uint64_t offset, const llvm::GlobalValue& target, int64_t addend) -> Result<> {
                                    out.words.push_back(formatted("{}: {}+{}", offset, target.getName().str(), addend));
                                    return {};
                                  });
  return out;
}

TEST(Initializer, LaysStructsOutAsTheHostDoes) {
  struct S {
    char a;
    double b;
    short c[2];
    bool d;
    float e;
    __int128 f;
  };
  const Rendered out = render(
      "@v = global { i8, double, [2 x i16], i1, float, i128 } { i8 -2, double 0.1, [2 x i16] [i16 300, i16 -1], i1 "
      "true, "
      "float -0.0, i128 -3 }");
  ASSERT_TRUE(out.result);
  ASSERT_EQ(out.bytes.size(), sizeof(S));
  S expected;
  std::memset(&expected, 0, sizeof expected);
  expected.a = -2, expected.b = 0.1, expected.c[0] = 300, expected.c[1] = -1;
  expected.d = true, expected.e = -0.0f, expected.f = -3;
  EXPECT_EQ(std::memcmp(out.bytes.data(), &expected, sizeof expected), 0);
}

TEST(Initializer, ReportsAddressesThroughCastsOffsetsAndIntegers) {
  const Rendered out = render(R"(
    @t = addrspace(1) global [4 x i64] zeroinitializer
    @c = addrspace(4) constant { i32, [3 x i16] } zeroinitializer
    define void @f() { ret void }
    @v = global [5 x ptr] [
      ptr addrspacecast (ptr addrspace(1) @t to ptr),
      ptr getelementptr inbounds (i64, ptr addrspacecast (ptr addrspace(1) @t to ptr), i64 3),
      ptr addrspacecast (ptr addrspace(4) getelementptr ({ i32, [3 x i16] }, ptr addrspace(4) @c, i32 0, i32 1, i32 2) to ptr),
      ptr inttoptr (i64 add (i64 ptrtoint (ptr addrspace(1) @t to i64), i64 -8) to ptr),
      ptr @f])");
  ASSERT_TRUE(out.result);
  EXPECT_THAT(out.words, ElementsAre("0: t+0", "8: t+24", "16: c+8", "24: t+-8", "32: f+0"));
}

TEST(Initializer, RefusesATruncatedAddress) {
  const Rendered out = render("@t = addrspace(1) global i32 0\n@v = global i32 ptrtoint (ptr addrspace(1) @t to i32)");
  ASSERT_FALSE(out.result);
  EXPECT_THAT(out.result.error().message, HasSubstr("not a constant or an address"));
}

}  // namespace
}  // namespace cupola::kir
