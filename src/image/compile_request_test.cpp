#include "image/compile_request.h"

#include <gtest/gtest.h>

namespace cupola::image {
namespace {

CompileRequest sample() {
  return {.target = "cpu:x86-64-v3",
          .keep = "/tmp/keep",
          .units = {{CodeKind::Kir, {std::byte{'B'}, std::byte{'C'}}}, {CodeKind::Ptx, {std::byte{'.'}}}},
          .code = "rows",
          .options = {.flush_denormals = true, .contract = false, .keep_inline = true}};
}

TEST(CompileRequest, ComesBackAsItWas) {
  Result<CompileRequest> back = deserialize_request(serialize(sample()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(back->target, sample().target);
  EXPECT_EQ(back->keep, sample().keep);
  EXPECT_EQ(back->units, sample().units);
  EXPECT_EQ(back->code, "rows");
  EXPECT_EQ(back->options, sample().options);
}

TEST(CompileRequest, TruncationAndExtraBytesAreRefused) {
  std::vector<std::byte> bytes = serialize(sample());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(deserialize_request(std::span(bytes).first(size))) << size;
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(deserialize_request(bytes));
}

TEST(CompileRequest, BitFlipIsRefusedOrMeansWhatItSays) {
  std::vector<std::byte> bytes = serialize(sample());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
    if (Result<CompileRequest> back = deserialize_request(bytes)) EXPECT_EQ(serialize(*back), bytes) << bit;
    bytes[bit / 8] ^= std::byte(1 << bit % 8);
  }
}

TEST(CacheKey, HangsOnTargetCodeAndCompilerOnly) {
  const std::string key = cache_key(sample(), "llvm 22");
  EXPECT_EQ(key.size(), 32u);
  EXPECT_EQ(key.find_first_not_of("0123456789abcdef"), std::string::npos);

  CompileRequest request = sample();
  request.keep = "elsewhere";
  EXPECT_EQ(cache_key(request, "llvm 22"), key);
  EXPECT_NE(cache_key(request, "llvm 23"), key);
  request.units[0].bytes[0] ^= std::byte{1};
  EXPECT_NE(cache_key(request, "llvm 22"), key);
  request = sample();
  request.code = "any";
  EXPECT_NE(cache_key(request, "llvm 22"), key);
  request = sample();
  request.options.relocatable = true;
  EXPECT_NE(cache_key(request, "llvm 22"), key);
  request = sample();
  request.target += "x";
  EXPECT_NE(cache_key(request, "llvm 22"), key);
}

}  // namespace
}  // namespace cupola::image
