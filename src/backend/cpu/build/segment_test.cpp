#include "backend/cpu/build/segment.h"

#include <gmock/gmock.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Target/TargetMachine.h>

#include <cmath>

#include "backend/cpu/build/object_file.h"
#include "backend/cpu/build/test_program.h"

// Objects made from plain host IR, without the passes before. Oracles: what the functions return when called, and the
// names in the messages.

namespace cupola::cpu::build::testing {
namespace {

using ::testing::HasSubstr;

Result<Segment> pack_text(const std::string& text) {
  llvm::LLVMContext context;
  auto module = parse(context, text);
  TRY(const std::unique_ptr<llvm::TargetMachine> machine, machine_for("cpu:test"));
  TRY(retarget(*module, *machine));
  TRY(const std::unique_ptr<llvm::MemoryBuffer> object, emit_object(*module, *machine));
  return pack_segment(object->getMemBufferRef());
}

TEST(Segment, CodeReachesItsConstantsFunctionsAndImports) {
  auto segment = pack_text(R"(
    @table = internal constant [4 x double] [double 1.5, double 2.5, double 3.5, double 4.5]
    declare double @pow(double, double)
    define internal double @pick(i64 %i) noinline optnone {
      %p = getelementptr double, ptr @table, i64 %i
      %v = load double, ptr %p
      ret double %v
    }
    define dso_local double @f(i64 %i, double %x) nounwind {
      %v = call double @pick(i64 %i)
      %r = call double @pow(double %v, double %x)
      %s = call double @pow(double %r, double 0.3)
      ret double %s
    })");
  ASSERT_TRUE(segment) << segment.error().message;
  EXPECT_EQ(segment->imports.size(), 1u);
  EXPECT_EQ(segment->slots_offset % 4096, 0u);
  EXPECT_EQ(segment->imports[0].slot, segment->slots_offset);
  image::KernelImage image;
  image.segment = segment->bytes;
  image.slots_offset = segment->slots_offset;
  image.imports = segment->imports;
  auto loaded = image::LoadedSegment::load(image);
  ASSERT_TRUE(loaded) << loaded.error().message;
  using F = double (*)(int64_t, double);
  const auto f = reinterpret_cast<F>(const_cast<void*>((*loaded)->at(segment->symbols.at("f"))));
  EXPECT_EQ(f(2, 0.7), std::pow(std::pow(3.5, 0.7), 0.3));
}

TEST(Segment, RefusesWhatIsNotPositionIndependentOrNotClosed) {
  const auto message = [](const char* text) {
    auto packed = pack_text(text);
    return packed ? std::string("packed") : packed.error().message;
  };
  EXPECT_THAT(message("@x = dso_local global i32 5\ndefine i32 @f() { %v = load i32, ptr @x\n ret i32 %v }"),
              HasSubstr("writable section '.data'"));
  EXPECT_THAT(message("declare i32 @system(ptr)\ndefine i32 @f() { %v = call i32 @system(ptr null)\n ret i32 %v }"),
              HasSubstr("calls 'system'"));
  EXPECT_THAT(
      message("@t = internal constant [2 x ptr] [ptr @f, ptr @g]\ndefine i32 @g() { ret i32 1 }\n"
              "define ptr @f(i64 %i) { %p = getelementptr ptr, ptr @t, i64 %i\n %v = load ptr, ptr %p\n ret ptr %v }"),
      HasSubstr("writable section '.data.rel.ro"));
}

TEST(Retarget, RefusesAStructureThatTheHostLaysOutOtherwise) {
  auto packed = pack_text(
      "%S = type { i8, i256 }\ndefine i8 @f(ptr %p) { %q = getelementptr %S, ptr %p, i64 1\n"
      " %v = load i8, ptr %q\n ret i8 %v }");
  ASSERT_FALSE(packed);
  EXPECT_THAT(packed.error().message, HasSubstr("'S' is laid out differently"));
}

}  // namespace
}  // namespace cupola::cpu::build::testing
