#include "runtime/capture.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <barrier>
#include <cstdlib>
#include <thread>

#include "runtime/current_context.h"
#include "runtime/runtime.h"

// Oracle: the rules of "CUDA C++ Programming Guide, Creating a Graph Using Stream Capture".

namespace cupola::runtime {
namespace {

class CaptureTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv("CUPOLA_DEVICE", "null", 0);
    ASSERT_TRUE(Runtime::initialise());
    context_ = std::make_unique<Context>(*Runtime::get().devices()[0], false);
    first_ = Stream::make(*context_, Stream::Kind::Created, kNonBlocking, 0).value();
    second_ = Stream::make(*context_, Stream::Kind::Created, kNonBlocking, 0).value();
  }

  static constexpr unsigned kNonBlocking = 1;
  std::unique_ptr<Context> context_;
  std::shared_ptr<Stream> first_, second_;
};

Result<Node*> add(Stream& stream) {
  return stream.capture()->add(stream, EmptyWork{});
}

TEST_F(CaptureTest, WorkFollowsTheFrontier) {
  ASSERT_TRUE(begin_capture(first_, CaptureMode::Relaxed, nullptr, {}));
  Node *a = add(*first_).value(), *b = add(*first_).value();
  Event fork(*context_, false), join(*context_, false);
  ASSERT_TRUE(fork.record(*first_));
  ASSERT_TRUE(fork.hold(second_));
  Node *c = add(*second_).value(), *d = add(*first_).value();
  ASSERT_TRUE(join.record(*second_));
  ASSERT_TRUE(join.hold(first_));
  Node* e = add(*first_).value();
  const auto graph = end_capture(*first_).value();
  EXPECT_EQ(graph->nodes().size(), 5u);
  EXPECT_TRUE(a->dependencies().empty());
  EXPECT_EQ(b->dependencies()[0].node, a);
  EXPECT_EQ(c->dependencies()[0].node, b);
  EXPECT_EQ(d->dependencies()[0].node, b);
  EXPECT_EQ(e->dependencies().size(), 2u);
  EXPECT_EQ(first_->capture(), nullptr);
  EXPECT_EQ(second_->capture(), nullptr);
  graph->withdraw();
}

TEST_F(CaptureTest, UnjoinedWorkEndsTheCaptureWithoutAGraph) {
  ASSERT_TRUE(begin_capture(first_, CaptureMode::Relaxed, nullptr, {}));
  Event fork(*context_, false);
  ASSERT_TRUE(fork.record(*first_));
  ASSERT_TRUE(fork.hold(second_));
  ASSERT_TRUE(add(*second_));
  const Graph* graph = first_->capture()->graph().get();
  EXPECT_EQ(end_capture(*second_).error().code, ErrorCode::StreamCaptureUnmatched);
  EXPECT_EQ(end_capture(*first_).error().code, ErrorCode::StreamCaptureInvalidated);
  EXPECT_FALSE(Runtime::get().graph(graph));
  ASSERT_TRUE(begin_capture(first_, CaptureMode::Relaxed, nullptr, {}));
  ASSERT_TRUE(fork.record(*first_));
  ASSERT_TRUE(fork.hold(second_));
  ASSERT_TRUE(add(*second_));
  EXPECT_EQ(end_capture(*first_).error().code, ErrorCode::StreamCaptureUnjoined);
  EXPECT_EQ(second_->capture(), nullptr);
}

TEST_F(CaptureTest, OneOfTwoThreadsEndsIt) {
  constexpr int kRounds = 10, kNodes = 20000;  // so many that both threads look at them at a time
  std::array<Result<std::shared_ptr<Graph>>, 2> ends;
  std::atomic<int> arrived = 0;
  const auto end_it = [&](int round, size_t who) {
    ++arrived;
    while (arrived < 2 * (2 * round + 1)) {
    }
    ends[who] = end_capture(*first_);
    ++arrived;
    while (arrived < 2 * (2 * round + 2)) std::this_thread::yield();
  };
  std::thread other([&] {
    for (int round = 0; round < kRounds; ++round) end_it(round, 1);
  });
  for (int round = 0; round < kRounds; ++round) {
    EXPECT_TRUE(begin_capture(first_, CaptureMode::Relaxed, nullptr, {}));
    for (int i = 0; i < kNodes; ++i) EXPECT_TRUE(add(*first_));
    end_it(round, 0);
    EXPECT_NE(ends[0].has_value(), ends[1].has_value());
    for (const auto& end : ends) {
      if (end) {
        (*end)->withdraw();
      } else {
        EXPECT_EQ(end.error().code, ErrorCode::IllegalState);
      }
    }
    EXPECT_EQ(first_->capture(), nullptr);
  }
  other.join();
}

TEST_F(CaptureTest, NoStreamJoinsWhatIsOver) {
  constexpr int kRounds = 3000;
  std::shared_ptr<Capture> capture;
  std::barrier turn(2);
  std::thread joiner([&] {
    for (int round = 0; round < kRounds; ++round) {
      turn.arrive_and_wait();
      std::ignore = capture->join(second_, {});
      turn.arrive_and_wait();
    }
  });
  int left_captured = 0;
  for (int round = 0; round < kRounds; ++round) {
    EXPECT_TRUE(begin_capture(first_, CaptureMode::Relaxed, nullptr, {}));
    capture = first_->capture();
    turn.arrive_and_wait();
    const auto graph = end_capture(*first_);
    turn.arrive_and_wait();
    if (graph) (*graph)->withdraw();
    if (!second_->capture()) continue;
    ++left_captured;
    second_->set_capture(nullptr);
  }
  joiner.join();
  EXPECT_EQ(left_captured, 0);
  EXPECT_EQ(capture->join(second_, {}).error().code, ErrorCode::IllegalState);
  EXPECT_EQ(second_->capture(), nullptr);
}

TEST_F(CaptureTest, ADestroyedStreamInvalidatesIt) {
  ASSERT_TRUE(begin_capture(first_, CaptureMode::Relaxed, nullptr, {}));
  Event fork(*context_, false);
  ASSERT_TRUE(fork.record(*first_));
  ASSERT_TRUE(fork.hold(second_));
  second_.reset();
  EXPECT_EQ(end_capture(*first_).error().code, ErrorCode::StreamCaptureInvalidated);
}

TEST_F(CaptureTest, TheLegacyStreamIsRefusedWhileItWouldWait) {
  const auto blocking = Stream::make(*context_, Stream::Kind::Created, 0, 0).value();
  const auto legacy = context_->legacy_stream().value();
  EXPECT_EQ(begin_capture(legacy, CaptureMode::Global, nullptr, {}).error().code, ErrorCode::StreamCaptureUnsupported);
  ASSERT_TRUE(begin_capture(first_, CaptureMode::Relaxed, nullptr, {}));
  EXPECT_TRUE(legacy->check_use());
  end_capture(*first_).value()->withdraw();
  ASSERT_TRUE(begin_capture(blocking, CaptureMode::Relaxed, nullptr, {}));
  EXPECT_EQ(legacy->check_use().error().code, ErrorCode::StreamCaptureImplicit);
  EXPECT_EQ(end_capture(*blocking).error().code, ErrorCode::StreamCaptureInvalidated);
  EXPECT_TRUE(legacy->check_use());
}

TEST_F(CaptureTest, UnsafeCallsGoByTheModesOfCaptureAndThread) {
  const auto refused = [] { return !check_unsafe_call("a test"); };
  const auto refused_elsewhere = [&](CaptureMode mode) {
    bool result = false;
    std::thread([&] {
      ThreadState::get().capture_mode = mode;
      result = refused();
    }).join();
    return result;
  };
  EXPECT_FALSE(refused());
  ASSERT_TRUE(begin_capture(first_, CaptureMode::ThreadLocal, nullptr, {}));
  EXPECT_FALSE(refused_elsewhere(CaptureMode::Global));
  EXPECT_TRUE(refused());
  EXPECT_FALSE(end_capture(*first_));
  ASSERT_TRUE(begin_capture(first_, CaptureMode::Global, nullptr, {}));
  EXPECT_FALSE(refused_elsewhere(CaptureMode::ThreadLocal));
  EXPECT_TRUE(refused_elsewhere(CaptureMode::Global));
  EXPECT_FALSE(end_capture(*first_));
  ASSERT_TRUE(begin_capture(first_, CaptureMode::Relaxed, nullptr, {}));
  EXPECT_FALSE(refused());
  end_capture(*first_).value()->withdraw();
}

}  // namespace
}  // namespace cupola::runtime
