#include "image/loader.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <fstream>
#include <sstream>

#include "image/library_calls.h"
#include "image/segment_registry.h"

namespace cupola::image {
namespace {

std::vector<std::byte> code_bytes(std::initializer_list<int> values) {
  std::vector<std::byte> bytes;
  for (int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

uint32_t call_number(std::string_view name) {
  for (uint32_t i = 0; i < library_call_count(); ++i)
    if (name == library_call_name(i)) return i;
  ADD_FAILURE() << name << " is not in the table";
  return 0;
}

/// At 0 a function that returns 42, at 16 one that jumps through the slot at 4096, which holds `function`.
KernelImage tiny_image(const char* function) {
  KernelImage image;
#if defined(__x86_64__)
  image.segment = code_bytes({0xb8, 42, 0, 0, 0, 0xc3});         // mov eax, 42; ret
  const auto jump = code_bytes({0xff, 0x25, 0xea, 0x0f, 0, 0});  // jmp [rip + 4096 - 22]
#elif defined(__aarch64__)
  image.segment = code_bytes({0x40, 0x05, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6});    // mov w0, 42; ret
  const auto jump = code_bytes({0x90, 0x7f, 0x00, 0x58, 0x00, 0x02, 0x1f, 0xd6});  // ldr x16, . + 4080; br x16
#endif
  image.segment.resize(4096 + 8);
  std::copy(jump.begin(), jump.end(), image.segment.begin() + 16);
  image.slots_offset = 4096;
  image.imports = {{4096, call_number(function)}};
  return image;
}

TEST(LoadedSegment, CodeRuns) {
  auto segment = LoadedSegment::load(tiny_image("sinf"));
  ASSERT_TRUE(segment) << segment.error().message;
  auto function = reinterpret_cast<int (*)()>(const_cast<void*>((*segment)->at(0)));
  EXPECT_EQ(function(), 42);  // oracle: the constant in the instruction
}

TEST(LoadedSegment, ImportReachesTheCLibrary) {
  auto segment = LoadedSegment::load(tiny_image("sinf"));
  ASSERT_TRUE(segment);
  auto function = reinterpret_cast<float (*)(float)>(const_cast<void*>((*segment)->at(16)));
  EXPECT_EQ(function(0.5f), std::sin(0.5f));  // oracle: <cmath>
}

#if defined(__linux__)
TEST(LoadedSegment, NoPageIsWritable) {
  auto segment = LoadedSegment::load(tiny_image("sinf"));
  ASSERT_TRUE(segment);
  const uint64_t base = reinterpret_cast<uint64_t>((*segment)->base());
  // Oracle: the kernel's own list of mappings.
  std::ifstream maps("/proc/self/maps");
  int pages = 0;
  for (std::string line; std::getline(maps, line);) {
    unsigned long long begin = 0, end = 0;
    char rights[5] = {};
    ASSERT_EQ(std::sscanf(line.c_str(), "%llx-%llx %4s", &begin, &end, rights), 3);
    for (uint64_t page : {base, base + 4096}) {
      if (page < begin || page >= end) continue;
      EXPECT_EQ(rights[1], '-') << line;
      if (page == base) EXPECT_EQ(rights[2], 'x') << line;
      ++pages;
    }
  }
  EXPECT_EQ(pages, 2);
}
#endif

TEST(LoadedSegment, EmptySegmentLoads) {
  auto segment = LoadedSegment::load(KernelImage{});
  ASSERT_TRUE(segment) << segment.error().message;
  EXPECT_EQ((*segment)->size(), 0u);
}

TEST(LoadedSegment, IsFoundByProgramCounterWhileItLives) {
  auto segment = LoadedSegment::load(tiny_image("sinf"));
  auto other = LoadedSegment::load(tiny_image("cosf"));
  ASSERT_TRUE(segment && other);
  const uint64_t base = reinterpret_cast<uint64_t>((*segment)->base());
  EXPECT_EQ(find_segment(base), segment->get());
  EXPECT_EQ(find_segment(base + 4095), segment->get());
  EXPECT_EQ(find_segment(reinterpret_cast<uint64_t>((*other)->base()) + 16), other->get());
  EXPECT_NE(find_segment(base + 4096), segment->get());  // slots are no code
  EXPECT_EQ(find_segment(0), nullptr);
  EXPECT_EQ(find_segment(reinterpret_cast<uint64_t>(&find_segment)), nullptr);
  segment->reset();
  EXPECT_EQ(find_segment(base), nullptr);
}

TEST(LibraryCalls, EveryRowHasAnAddressHere) {
  for (uint32_t i = 0; i < library_call_count(); ++i)
    EXPECT_NE(library_call_address(i), nullptr) << library_call_name(i);
}

TEST(LibraryCalls, AddressesAreThoseOfTheirNames) {
  auto call = [](const char* name) { return library_call_address(call_number(name)); };
  EXPECT_EQ(reinterpret_cast<double (*)(double)>(const_cast<void*>(call("sqrt")))(9.0), 3.0);
  EXPECT_EQ(reinterpret_cast<double (*)(double, double)>(const_cast<void*>(call("fmod")))(7.5, 2.0), 1.5);
  using U128 = unsigned __int128;
  EXPECT_TRUE((reinterpret_cast<U128 (*)(U128, U128)>(const_cast<void*>(call("__udivti3")))(U128{7} << 100, 7) ==
               U128{1} << 100));
}

/// bfloat16 bits of a call's result.
template <typename T>
uint16_t narrowed(const char* name, T value) {
  auto function = reinterpret_cast<__bf16 (*)(T)>(const_cast<void*>(library_call_address(call_number(name))));
  const __bf16 result = function(value);
  uint16_t bits;
  std::memcpy(&bits, &result, 2);
  return bits;
}

// Oracle: IEEE 754 round to nearest, ties to even, worked out by hand for a format of 8 significant bits.
TEST(LibraryCalls, Bfloat16RoundsToNearestEven) {
  EXPECT_EQ(narrowed("__truncsfbf2", 1.0f), 0x3f80);
  EXPECT_EQ(narrowed("__truncsfbf2", 1.00390625f), 0x3f80);    // 1 + 2^-8: tie, down to even
  EXPECT_EQ(narrowed("__truncsfbf2", 1.01171875f), 0x3f82);    // 1 + 3 * 2^-8: tie, up to even
  EXPECT_EQ(narrowed("__truncsfbf2", 3.4028235e38f), 0x7f80);  // rounds to infinity
  EXPECT_EQ(narrowed("__truncsfbf2", -0.0f), 0x8000);
  EXPECT_EQ(narrowed("__truncsfbf2", NAN) & 0x7fc0, 0x7fc0);
  EXPECT_EQ(narrowed("__truncdfbf2", 1.0), 0x3f80);
  // 1 + 2^-8 + 2^-40: above the tie, but rounding to float first would lose that.
  EXPECT_EQ(narrowed("__truncdfbf2", 1.0 + 0x1p-8 + 0x1p-40), 0x3f81);
  EXPECT_EQ(narrowed("__truncdfbf2", 1.0 + 0x1p-8 - 0x1p-40), 0x3f80);
  EXPECT_EQ(narrowed("__truncdfbf2", -(1.0 + 0x1p-8 + 0x1p-40)), 0xbf81);
  EXPECT_EQ(narrowed("__truncdfbf2", 1e300), 0x7f80);
}

// Oracle: the compiler's own half precision, which is passed as generated code passes it.
TEST(LibraryCalls, HalfPrecisionTravelsAsTheCompilerPassesIt) {
  auto call = [](const char* name) { return const_cast<void*>(library_call_address(call_number(name))); };
  for (float value : {0.0f, 1.5f, -2.25f, 65504.0f, 1e-7f, 0.1f}) {
    const auto half = static_cast<_Float16>(value);
    EXPECT_TRUE(reinterpret_cast<_Float16 (*)(float)>(call("__truncsfhf2"))(value) == half) << value;
    EXPECT_TRUE(reinterpret_cast<_Float16 (*)(double)>(call("__truncdfhf2"))(value) == half) << value;
    EXPECT_EQ(reinterpret_cast<float (*)(_Float16)>(call("__extendhfsf2"))(half), static_cast<float>(half));
  }
}

TEST(ModuleData, RelocationsHoldAddresses) {
  KernelImage image = tiny_image("sinf");
  image.data.resize(32, std::byte{7});
  image.relocations = {{0, DataRelocation::Kind::DataAddress, 24}, {12, DataRelocation::Kind::CodeAddress, 16}};
  auto segment = LoadedSegment::load(image);
  ASSERT_TRUE(segment);
  std::vector<std::byte> data(32);
  initialise_data(data.data(), image, **segment);
  const void* words[2];
  std::memcpy(&words[0], data.data(), 8);
  std::memcpy(&words[1], data.data() + 12, 8);
  EXPECT_EQ(words[0], data.data() + 24);
  EXPECT_EQ(words[1], (*segment)->at(16));
  EXPECT_EQ(data[8], std::byte{7});
  EXPECT_EQ(data[20], std::byte{7});
}

}  // namespace
}  // namespace cupola::image
