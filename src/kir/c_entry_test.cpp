#include "kir/c_entry.h"

#include <gtest/gtest.h>
#include <llvm/Support/ErrorHandling.h>

#include <cstdlib>
#include <stdexcept>
#include <string>

namespace cupola::kir {
namespace {

using Bytes = std::vector<std::byte>;

std::string message_of(const Result<int>& result) {
  return result ? "" : result.error().message;
}

TEST(CEntry, WhatGivesUpIsAnError) {
  EXPECT_EQ(guarded([]() -> Result<int> { return 7; }).value(), 7);
  EXPECT_EQ(message_of(guarded([]() -> Result<int> { throw std::runtime_error("too deep"); })),
            "the compiler failed: too deep");
  EXPECT_EQ(message_of(guarded([]() -> Result<int> { llvm::report_fatal_error("cannot select"); })),
            "the compiler gave up: cannot select");
}

TEST(CEntry, HandsOverBytesOrWords) {
  const auto handed = [](const Result<Bytes>& answer, int expected) {
    void* output = nullptr;
    size_t bytes = 0;
    EXPECT_EQ(hand_over(answer, &output, &bytes), expected);
    const std::string text(static_cast<const char*>(output), bytes);
    std::free(output);
    return text;
  };
  EXPECT_EQ(handed(Bytes{std::byte{'o'}, std::byte{'k'}}, 0), "ok");
  EXPECT_EQ(handed(Bytes{}, 0), "");
  EXPECT_EQ(handed(fail(ErrorCode::InvalidImage, "no module"), static_cast<int>(ErrorCode::InvalidImage)), "no module");
}

}  // namespace
}  // namespace cupola::kir
