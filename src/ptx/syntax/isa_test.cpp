// Oracle: the PTX ISA's pages and what NVIDIA's assembler takes and refuses; all of the latter is in tests/ptx
// (ptx-spellings).

#include "ptx/syntax/isa.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace cupola::ptx {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

/// Why no row takes the spelling with so many operands, or "".
std::string refusal(std::string_view spelling, size_t operands) {
  FormTable table;
  const auto form = table.understand(spelling, operands);
  return form ? "" : form.error().message;
}

TEST(FormTable, TypesAndStateSpacesKeepTheirOrder) {
  EXPECT_EQ(refusal("cvt.rzi.u32.f32", 2), "");
  EXPECT_EQ(refusal("cvt.u32.rzi.f32", 2), "");
  EXPECT_THAT(refusal("cvt.rzi.f32.u32", 2), HasSubstr("'.rzi' does not fit there"));
  EXPECT_THAT(refusal("cvt.rn.u32.f32", 2), HasSubstr("nearest form is 'cvt .rni|.rzi|.rmi|.rpi"));
  EXPECT_EQ(refusal("cp.async.ca.shared.global", 3), "");
  EXPECT_THAT(refusal("cp.async.ca.global.shared", 3), HasSubstr("'.global' does not fit there"));
  EXPECT_EQ(refusal("ld.v2.global.f32", 2), "");
  EXPECT_EQ(refusal("atom.u32.global.add", 3), "");
}

TEST(FormTable, WordsGoWithTypes) {
  EXPECT_EQ(refusal("setp.lt.u32", 3), "");
  EXPECT_THAT(refusal("setp.lt.b32", 3), EndsWith("the nearest form is 'setp .eq|.ne [.and|.or|.xor] .b16|.b32|.b64'"));
  EXPECT_THAT(refusal("setp.hi.s32", 3), HasSubstr("'.hi' does not fit there"));
  EXPECT_EQ(refusal("cvt.sat.u8.s32", 2), "");
  EXPECT_THAT(refusal("cvt.sat.s64.s32", 2), HasSubstr("'.sat' does not fit there"));
  EXPECT_EQ(refusal("cvt.f32.f64", 2), "'cvt.f32.f64' lacks one of .rn|.rz|.rm|.rp");
  EXPECT_EQ(refusal("mov.f16", 2), "'mov.f16': no form of 'mov' has these types");
  EXPECT_EQ(refusal("add.s33", 3), "'add.s33': '.s33' does not fit there");
}

TEST(FormTable, OldModulesLeaveARoundingOut) {
  const auto takes = [](uint32_t version, std::string_view form) {
    FormTable table;
    table.set_version(version);
    return table.understand(form, 4).has_value();
  };
  for (const std::string_view form : {"mad.f32", "mad.ftz.f32", "mad.sat.f32"}) {
    EXPECT_TRUE(takes(14, form) && takes(31, form)) << form;
    EXPECT_FALSE(takes(32, form) || takes(87, form) || takes(0, form)) << form;
  }
  EXPECT_FALSE(takes(31, "fma.f32") || takes(31, "mad.f64"));
}

TEST(FormTable, OperandsGoWithWords) {
  EXPECT_EQ(refusal("setp.eq.u32", 4), "'setp.eq.u32' does not take 4 operands; it takes 'd/p:pred a b c:pred?@bool'");
  EXPECT_EQ(refusal("setp.eq.and.u32", 4), "");
  EXPECT_NE(refusal("setp.eq.and.u32", 3), "");
  for (const std::string_view access : {"ld.global", "st.global", "red.global.add"}) {
    const std::string plain(access), hinted = plain + ".L2::cache_hint";
    EXPECT_EQ(refusal(plain + ".u32", 2), "");
    EXPECT_NE(refusal(plain + ".u32", 3), "") << plain;
    EXPECT_EQ(refusal(hinted + ".u32", 3), "");
    EXPECT_NE(refusal(hinted + ".u32", 2), "") << hinted;
  }
  EXPECT_EQ(refusal("vadd.u32.u32.u32", 3), "");
  EXPECT_EQ(refusal("vadd.u32.u32.u32", 4), "");  // into a part of the destination
  EXPECT_EQ(refusal("vadd.u32.u32.u32.add", 4), "");
  EXPECT_NE(refusal("vadd.u32.u32.u32.add", 3), "");
}

/// What the row must have, in its order, and one of its optional words or none.
std::string spelling_of(const Row& row, const Slot* optional) {
  std::string spelling(row.opcode);
  for (const Slot& slot : row.slots)
    if (!slot.optional || &slot == optional)
      spelling += "." + std::string(slot.types.empty() ? text_of(slot.modifiers[0]) : text_of(slot.types[0]));
  return spelling;
}

bool takes(FormTable& table, const Row& row, const std::string& spelling) {
  for (size_t operands = 0; operands <= row.specs.size(); ++operands)
    if (const auto form = table.understand(spelling, operands); form && (*form)->row == &row) return true;
  return false;
}

// Some rows have all that an earlier one has: then an optional word is theirs alone.
TEST(FormTable, EveryRowTakesItsOwnWords) {
  FormTable table;
  for (const Row& row : rows()) {
    if (row.any_words) continue;
    bool taken = takes(table, row, spelling_of(row, nullptr));
    for (const Slot& slot : row.slots) taken |= slot.optional && takes(table, row, spelling_of(row, &slot));
    EXPECT_TRUE(taken) << spelling_of(row, nullptr) << ": another row takes it, or none";
  }
}

}  // namespace
}  // namespace cupola::ptx
