#include "backend/cpu/build/vector_strides.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>
#include <numeric>

#include "backend/cpu/build/test_program.h"

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

/// Thread (x, y) copies element 3 * x of row y of %in to element 5 * (40 - x) of row y of %out, rows being of 512, and
/// element 7 * x of %in to element 3 * x of %last, where threads of all rows write.
std::string copies(std::string type) {
  std::string text = R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.tid.y()
    define ptx_kernel void @k(ptr %in, ptr %out, ptr %last) {
      %t = call i32 @cupola.tid.x()
      %s = call i32 @cupola.tid.y()
      %x = zext i32 %t to i64
      %y = zext i32 %s to i64
      %row = getelementptr [512 x T], ptr %in, i64 %y
      %from = getelementptr [3 x T], ptr %row, i64 %x
      %v = load T, ptr %from
      %far = sub i64 40, %x
      %to.row = getelementptr [512 x T], ptr %out, i64 %y
      %to = getelementptr [5 x T], ptr %to.row, i64 %far
      store T %v, ptr %to
      %shared = getelementptr [7 x T], ptr %in, i64 %x
      %w = load T, ptr %shared
      %b = bitcast T %w to BITS
      %n = trunc i32 %s to BITS
      %sum = xor BITS %b, %n
      %u = bitcast BITS %sum to T
      %to.shared = getelementptr [3 x T], ptr %last, i64 %x
      store T %u, ptr %to.shared
      ret void
    })";
  const auto put = [&](const std::string& name, const std::string& value) {
    for (size_t at = 0; (at = text.find(name, at)) != std::string::npos; at += value.size())
      text.replace(at, name.size(), value);
  };
  std::string bits = type == "float" ? "i32" : type == "double" ? "i64" : type == "half" ? "i16" : type;
  if (bits == "i64") put("trunc i32 %s", "zext i32 %s");
  if (bits == "i32") put("trunc i32 %s to BITS", "add i32 %s, 0");
  put("BITS", bits);
  put(" T", " " + type);
  put("x T]", "x " + type + "]");
  return text;
}

template <typename Bits>
void expect_copies(const std::string& type, Dim3 block) {
  TestProgram program(copies(type));
  std::vector<Bits> in(512 * block.y), out(512 * block.y, 1), last(512, 2);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<Bits>(i * 0x9e3779b97f4a7c15);
  std::vector<Bits> expected = out, expected_last = last;
  for (uint32_t y = 0; y < block.y; ++y)
    for (uint32_t x = 0; x < block.x; ++x) {
      expected[512 * y + 5 * (40 - x)] = in[512 * y + 3 * x];
      expected_last[3 * x] = static_cast<Bits>(in[7 * x] ^ y);
    }
  program.call_for_blocks("k", {1}, block, 1, in.data(), out.data(), last.data());
  EXPECT_EQ(out, expected) << type << ", rows of " << block.x;
  EXPECT_EQ(last, expected_last) << type << ", rows of " << block.x;
}

TEST(VectorStrides, EachLaneReadsAndWritesItsPlace) {
  for (const Dim3 block : {Dim3{32, 3}, Dim3{16, 4}, Dim3{8, 8}}) {
    expect_copies<uint8_t>("i8", block);
    expect_copies<uint16_t>("i16", block);
    expect_copies<uint16_t>("half", block);
    expect_copies<uint32_t>("i32", block);
    expect_copies<uint32_t>("float", block);
    expect_copies<uint64_t>("i64", block);
    expect_copies<uint64_t>("double", block);
  }
}

TEST(VectorStrides, TakeNoGather) {
  const std::string code = host_code(copies("float"));
  EXPECT_THAT(code, Not(HasSubstr("masked.gather")));
  EXPECT_THAT(code, Not(HasSubstr("masked.scatter")));
  EXPECT_THAT(code, Not(HasSubstr("cttz")));  // nor a loop over lanes
}

/// The code's size has a limit.
TEST(VectorStrides, AreNotTakenByVeryMany) {
  std::string text = copies("i32");
  std::string more;
  for (int i = 0; i < 40; ++i) {
    const std::string n = std::to_string(i);
    more += "%f" + n + " = getelementptr i32, ptr %from, i64 " + std::to_string(1000 * i) + "\n%g" + n +
            " = load volatile i32, ptr %f" + n + "\n";
  }
  text.insert(text.find("%far ="), more);
  const std::string code = host_code(text);
  size_t inserted = 0;
  for (size_t at = 0; (at = code.find("= insertelement <32 x i32>", at)) != std::string::npos; ++at) ++inserted;
  EXPECT_LE(inserted, 32u * 32u);
}

}  // namespace
}  // namespace cupola::cpu::build::testing
