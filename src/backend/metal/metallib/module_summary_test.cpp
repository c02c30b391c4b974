#include "backend/metal/metallib/module_summary.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/metal/metallib/bitstream.h"
#include "backend/metal/metallib/sample_module.h"

namespace cupola::metallib {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(ModuleSummary, SaysWhatAModuleSaysOfItself) {
  const std::vector<std::byte> module = wrapped(sample_module());
  const Result<ModuleSummary> summary = summarize(module);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->wrapper_bytes, 20u);
  EXPECT_EQ(summary->bitcode_bytes, sample_module().size());
  EXPECT_EQ(summary->identification, "LLVM sample");
  EXPECT_EQ(summary->epoch, 0u);
  EXPECT_EQ(summary->record_version, 2u);
  EXPECT_EQ(summary->triple, "air64-apple-macosx13.0.0");
  EXPECT_TRUE(summary->typed_pointers);
  EXPECT_FALSE(summary->opaque_pointers);
  EXPECT_THAT(summary->defined, ElementsAre("add"));
  EXPECT_THAT(summary->declared, IsEmpty());
  EXPECT_THAT(summary->named_metadata, ElementsAre("llvm.ident", "air.version", "air.language_version", "air.kernel"));
  EXPECT_EQ(summary->producer, "Cupola's sample");
  EXPECT_THAT(summary->air_version, ElementsAre(2, 5, 0));
  EXPECT_EQ(summary->language, "Metal");
  EXPECT_THAT(summary->language_version, ElementsAre(3, 0, 0));
  EXPECT_THAT(summary->kernels, ElementsAre("add"));
}

TEST(ModuleSummary, EveryTruncationIsAnErrorOrRead) {
  const std::vector<std::byte> whole = sample_module();
  for (size_t length = 0; length < whole.size(); ++length) {
    const std::vector<std::byte> cut(whole.begin(), whole.begin() + length);
    const Result<ModuleSummary> summary = summarize(cut);
    if (!summary) ASSERT_THAT(summary.error().message, HasSubstr("bitcode: ")) << length;
    if (length < whole.size() - 16) ASSERT_FALSE(summary) << length;  // up to the names' block
  }
}

TEST(ModuleSummary, EveryFlippedBitIsAnErrorOrRead) {
  std::vector<std::byte> bytes = sample_module();
  int errors = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte{1} << bit % 8;
    const Result<ModuleSummary> summary = summarize(bytes);
    if (!summary) {
      ++errors;
      ASSERT_EQ(summary.error().code, ErrorCode::InvalidImage) << bit;
    }
    bytes[bit / 8] ^= std::byte{1} << bit % 8;
  }
  EXPECT_GT(errors, 32);  // the magic alone
}

TEST(ModuleSummary, ANoteIsFoundWhateverItsBytes) {
  const std::string note("\0cup\xff\x80 image", 12);
  const Result<ModuleSummary> summary = summarize(sample_module({.note = note}));
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->image_note, note);
  EXPECT_EQ(summary->kernels, std::vector<std::string>{"add"});
  EXPECT_EQ(summarize(sample_module())->image_note, "");
}

std::string error_of(BitWriter stream) {
  const std::vector<std::byte> bytes = std::move(stream).finish();
  const Result<ModuleSummary> summary = summarize(bytes);
  return summary ? "no error" : summary.error().message;
}

BitWriter begun() {
  BitWriter stream;
  stream.fixed(0xDEC04342, 32);
  return stream;
}

TEST(ModuleSummary, ArraysOfNothingAreRefused) {  // else a few bytes would ask for 2^32 values
  BitWriter stream = begun();
  stream.enter(8);
  stream.fixed(2, 4);  // an abbreviation of three fields: code 1, array, VBR of 0 bits
  stream.vbr(3, 5), stream.fixed(1, 1), stream.vbr(1, 8);
  stream.fixed(0, 1), stream.fixed(3, 3);
  stream.fixed(0, 1), stream.fixed(2, 3), stream.vbr(0, 5);
  stream.leave();
  EXPECT_THAT(error_of(std::move(stream)), HasSubstr("an array has elements of no bits"));
}

TEST(ModuleSummary, BlocksNestOnlySoDeep) {
  BitWriter stream = begun();
  for (int i = 0; i < 20; ++i) stream.enter(8);
  for (int i = 0; i < 20; ++i) stream.leave();
  EXPECT_THAT(error_of(std::move(stream)), HasSubstr("blocks are nested too deeply"));
}

TEST(ModuleSummary, ABitcodeFileWithoutAModuleIsAnError) {
  EXPECT_THAT(error_of(begun()), HasSubstr("it holds no module"));
}

TEST(ModuleSummary, AWrapperMustLeadToBitcode) {
  std::vector<std::byte> module = wrapped(sample_module());
  module[8] = std::byte{24};
  EXPECT_THAT(summarize(module).error().message, HasSubstr("it does not begin with 'BC'"));
  module[8] = std::byte{16};
  EXPECT_THAT(summarize(module).error().message, HasSubstr("the wrapper names"));
  EXPECT_THAT(summarize(Bytes(module).first(12)).error().message, HasSubstr("a wrapper of 12 bytes, not 20"));
}

}  // namespace
}  // namespace cupola::metallib
