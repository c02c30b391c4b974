#include <gtest/gtest.h>

#include <cstring>

#include "backend/cpu/run/device_fixture.h"

// What kernels print, as the host sees it.

namespace cupola::cpu {
namespace {

using DeviceOutputs = DeviceFixture;

void print_thread(ThreadContext* c, const std::byte*) {
  struct {
    uint32_t block, thread;
  } arguments{c->ctaid[0], c->tid[0]};
  c->services->vprintf(c, "%u.%u\n", &arguments);
}

TEST_F(DeviceOutputs, AppearAtFlushInOrderWithTheHosts) {
  testing::internal::CaptureStdout();
  printf("host 1\n");
  launch(print_thread, {{1}, {3}}, 0);
  expect_success();
  device_->flush_output();
  printf("host 2\n");
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "host 1\n0.0\n0.1\n0.2\nhost 2\n");
}

TEST_F(DeviceOutputs, NothingIsLostWhenTheBufferIsFull) {
  testing::internal::CaptureStdout();
  launch(print_thread, {{1000}, {256}}, 0, {.rung = image::Rung::ThreadLoop});
  expect_success();
  device_->flush_output();
  const std::string text = testing::internal::GetCapturedStdout();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 256000);
}

}  // namespace
}  // namespace cupola::cpu
