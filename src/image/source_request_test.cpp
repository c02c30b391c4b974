#include "image/source_request.h"

#include <gtest/gtest.h>

using namespace cupola;
using namespace cupola::image;

namespace {

SourceRequest sample() {
  return {.name = "k.cu",
          .source = "__global__ void k() {}",
          .prologue = "#define N 3\n",
          .headers = {{"a.h", "text"}, {"b/c.h", ""}},
          .include_folders = {"/one", "two"},
          .name_expressions = {"&k"},
          .architecture = "sm_90a",
          .standard = "c++20",
          .cache = "/cache",
          .flags = kDefaultDevice | kReorder};
}

}  // namespace

TEST(SourceRequest, ComesBackAsItWas) {
  const Result<SourceRequest> back = deserialize_source_request(serialize(sample()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, sample());
}

TEST(SourceRequest, EveryShorterOneIsRefused) {
  const std::vector<std::byte> bytes = serialize(sample());
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(deserialize_source_request(std::span(bytes).first(size))) << size;
}

TEST(SourceRequest, UnknownFlagsAndLongerOnesAreRefused) {
  SourceRequest request = sample();
  request.flags = kAllFlags + 1;
  EXPECT_FALSE(deserialize_source_request(serialize(request)));
  std::vector<std::byte> longer = serialize(sample());
  longer.push_back(std::byte{0});
  EXPECT_FALSE(deserialize_source_request(longer));
}

TEST(SourceAnswer, ComesBackAsItWas) {
  const SourceAnswer answer{
      .compiled = true, .log = "k.cu(1): warning\n", .kir = {std::byte{1}}, .lowered_names = {"_Z1k"}};
  const Result<SourceAnswer> back = deserialize_source_answer(serialize(answer));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, answer);
  EXPECT_FALSE(deserialize_source_answer(serialize(sample())));
}
