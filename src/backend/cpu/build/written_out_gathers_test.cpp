#include "backend/cpu/build/written_out_gathers.h"

#include <gmock/gmock.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <array>
#include <bit>
#include <vector>

#include "backend/cpu/build/object_file.h"
#include "backend/cpu/build/test_machine.h"
#include "backend/cpu/build/test_program.h"
#include "backend/cpu/build/vector_prefetch.h"
#include "kir/test_module.h"

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr unsigned kLanes = 16;

/// @f(base, places, row): gathers to the row (`is_gather`) or scatters it, numbers of a type at `address` of each lane,
/// which is made of the base and %i, the places. `is_computed`: what is scattered is, not read.
std::string text(bool is_gather, const std::string& type, const std::string& place, const std::string& address,
                 const std::string& mask = "splat (i1 true)", bool is_computed = false) {
  const std::string name =
      formatted("v16{}{}", type[0] == 'i' ? "i" : "f", type == "i64" || type == "double" ? 64 : 32);
  const std::string row = formatted("<16 x {}>", type);
  const std::string access =
      is_gather ? formatted(
                      "%v = call {0} @llvm.masked.gather.{1}.v16p0(<16 x ptr> align 4 %a, <16 x i1> {2}, {0} poison)\n"
                      "store {0} %v, ptr %row, align 4\n",
                      row, name, mask)
                : formatted(
                      "%r = load {0}, ptr %row, align 4\n%v = freeze {0} %r\n"
                      "call void @llvm.masked.scatter.{1}.v16p0({0} {3}, <16 x ptr> align 4 %a, <16 x i1> {2})\n",
                      row, name, mask, is_computed ? "%v" : "%r");
  return formatted(R"(
    define void @f(ptr %base, ptr %places, ptr %row) {{
      %i = load <16 x {}>, ptr %places, align 4
      {}
      {}
      ret void
    }})",
                   place, address, access);
}

std::string sum(const std::string& extension, const std::string& type) {
  const std::string far = extension.empty() ? "%far = add <16 x i64> %i, zeroinitializer\n"
                                            : formatted("%far = {} <16 x i32> %i to <16 x i64>\n", extension);
  return far + formatted("%a = getelementptr {}, ptr %base, <16 x i64> %far", type);
}

bool has_access(kir::TestModule& module) {
  return llvm::any_of(llvm::instructions(*module->getFunction("f")), [](const llvm::Instruction& each) {
    const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&each);
    return call && (call->getIntrinsicID() == llvm::Intrinsic::masked_gather ||
                    call->getIntrinsicID() == llvm::Intrinsic::masked_scatter);
  });
}

/// What @f reads or writes of memory around a base, by places of which some are equal and some are far.
template <typename Number, typename Place>
void expect_written_out(const std::string& type, const std::string& address, const std::array<Place, kLanes>& places,
                        uint64_t base_index) {
  for (const auto& [is_gather, is_computed] : {std::pair(true, false), {false, false}, {false, true}}) {
    SCOPED_TRACE(formatted("{} {}{}", address, is_gather ? "gather" : "scatter", is_computed ? " of sums" : ""));
    kir::TestModule module(
        text(is_gather, type, sizeof(Place) == 8 ? "i64" : "i32", address, "splat (i1 true)", is_computed));
    write_out_gathers(*module->getFunction("f"), *machine_of("znver4"));
    EXPECT_FALSE(has_access(module));
    std::array<Number, 64> memory{}, expected{};
    std::array<Number, kLanes> row{}, read{};
    for (size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<Number>(1000 + i);
    for (size_t lane = 0; lane < kLanes; ++lane) row[lane] = static_cast<Number>(lane);
    expected = memory;
    for (size_t lane = 0; lane < kLanes; ++lane) {
      const size_t index = static_cast<size_t>(static_cast<uint64_t>(places[lane]) + base_index);
      (is_gather ? read[lane] : expected[index]) = is_gather ? memory[index] : row[lane];
    }
    auto* f = module.function<void(uint64_t, const Place*, Number*)>("f");
    f(std::bit_cast<uint64_t>(memory.data()) + base_index * sizeof(Number), places.data(), row.data());
    EXPECT_EQ(memory, expected);
    if (is_gather) EXPECT_EQ(row, read);
  }
}

TEST(WrittenOutGathers, ReadAndWriteTheSamePlaces) {
  constexpr std::array<int32_t, kLanes> kSigned = {0, -1, 5, -20, 7, 7, 31, -32, 2, 3, -3, -20, 9, 30, 0, 1};
  expect_written_out<uint32_t, int32_t>("i32", sum("sext", "i32"), kSigned, 32);
  expect_written_out<float, int32_t>("float", sum("sext", "float"), kSigned, 32);
  expect_written_out<double, int32_t>("double", sum("sext", "double"), kSigned, 32);
  expect_written_out<uint64_t, int32_t>("i64", sum("sext", "i64"), kSigned, 32);
  std::array<uint32_t, kLanes> places{};
  for (size_t lane = 0; lane < kLanes; ++lane)
    places[lane] = 0x80000000u - 32 + static_cast<uint32_t>(lane * lane % 64);
  expect_written_out<uint32_t, uint32_t>("i32", sum("zext", "i32"), places, 32 - uint64_t{0x80000000});
  constexpr std::array<int64_t, kLanes> kWide = {0, -1, 5, -20, 7, 7, 31, -32, 2, 3, -3, -20, 9, 30, 0, 1};
  expect_written_out<float, int64_t>("float", sum("", "float"), kWide, 32);
}

// Code generation knows the bits of a pair of such places, and must not make the first one's of both.
TEST(WrittenOutGathers, ReadPlacesOfKnownBits) {
  kir::TestModule module(R"(
    define void @f(ptr %base, ptr %places, ptr %row) {
      %i = load <4 x i32>, ptr %places, align 4
      %few = and <4 x i32> %i, splat (i32 1)
      %near = or <4 x i32> %few, splat (i32 24)
      %far = sext <4 x i32> %near to <4 x i64>
      %a = getelementptr i32, ptr %base, <4 x i64> %far
      %v = call <4 x i32> @llvm.masked.gather.v4i32.v4p0(<4 x ptr> align 4 %a, <4 x i1> splat (i1 true), <4 x i32> poison)
      store <4 x i32> %v, ptr %row, align 4
      ret void
    })");
  write_out_gathers(*module->getFunction("f"), *machine_of("znver4"));
  EXPECT_FALSE(has_access(module));
  std::array<int32_t, 26> memory{};
  memory[24] = 7, memory[25] = 8;
  constexpr std::array<int32_t, 4> kPlaces = {25, 24, 24, 25};
  std::array<int32_t, 4> row{};
  module.function<void(const int32_t*, const int32_t*, int32_t*)>("f")(memory.data(), kPlaces.data(), row.data());
  EXPECT_EQ(row, (std::array<int32_t, 4>{8, 7, 7, 8}));
}

TEST(WrittenOutGathers, StayWhereTheProcessorIsFasterAtThem) {
  for (const bool is_gather : {true, false}) {
    kir::TestModule all(text(is_gather, "i32", "i32", sum("sext", "i32")));
    write_out_gathers(*all->getFunction("f"), *machine_of("sapphirerapids"));
    EXPECT_TRUE(has_access(all));
  }
}

TEST(WrittenOutGathers, AreReadsUnderMasksToo) {
  const std::string some = "%there = icmp slt <16 x i32> %i, splat (i32 9)\n" + sum("sext", "i32");
  const auto stays = [&](bool is_gather, const char* processor, const std::string& address) {
    kir::TestModule module(text(is_gather, "i32", address.contains("%far = add") ? "i64" : "i32", address, "%there"));
    write_out_gathers(*module->getFunction("f"), *machine_of(processor));
    return has_access(module);
  };
  EXPECT_FALSE(stays(true, "znver4", some));
  EXPECT_TRUE(stays(true, "znver3", some)) << "masks are vectors";
  EXPECT_TRUE(stays(true, "znver4", "%there = icmp slt <16 x i64> %i, splat (i64 9)\n" + sum("", "i32")));
  EXPECT_TRUE(stays(false, "znver4", some)) << "a write needs a place";
}

// Each lane's bit of %which says whether it is there; the others' places are no memory.
TEST(WrittenOutGathers, ReadNothingOfLanesThatAreNotThere) {
  kir::TestModule module(R"(
    define void @f(ptr %base, ptr %places, ptr %row, i32 %which) {
      %there = bitcast i32 %which to <32 x i1>
      %i = load <32 x i32>, ptr %places, align 4
      %far = sext <32 x i32> %i to <32 x i64>
      %a = getelementptr i32, ptr %base, <32 x i64> %far
      %before = load <32 x i32>, ptr %row, align 4
      %v = call <32 x i32> @llvm.masked.gather.v32i32.v32p0(<32 x ptr> align 4 %a, <32 x i1> %there, <32 x i32> %before)
      store <32 x i32> %v, ptr %row, align 4
      ret void
    })");
  write_out_gathers(*module->getFunction("f"), *machine_of("znver4"));
  EXPECT_FALSE(has_access(module));
  auto* f = module.function<void(uint64_t, const int32_t*, int32_t*, uint32_t)>("f");
  std::array<int32_t, 32> memory{};
  for (int32_t i = 0; i < 32; ++i) memory[i] = 100 + i;
  constexpr int32_t kFar = 1 << 28;  // from the base, in numbers; there is no memory at the base
  for (const uint32_t which : {0u, ~0u, 1u, 1u << 31, 0xffffu, 0xffff0000u, 0x8000u, 0x10000u, 0x12345678u}) {
    std::array<int32_t, 32> places{}, row{}, expected{};
    for (int32_t lane = 0; lane < 32; ++lane) {
      const bool is_there = which >> lane & 1;
      places[lane] = is_there ? kFar + lane * 7 % 32 : lane * 1000;
      row[lane] = -lane;
      expected[lane] = is_there ? memory[lane * 7 % 32] : -lane;
    }
    f(std::bit_cast<uint64_t>(memory.data()) - uint64_t{kFar} * sizeof(int32_t), places.data(), row.data(), which);
    EXPECT_EQ(row, expected) << std::hex << which;
  }
}

std::vector<llvm::IntrinsicInst*> fetches_of(kir::TestModule& module) {
  std::vector<llvm::IntrinsicInst*> fetches;
  for (llvm::Instruction& each : llvm::instructions(*module->getFunction("f")))
    if (is_fetch(each)) fetches.push_back(llvm::cast<llvm::IntrinsicInst>(&each));
  return fetches;
}

/// @f with 32 lanes, which scatters to places of %i and has room for the addresses of lines that it asks for.
std::string scatters(const std::string& address, const std::string& mask = "splat (i1 true)") {
  return formatted(R"(
    define void @f(ptr %base, ptr %places, ptr %asked) {{
      %i = load <32 x i32>, ptr %places, align 4
      {}
      call void @llvm.masked.scatter.v32i32.v32p0(<32 x i32> %i, <32 x ptr> align 4 %a, <32 x i1> {})
      ret void
    }})",
                   address, mask);
}

std::string places_of(const std::string& type, const std::string& base = "%base") {
  return formatted("%far = sext <32 x i32> %i to <32 x i64>\n%a = getelementptr {}, ptr {}, <32 x i64> %far\n", type,
                   base);
}

TEST(WrittenOutGathers, AskForTheLineBehindOneThatTheyBegin) {
  kir::TestModule module(scatters(places_of("i32")));
  write_out_gathers(*module->getFunction("f"), *machine_of("znver4"));
  const auto fetches = fetches_of(module);
  ASSERT_EQ(fetches.size(), 4u) << "two for each register";
  for (size_t i = 0; i < fetches.size(); ++i) {
    EXPECT_TRUE(llvm::cast<llvm::ConstantInt>(fetches[i]->getArgOperand(1))->isOne()) << "to write";
    llvm::IRBuilder<> builder(fetches[i]);
    llvm::Value* room = module->getFunction("f")->getArg(2);
    builder.CreateStore(fetches[i]->getArgOperand(0), builder.CreateConstGEP1_64(builder.getPtrTy(), room, i));
    fetches[i]->eraseFromParent();
  }
  std::array<int32_t, 32> places{};
  for (int32_t lane = 0; lane < 32; ++lane) places[lane] = 1 + lane;  // the 16th lane begins a line
  places[3] = -16, places[5] = 48, places[7] = 64;                    // and these, the last of them asks for nothing
  places[20] = 17, places[31] = 33;                                   // none there: the line behind the base
  std::vector<int32_t> memory(200);
  std::array<int32_t*, 4> asked{};
  int32_t* base = memory.data() + 100;
  module.function<void(int32_t*, const int32_t*, int32_t**)>("f")(base, places.data(), asked.data());
  EXPECT_EQ(asked, (std::array<int32_t*, 4>{base, base + 64, base + 16, base + 16}));
}

TEST(WrittenOutGathers, AskForLinesWhereTheyFillThem) {
  const auto lines = [](const std::string& code, const char* processor = "znver4") {
    kir::TestModule module(code);
    write_out_gathers(*module->getFunction("f"), *machine_of(processor));
    return fetches_of(module).size();
  };
  EXPECT_EQ(lines(scatters(places_of("i8"))), 4u) << "numbers of bytes";
  EXPECT_EQ(lines(scatters(places_of("{ i32, i32 }"))), 0u) << "each writes a part of what follows";
  EXPECT_EQ(lines(scatters("%some = icmp slt <32 x i32> %i, splat (i32 9)\n" + places_of("i32"), "%some")), 0u);
  EXPECT_EQ(lines(scatters(places_of("i32")), "znver3"), 0u) << "masks are vectors";
  EXPECT_EQ(lines(scatters(places_of("i32")), "sapphirerapids"), 0u);
  EXPECT_EQ(lines(text(true, "i32", "i32", sum("sext", "i32"))), 0u) << "reads";
  const std::string window = formatted("%at = getelementptr i8, ptr %base, i64 {}\n%w = load ptr, ptr %at\n",
                                       offsetof(image::cpu::ThreadContext, shared_window));
  EXPECT_EQ(lines(scatters(window + places_of("i32", "%w"))), 0u) << "shared memory";
  EXPECT_EQ(lines(scatters("%w = load ptr, ptr %base\n" + places_of("i32", "%w"))), 4u) << "another field";
}

/// @f, which reads or writes a row where `is_row`, else gathers or scatters; `other`: what it does with a row.
std::string looks_for_row(bool is_gather, const std::string& other) {
  const std::string row =
      is_gather ? "%v = phi <16 x i32> [ %r, %row ], [ %g, %none ]\nstore <16 x i32> %v, ptr %out\n" : "";
  const std::string access = is_gather
                                 ? "%g = call <16 x i32> @llvm.masked.gather.v16i32.v16p0(<16 x ptr> align 4 %a, "
                                   "<16 x i1> splat (i1 true), <16 x i32> poison)\n"
                                 : "call void @llvm.masked.scatter.v16i32.v16p0(<16 x i32> %x, <16 x ptr> align 4 "
                                   "%a, <16 x i1> splat (i1 true))\n";
  return R"(
    define void @f(ptr %base, <16 x i64> %far, <16 x i32> %x, ptr %out, i1 %is.row) {
      %a = getelementptr i32, ptr %base, <16 x i64> %far
      br i1 %is.row, label %row, label %none
    row:
      )" +
         other + "br label %on\nnone:\n" + access + "br label %on\non:\n" + row + "ret void\n}";
}

TEST(WrittenOutGathers, StayWhereNoRowWasFound) {
  const auto stays = [](const std::string& code) {
    kir::TestModule module(code);
    write_out_gathers(*module->getFunction("f"), *machine_of("znver4"));
    return has_access(module);
  };
  EXPECT_TRUE(stays(looks_for_row(true, "%r = load <16 x i32>, ptr %base, align 4\n")));
  EXPECT_TRUE(stays(looks_for_row(false, "store <16 x i32> %x, ptr %base, align 4\n")));
  EXPECT_FALSE(stays(looks_for_row(false, "store i32 1, ptr %out\n"))) << "another condition";
}

/// The assembly of @f after write_out_gathers for Zen 4; empty: this build has no code generation for x86-64.
std::string written_out_assembly(kir::TestModule& module) {
  const auto zen = machine_of("znver4");
  if (zen->getTargetTriple().getArch() != llvm::Triple::x86_64) return {};
  module->setTargetTriple(zen->getTargetTriple());
  module->setDataLayout(zen->createDataLayout());
  write_out_gathers(*module->getFunction("f"), *zen);
  return emit_assembly(*module, *zen);
}

TEST(WrittenOutGathers, TakeTwoPlacesAtATime) {
  kir::TestModule module(text(true, "i32", "i32", sum("sext", "i32")));
  const std::string code = written_out_assembly(module);
  if (code.empty()) GTEST_SKIP();
  EXPECT_THAT(code, Not(HasSubstr("vpgather")));
  EXPECT_THAT(code, HasSubstr("vpinsrd"));
  EXPECT_THAT(code, HasSubstr("sarq\t$32"));
}

// Code generation would add what all turns share to each place, beside the write.
TEST(WrittenOutGathers, AddAPlaceThatMovesInTheWrite) {
  kir::TestModule module(R"(
    define void @f(ptr %base, ptr %places, ptr %row) {
      %from = getelementptr i8, ptr %base, i64 1024
      br label %turn
    turn:
      %at = phi i32 [ 0, %0 ], [ %next, %turn ]
      %warp = lshr exact i32 %at, 5
      %wide = zext i32 %warp to i64
      %a.row = getelementptr inbounds nuw [256 x i32], ptr %from, i64 %wide
      %thread = zext i32 %at to i64
      %p = getelementptr i32, ptr %places, i64 %thread
      %i = load <16 x i32>, ptr %p, align 4
      %r = getelementptr i32, ptr %row, i64 %thread
      %v = load <16 x i32>, ptr %r, align 4
      %far = sext <16 x i32> %i to <16 x i64>
      %a = getelementptr i32, ptr %a.row, <16 x i64> %far
      call void @llvm.masked.scatter.v16i32.v16p0(<16 x i32> %v, <16 x ptr> align 4 %a, <16 x i1> splat (i1 true))
      %next = add nuw i32 %at, 32
      %on = icmp ult i32 %next, 256
      br i1 %on, label %turn, label %end
    end:
      ret void
    })");
  const std::string code = written_out_assembly(module);
  if (code.empty()) GTEST_SKIP();
  EXPECT_THAT(code, Not(HasSubstr("leaq")));
}

TEST(WrittenOutGathers, TakeWhatWasJustComputedOutOfMemory) {
  const auto has_room = [](bool is_computed) {
    kir::TestModule module(text(false, "i32", "i32", sum("sext", "i32"), "splat (i1 true)", is_computed));
    write_out_gathers(*module->getFunction("f"), *machine_of("znver4"));
    return module.text().contains("alloca");
  };
  EXPECT_TRUE(has_room(true));
  EXPECT_FALSE(has_room(false)) << "it is there";
}

}  // namespace
}  // namespace cupola::cpu::build::testing
