#include "runtime/program_cache.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "image/kernel_image.h"

// The compiler here answers with the request's own code, so that what comes back says what was asked.

namespace cupola::runtime {
namespace {

namespace fs = std::filesystem;

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return {bytes, bytes + text.size()};
}

image::Code code_of(std::string_view text) {
  image::Code code;
  code.units.push_back({image::CodeKind::Ptx, bytes_of(text)});
  return code;
}

std::vector<std::byte> image_for_target(const std::string& target) {
  image::KernelImage image;
  image.target = target;
  return image::serialize(image);
}

class ProgramCacheTest : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (fs::temp_directory_path() / "cupola-programs-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { fs::remove_all(folder_); }

  ProgramCache::Compiler compiler() {
    return {[this](std::span<const std::byte> bytes) -> Result<std::vector<std::byte>> {
              ++compiled_;
              if (slow_) std::this_thread::sleep_for(std::chrono::milliseconds(50));
              TRY(const image::CompileRequest request, image::deserialize_request(bytes));
              if (request.units[0].bytes == bytes_of("wrong")) return fail(ErrorCode::InvalidPtx, "line 1 is wrong");
              return request.units[0].bytes;
            },
            [this] {
              ++asked_for_identity_;
              return identity_;
            }};
  }
  /// Without a disk cache, if `most_recent_bytes` is given.
  ProgramCache memory_only(uint64_t most_recent_bytes) { return {compiler(), "", {}, most_recent_bytes}; }

  std::string folder_, identity_ = "one";
  std::atomic<int> compiled_{0}, asked_for_identity_{0};
  std::atomic<bool> slow_{false};
};

TEST_F(ProgramCacheTest, CompilesOnceAProcessAndAFolder) {
  {
    ProgramCache cache(compiler(), folder_, {}, 1000);
    EXPECT_EQ(**cache.image(code_of("a"), "cpu"), bytes_of("a"));
    EXPECT_EQ(**cache.image(code_of("a"), "cpu"), bytes_of("a"));
    EXPECT_EQ(compiled_, 1);
  }
  ProgramCache next(compiler(), folder_, {}, 1000);
  EXPECT_EQ(**next.image(code_of("a"), "cpu"), bytes_of("a"));
  EXPECT_EQ(compiled_, 1);
}

TEST_F(ProgramCacheTest, ContentTargetAndCompilerDecide) {
  const image::Code code = code_of("a");
  ProgramCache cache(compiler(), folder_, {}, 1000);
  ASSERT_TRUE(cache.image(code, "cpu:1"));
  ASSERT_TRUE(cache.image(code, "cpu:2"));
  EXPECT_EQ(compiled_, 2);
  ASSERT_TRUE(cache.image(code_of("b"), "cpu:1"));
  EXPECT_EQ(compiled_, 3);
  identity_ = "two";
  ASSERT_TRUE(ProgramCache(compiler(), folder_, {}, 1000).image(code, "cpu:1"));
  EXPECT_EQ(compiled_, 4);
  identity_ = "one";
  ProgramCache next(compiler(), folder_, {}, 1000);
  for (const char* target : {"cpu:1", "cpu:2"}) ASSERT_TRUE(next.image(code, target));
  EXPECT_EQ(compiled_, 4);
}

TEST_F(ProgramCacheTest, TheCompilersIdentityHoldsOnceThereIsOne) {
  ProgramCache cache = memory_only(1000);
  identity_ = "";
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(cache.image(code_of("a"), "cpu"));
  EXPECT_EQ(asked_for_identity_, 2);
  identity_ = "one";
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(cache.image(code_of("a"), "cpu"));
  EXPECT_EQ(asked_for_identity_, 3);
  EXPECT_EQ(compiled_, 2) << "the identity is part of the key";
}

TEST_F(ProgramCacheTest, CodeOfAUnitHangsOnWhichCode) {
  ProgramCache cache(compiler(), folder_, {}, 1000);
  const auto unit = bytes_of("unit");
  for (const char* code : {"rows", "any", "rows", "any"}) EXPECT_EQ(**cache.later(unit, code, "cpu"), unit);
  EXPECT_EQ(compiled_, 2);
  ASSERT_TRUE(cache.later(bytes_of("other"), "rows", "cpu"));
  EXPECT_EQ(compiled_, 3);
  ASSERT_TRUE(cache.image(code_of("unit"), "cpu"));
  EXPECT_EQ(compiled_, 4);
}

TEST_F(ProgramCacheTest, LooksForCodeWithoutMakingIt) {
  const auto unit = bytes_of("unit");
  {
    ProgramCache cache(compiler(), folder_, {}, 1000);
    EXPECT_EQ(*cache.later(unit, "hot", "cpu", hal::Ask::Look), nullptr);
    EXPECT_EQ(compiled_, 0);
    EXPECT_EQ(cache.size(), 0u);
    slow_ = true;
    std::thread other([&] { EXPECT_EQ(**cache.later(unit, "hot", "cpu"), unit); });
    while (compiled_ == 0) std::this_thread::yield();
    EXPECT_EQ(*cache.later(unit, "hot", "cpu", hal::Ask::Look), nullptr) << "it is being made";
    other.join();
    EXPECT_EQ(**cache.later(unit, "hot", "cpu", hal::Ask::Look), unit);
  }
  ProgramCache next(compiler(), folder_, {}, 1000);
  EXPECT_EQ(**next.later(unit, "hot", "cpu", hal::Ask::Look), unit);
  EXPECT_EQ(compiled_, 1);
}

TEST_F(ProgramCacheTest, KeepsWhatIsHeldAndWhatWasAskedForLast) {
  ProgramCache cache = memory_only(10);
  const auto held = *cache.image(code_of("held!"), "cpu");
  for (const char* text : {"aaaa", "bbbb", "cccc"}) ASSERT_TRUE(cache.image(code_of(text), "cpu"));
  EXPECT_EQ(compiled_, 4);
  EXPECT_EQ(cache.size(), 3u);  // held!, bbbb, cccc
  EXPECT_EQ(*cache.image(code_of("held!"), "cpu"), held) << "the same image, not an equal one";
  EXPECT_EQ(compiled_, 4);
  ASSERT_TRUE(cache.image(code_of("cccc"), "cpu"));
  EXPECT_EQ(compiled_, 4);
  ASSERT_TRUE(cache.image(code_of("aaaa"), "cpu"));
  EXPECT_EQ(compiled_, 5);
}

TEST_F(ProgramCacheTest, MemoryStaysBounded) {
  ProgramCache cache = memory_only(100);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(cache.image(code_of("ten byte" + std::to_string(10 + i % 90)), "cpu"));
  EXPECT_LE(cache.size(), 10u);
}

TEST_F(ProgramCacheTest, ImageAboveTheLimitLivesAsLongAsItsHolder) {
  ProgramCache cache = memory_only(3);
  {
    const auto large = cache.image(code_of("large"), "cpu");
    ASSERT_TRUE(cache.image(code_of("large"), "cpu"));
    EXPECT_EQ(compiled_, 1);
  }
  ASSERT_TRUE(cache.image(code_of("large"), "cpu"));
  EXPECT_EQ(compiled_, 2);
}

TEST_F(ProgramCacheTest, KeysOfImagesWhoseHoldersAreGoneStayBounded) {
  ProgramCache cache = memory_only(3);
  for (int i = 0; i < 1000; ++i) ASSERT_TRUE(cache.image(code_of("large" + std::to_string(i)), "cpu"));
  EXPECT_LE(cache.size(), 20u);
}

TEST_F(ProgramCacheTest, FailuresAreAnswersAndLeaveNothing) {
  ProgramCache cache(compiler(), folder_, {}, 1000);
  for (int i = 0; i < 3; ++i) {
    const auto result = cache.image(code_of("wrong"), "cpu");
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, ErrorCode::InvalidPtx);
    EXPECT_EQ(result.error().message, "line 1 is wrong");
  }
  EXPECT_EQ(compiled_, 3);
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_TRUE(fs::is_empty(folder_));
}

TEST_F(ProgramCacheTest, DamagedEntryIsCompiledAgain) {
  {
    ASSERT_TRUE(ProgramCache(compiler(), folder_, {}, 0).image(code_of("a"), "cpu"));
  }
  for (const auto& entry : fs::directory_iterator(folder_)) fs::resize_file(entry, 20);
  EXPECT_EQ(**ProgramCache(compiler(), folder_, {}, 0).image(code_of("a"), "cpu"), bytes_of("a"));
  EXPECT_EQ(compiled_, 2);
}

TEST_F(ProgramCacheTest, ThreadsThatAskAtOnceCompileOnce) {
  ProgramCache cache = memory_only(1000);
  slow_ = true;
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i)
    threads.emplace_back([&, i] {
      const char* text = i % 2 ? "odd" : "even";
      const auto image = cache.image(code_of(text), "cpu");
      EXPECT_TRUE(image && **image == bytes_of(text));
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(compiled_, 2);
}

TEST_F(ProgramCacheTest, TakesTheReadyImageOfItsTarget) {
  ProgramCache cache = memory_only(1000);
  image::Code code;
  code.images = {bytes_of("cupimage and then nonsense"), image_for_target("cpu:1"), image_for_target("cpu:2")};
  EXPECT_EQ(**cache.image(code, "cpu:2"), code.images[2]);
  EXPECT_EQ(cache.image(code, "cpu:3").error().code, ErrorCode::NoBinaryForGpu);
  code.images[2].back() ^= std::byte{1};  // damaged: as good as none
  EXPECT_EQ(cache.image(code, "cpu:2").error().code, ErrorCode::NoBinaryForGpu);
  code.units = code_of("a").units;
  EXPECT_EQ(**cache.image(code, "cpu:2"), bytes_of("a"));
}

}  // namespace
}  // namespace cupola::runtime
