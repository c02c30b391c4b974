#include "backend/cpu/build/rows_in_step.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include "backend/cpu/build/test_program.h"
#include "kir/intrinsics.h"

// Where the warps of a block meet to go in step. That their threads write what they did is in tests/kernels/in_step.cu.

namespace cupola::cpu::build::testing {
namespace {

constexpr const char* kHead = R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.ctaid.x()
    declare i32 @cupola.ntid.x()
    declare float @llvm.fma.f32(float, float, float)
    declare void @other()
    %Pair = type { float, float }
    define void @k(ptr %p, ptr %q, ptr %r, ptr %s, i32 %n) {
      %t = call i32 @cupola.tid.x()
      %block = call i32 @cupola.ctaid.x()
      %width = call i32 @cupola.ntid.x()
      %begin = mul i32 %block, %width
      %i = add i32 %begin, %t
      %wide = sext i32 %i to i64
)";

/// A number of type float of the array, read as `%<name>`.
std::string read(const std::string& name, const std::string& array, const std::string& how = "load float") {
  return formatted("%at.{0} = getelementptr float, ptr %{1}, i64 %wide\n%{0} = {2}, ptr %at.{0}\n", name, array, how);
}
std::string write(const std::string& value, const std::string& array) {
  return formatted("%to.{0}.{1} = getelementptr float, ptr %{1}, i64 %wide\nstore float %{0}, ptr %to.{0}.{1}\n", value,
                   array);
}

const std::string kSum = read("a", "p") + read("b", "q") + "%c = fadd float %a, %b\n" + write("c", "q");

struct Found {
  size_t meetings;
  bool is_stream;
  uint32_t blocks;  ///< of a grid
};

Found found(const std::string& body, const Dim3& shape = {256}, bool asks = false) {
  llvm::LLVMContext context;
  const auto module = parse(context, kHead + body + "ret void\n}");
  llvm::Function& function = *module->getFunction("k");
  const bool is_stream = is_short_stream(function, shape, asks);
  const std::optional<uint32_t> blocks = meet_in_step(function, shape);
  EXPECT_FALSE(llvm::verifyFunction(function, &llvm::errs()));
  const auto count = llvm::count_if(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    return kir::intrinsic_of(instruction) == kir::Intrinsic::Barrier;
  });
  EXPECT_EQ(blocks.has_value(), count != 0);
  return {static_cast<size_t>(count), is_stream, blocks.value_or(0)};
}

TEST(RowsInStep, MeetBeforeTheNextArrayAndBeforeTheyWrite) {
  EXPECT_EQ(found(kSum).meetings, 2);
  EXPECT_TRUE(found(kSum).is_stream);
  EXPECT_EQ(found(kSum, {128}).meetings, 2);
  EXPECT_EQ(found(kSum + write("a", "r"), {128}).meetings, 3) << "what was read is written last, two numbers are kept";
}

TEST(RowsInStep, KeepNoMoreThanRegistersHold) {
  EXPECT_EQ(found(kSum, {512}).meetings, 0);
  EXPECT_EQ(found(kSum + write("a", "r")).meetings, 0) << "two numbers of a thread where the first is written";
}

TEST(RowsInStep, AreForGridsBeyondTheCaches) {
  EXPECT_EQ(found(kSum).blocks, (64 << 20) / (256 * 12)) << "a thread reads two numbers and writes one";
  EXPECT_EQ(found(kSum, {128}).blocks, (64 << 20) / (128 * 12));
}

TEST(RowsInStep, LeaveFieldsOfAStructureTogether) {
  const std::string pair = R"(
      %pair = getelementptr %Pair, ptr %p, i64 %wide
      %x = load float, ptr %pair
      %place = getelementptr %Pair, ptr %p, i64 %wide, i32 1
      %y = load float, ptr %place
      %z = fadd float %x, %y
)";
  EXPECT_EQ(found(pair + write("z", "q")).meetings, 0) << "one array is read";
  EXPECT_EQ(found(pair + read("b", "r") + "%c = fadd float %z, %b\n" + write("c", "q")).meetings, 2);
}

TEST(RowsInStep, AreInOnePieceOfCode) {
  EXPECT_EQ(
      found(read("a", "p") + "br label %on\non:\n" + read("b", "q") + "%c = fadd float %a, %b\n" + write("c", "q"))
          .meetings,
      0);
}

TEST(RowsInStep, AreNoneOfOtherCode) {
  for (const std::string& body :
       {read("a", "p") + write("a", "q"),  // a copy
        read("a", "p") + read("b", "q") + "%c = fadd float %a, %b\n", kSum + "call void @other()\n",
        read("v", "r", "load volatile float") + kSum, "fence seq_cst\n" + kSum,
        "%apart = mul i64 %wide, 9\n%far = getelementptr float, ptr %r, i64 %apart\n"
        "%f = load float, ptr %far\n" +
            kSum}) {
    SCOPED_TRACE(body);
    EXPECT_EQ(found(body).meetings, 0);
    EXPECT_FALSE(found(body).is_stream);
  }
  for (const Dim3& shape : {Dim3{64}, Dim3{130}, Dim3{128, 2}, Dim3{128, 1, 2}})
    EXPECT_EQ(found(kSum, shape).meetings, 0);
  std::string much = kSum;
  for (int i = 0; i < 40; ++i) much += formatted("%m{} = fadd float %a, {}.0\n", i, i);
  EXPECT_EQ(found(much).meetings, 0);
}

TEST(RowsInStep, MayReadWhatAllThreadsRead) {
  EXPECT_EQ(found("%all = load float, ptr %s\n" + read("a", "p") + read("b", "q") +
                  "%c = call float @llvm.fma.f32(float %a, float %all, float %b)\n" + write("c", "r"))
                .meetings,
            2);
}

TEST(RowsInStep, AreNoneWhereThreadsAreAskedButThenStreams) {
  const std::string asked =
      "%on = icmp slt i32 %i, %n\nbr i1 %on, label %some, label %over\nsome:\n" + kSum + "br label %over\nover:\n";
  EXPECT_EQ(found(asked, {256}, true).meetings, 0);
  EXPECT_TRUE(found(asked, {256}, true).is_stream);
  EXPECT_FALSE(found(asked).is_stream) << "asked for something else than its place";
}

}  // namespace
}  // namespace cupola::cpu::build::testing
