#include "base/guarded.h"

#include <gtest/gtest.h>

#include <cstdlib>

// ThreadSanitizer brings operators of its own.
#if !__has_feature(thread_sanitizer)
namespace {

constinit thread_local bool denied = false;  // operator new throws on this thread

}  // namespace

void* operator new(size_t bytes) {
  void* const memory = denied ? nullptr : std::malloc(bytes ? bytes : 1);
  if (!memory) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, size_t) noexcept {
  std::free(memory);
}
#endif

namespace cupola {
namespace {

constexpr Thrown kThrown{"a library", 2, 30};

/// What becomes of a body that throws it.
template <typename Exception>
Error error_of(Exception exception) {
  return guarded([&]() -> Result<> { throw exception; }).error();
}

TEST(Guarded, GivesTheBodysResult) {
  EXPECT_TRUE(guarded([]() -> Result<> { return {}; }));
  const Result<> result = guarded([]() -> Result<> { return fail(ErrorCode::NotFound, "no such kernel"); });
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::NotFound);
  EXPECT_EQ(result.error().message, "no such kernel");
}

TEST(Guarded, MakesErrorsOfExceptions) {
  EXPECT_EQ(error_of(std::bad_alloc()).code, ErrorCode::OutOfMemory);
  EXPECT_EQ(error_of(std::length_error("vector")).code, ErrorCode::OutOfMemory);
  const Error known = error_of(std::runtime_error("the disk is full"));
  EXPECT_EQ(known.code, ErrorCode::Unknown);
  EXPECT_EQ(known.message, "an unexpected exception: the disk is full");
  EXPECT_EQ(error_of(1).code, ErrorCode::Unknown);
}

TEST(Guarded, GivesTheBodysStatus) {
  EXPECT_EQ(guarded(kThrown, [] { return 7; }), 7);
}

// What is logged is asked for once a process, so these run in programs of their own.
class GuardedDeathTest : public testing::Test {
 protected:
  void SetUp() override { GTEST_FLAG_SET(death_test_style, "threadsafe"); }
};

/// Exits with 0 where it is the one that is expected.
void exit_with(int status, int expected) {
  _Exit(status == expected ? 0 : 1);
}

TEST_F(GuardedDeathTest, MakesStatusesOfExceptionsAndLogsThem) {
  const testing::ExitedWithCode succeeds(0);
  EXPECT_EXIT(exit_with(guarded(kThrown, []() -> int { throw std::bad_alloc(); }), 2), succeeds,
              "^cupola: error: a library: the host is out of memory\n$");
  EXPECT_EXIT(exit_with(guarded(kThrown, []() -> int { throw std::length_error("vector"); }), 2), succeeds,
              "^cupola: error: a library: the host is out of memory\n$");
  EXPECT_EXIT(exit_with(guarded(kThrown, []() -> int { throw std::runtime_error("no thread"); }), 30), succeeds,
              "^cupola: error: a library: an unexpected exception: no thread\n$");
  EXPECT_EXIT(exit_with(guarded(kThrown, []() -> int { throw 1; }), 30), succeeds,
              "^cupola: error: a library: an unexpected exception\n$");
}

#if !__has_feature(thread_sanitizer)
// The words of an error take memory too, and so do lines of a log.
TEST_F(GuardedDeathTest, AnswersWithoutMemory) {
  const auto body = [] {
    if (!log::enabled(log::Topic::Error)) _Exit(4);  // the settings are read at the first question
    denied = true;
    const Result<> result = guarded([]() -> Result<> { throw std::bad_alloc(); });
    if (result || result.error().code != ErrorCode::OutOfMemory || !result.error().message.empty()) _Exit(5);
    exit_with(guarded(kThrown, []() -> int { throw std::bad_alloc(); }), 2);
  };
  EXPECT_EXIT(body(), testing::ExitedWithCode(0), "^$");
}
#endif

}  // namespace
}  // namespace cupola
