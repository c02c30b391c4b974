// What events promise. Oracle: "CUDA Driver API, Event Management".

#include <unistd.h>

#include <atomic>
#include <thread>
#include <vector>

#include "cuda/driver/gate.h"
#include "cuda/driver/with_context.h"

namespace cupola::driver {
namespace {

using Events = WithContext;

void set_flag(void* flag) {
  static_cast<std::atomic<bool>*>(flag)->store(true);
}

TEST_F(Events, AreDoneBeforeTheyAreRecorded) {
  CUevent event = nullptr;
  ASSERT_EQ(cuEventCreate(&event, 0), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(event), CUDA_SUCCESS);
  float milliseconds = 0;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, event, event), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(cuEventDestroy(event), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Events, HoldOtherStreams) {
  CUstream first = nullptr, second = nullptr;
  CUevent event = nullptr;
  ASSERT_EQ(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&second, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  Gate gate;
  std::atomic<bool> ran = false;
  ASSERT_EQ(cuLaunchHostFunc(first, Gate::wait, &gate), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(event, first), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(second, event, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchHostFunc(second, set_flag, &ran), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(event), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
  EXPECT_FALSE(ran);
  gate.open();
  EXPECT_EQ(cuStreamSynchronize(second), CUDA_SUCCESS);
  EXPECT_TRUE(ran);
  EXPECT_EQ(cuEventQuery(event), CUDA_SUCCESS);
}

TEST_F(Events, MeasureTime) {
  CUevent start = nullptr, end = nullptr, untimed = nullptr;
  ASSERT_EQ(cuEventCreate(&start, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&end, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&untimed, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(start, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuLaunchHostFunc(nullptr, [](void*) { usleep(20000); }, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(end, nullptr), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(untimed, nullptr), CUDA_SUCCESS);
  float milliseconds = 0;
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(cuEventSynchronize(end), CUDA_SUCCESS);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, end), CUDA_SUCCESS);
  EXPECT_GE(milliseconds, 19.0f);
  EXPECT_LT(milliseconds, 20000.0f);
  EXPECT_EQ(cuEventElapsedTime(&milliseconds, start, untimed), CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(Events, KeepOrderUnderConcurrency) {
  // Several threads add to one counter, each after the event of the one before: any lost order loses an increment,
  // because the increment is a plain read and write.
  constexpr int kThreads = 4, kRounds = 50;
  struct Counter {
    volatile int value = 0;
    static void add(void* self) {
      auto* counter = static_cast<Counter*>(self);
      const int seen = counter->value;
      std::this_thread::yield();
      counter->value = seen + 1;
    }
  } counter;
  CUstream streams[kThreads];
  CUevent events[kThreads];
  for (int i = 0; i < kThreads; ++i) {
    ASSERT_EQ(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    ASSERT_EQ(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  }
  std::atomic<int> turn = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      EXPECT_EQ(cuCtxSetCurrent(context_), CUDA_SUCCESS);
      for (int round = 0; round < kRounds; ++round) {
        while (turn != round * kThreads + i) std::this_thread::yield();
        EXPECT_EQ(cuStreamWaitEvent(streams[i], events[(i + kThreads - 1) % kThreads], 0), CUDA_SUCCESS);
        EXPECT_EQ(cuLaunchHostFunc(streams[i], Counter::add, &counter), CUDA_SUCCESS);
        EXPECT_EQ(cuEventRecord(events[i], streams[i]), CUDA_SUCCESS);
        ++turn;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  ASSERT_EQ(cuCtxSynchronize(), CUDA_SUCCESS);
  EXPECT_EQ(counter.value, kThreads * kRounds);
}

}  // namespace
}  // namespace cupola::driver
