#include "runtime/stream.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "runtime/runtime.h"

// Oracle: the rule in hal/semaphore.h, that what waits for a value may use any stream. The cpu device completes some
// commands on the thread that submits them, so this test is run on it too.

namespace cupola::runtime {
namespace {

TEST(Stream, WhatWaitsForACommandMayUseTheStream) {
  setenv("CUPOLA_DEVICE", "null", 0);
  ASSERT_TRUE(Runtime::initialise());
  Context context(*Runtime::get().devices()[0], false);
  const auto stream = context.legacy_stream().value();
  auto& device = context.device().hal();
  const auto first = device.create_semaphore(0), second = device.create_semaphore(0);
  std::atomic<int> called{0};
  first->when(1, [&] {
    (void)stream->idle();  // takes the lock of the streams' order, and so does submit
    stream->submit(hal::Signal{second, 1});
    ++called;
  });
  second->when(1, [&] { ++called; });
  stream->submit(hal::Signal{first, 1});
  ASSERT_TRUE(second->wait(1));
  while (called < 2) std::this_thread::yield();
  ASSERT_TRUE(context.synchronize());
  EXPECT_TRUE(stream->idle());
}

}  // namespace
}  // namespace cupola::runtime
