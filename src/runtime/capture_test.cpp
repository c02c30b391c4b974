#include "runtime/capture.h"

#include <gtest/gtest.h>

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
