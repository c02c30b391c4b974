#include <atomic>
#include <chrono>
#include <mutex>
#include <set>
#include <thread>

#include "hal/cts/test_case.h"

// Oracle: the contracts in hal/queue.h and hal/command.h.

namespace cupola::hal::cts {
namespace {

void commands_are_numbered_from_one(TestCase& t) {
  EXPECT_EQ(t.queue->progress()->value(), 0u);
  for (uint64_t i = 1; i <= 10; ++i) EXPECT_EQ(t.queue->submit(HostCall{[] {}}), i);
  t.expect_done(*t.queue, 10);
  EXPECT_EQ(t.queue->progress()->value(), 10u);
}

void commands_run_in_order(TestCase& t) {
  std::vector<int> order;
  std::vector<uint32_t> values(1000);
  auto buffer = t.make_buffer(4);
  for (uint32_t i = 0; i < 1000; ++i) {
    t.queue->submit(Fill{.destination = buffer->address(), .value = i * 77, .value_bytes = 4, .width = 1});
    t.queue->submit(HostCall{[&order, i] { order.push_back(static_cast<int>(i)); }});
    t.queue->submit(Copy{.destination = address_of(&values[i]), .source = buffer->address(), .width = 4});
  }
  t.expect_done(*t.queue, 3000);
  for (uint32_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(values[i], i * 77);
    EXPECT_EQ(order[i], static_cast<int>(i));
  }
}

void progress_covers_what_is_before(TestCase& t) {
  std::atomic<int> calls{0};
  uint64_t last = 0;
  for (int i = 0; i < 100; ++i) last = t.queue->submit(HostCall{[&] { ++calls; }});
  t.expect_done(*t.queue, last);
  EXPECT_EQ(calls, 100);
}

void a_queue_that_waits_does_not_stop_others(TestCase& t) {
  auto gate = t.device->create_semaphore(0);
  auto other = t.device->create_queue(0).value();
  int value = 0;
  t.queue->submit(Wait{gate, 1});
  const uint64_t last = t.queue->submit(HostCall{[&] { value *= 2; }});
  t.expect_done(*other, other->submit(HostCall{[&] { value = 21; }}));
  EXPECT_EQ(t.queue->progress()->value(), 0u);
  other->submit(Signal{gate, 1});
  t.expect_done(*t.queue, last);
  EXPECT_EQ(value, 42);
}

void host_calls_run_on_another_thread(TestCase& t) {
  std::thread::id there;
  t.run(HostCall{[&] { there = std::this_thread::get_id(); }});
  EXPECT_NE(there, std::thread::id());
  EXPECT_NE(there, std::this_thread::get_id());
}

void callbacks_run_in_order_with_no_error(TestCase& t) {
  std::vector<int> order;
  const auto note = [&order](int number) {
    return Callback{[&order, number](const Error* error) { order.push_back(error ? -1 : number); }};
  };
  t.queue->submit(note(1));
  t.queue->submit(HostCall{[&] { order.push_back(2); }});
  t.expect_done(*t.queue, t.queue->submit(note(3)));
  EXPECT_EQ(order, (std::vector<int>{1, 2, 3}));
}

void submit_does_not_wait_for_the_command(TestCase& t) {
  std::atomic<bool> released{false};
  t.queue->submit(HostCall{[&] {
    while (!released) std::this_thread::yield();
  }});
  const uint64_t last = t.queue->submit(HostCall{[] {}});
  EXPECT_EQ(t.queue->progress()->value(), 0u);
  released = true;
  t.expect_done(*t.queue, last);
}

// A stream holds a lock while it enqueues, and what waits for its commands may take that lock.
void enqueue_completes_nothing_on_its_thread(TestCase& t) {
  static thread_local bool enqueueing = false;
  std::atomic<int> completions{0}, while_enqueueing{0};
  uint64_t last = 0;
  for (uint64_t i = 1; i <= 100; ++i) {
    auto semaphore = t.device->create_semaphore(0);
    semaphore->when(1, [&] {
      if (enqueueing) ++while_enqueueing;
      ++completions;
    });
    enqueueing = true;
    t.queue->enqueue(Wait{semaphore, 0});
    last = t.queue->enqueue(Signal{semaphore, 1});
    t.queue->progress()->when(last, [&] {
      if (enqueueing) ++while_enqueueing;
      ++completions;
    });
    enqueueing = false;
    t.queue->start();
  }
  t.expect_done(*t.queue, last);
  while (completions < 200) std::this_thread::yield();
  EXPECT_EQ(while_enqueueing, 0);
}

// The first signal completes a chain of queues, each of which waits for the one before.
void long_chains_need_no_stack(TestCase& t) {
  constexpr uint64_t kQueues = 10'000;
  auto gate = t.device->create_semaphore(0);
  std::vector<std::unique_ptr<Queue>> queues;
  std::shared_ptr<Semaphore> before = gate;
  for (uint64_t i = 0; i < kQueues; ++i) {
    queues.push_back(t.device->create_queue(0).value());
    queues.back()->submit(Wait{before, 1});
    before = queues.back()->progress();
  }
  EXPECT_EQ(before->value(), 0u);
  gate->signal(1);
  EXPECT_TRUE(before->wait(1));
}

// The same with semaphores whose functions signal the next.
void long_chains_of_functions_need_no_stack(TestCase& t) {
  constexpr size_t kLinks = 100'000;
  std::vector<std::shared_ptr<Semaphore>> chain;
  for (size_t i = 0; i <= kLinks; ++i) chain.push_back(t.device->create_semaphore(0));
  for (size_t i = 0; i < kLinks; ++i) chain[i]->when(1, [&chain, i] { chain[i + 1]->signal(1); });
  chain[0]->signal(1);
  EXPECT_EQ(chain[kLinks]->value(), 1u);
}

void commands_enqueued_together_stay_together(TestCase& t) {
  constexpr uint64_t kRounds = 200;
  std::vector<int> order;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&, thread] {
      for (uint64_t round = 0; round < kRounds; ++round) {
        std::vector<Command> commands(3);
        for (Command& command : commands) command = HostCall{[&order, thread] { order.push_back(thread); }};
        const uint64_t last = t.queue->enqueue(commands);
        t.queue->start();
        EXPECT_EQ(last % 3, 0u);
      }
    });
  for (std::thread& thread : threads) thread.join();
  t.expect_done(*t.queue, 4 * kRounds * 3);
  ASSERT_EQ(order.size(), 4 * kRounds * 3);
  for (size_t i = 0; i < order.size(); ++i) EXPECT_EQ(order[i], order[i / 3 * 3]);
  EXPECT_EQ(t.queue->enqueue(std::span<Command>()), 4 * kRounds * 3);
}

void timestamps_grow_and_span_what_is_between(TestCase& t) {
  std::vector<std::shared_ptr<std::atomic<uint64_t>>> stamps;
  for (int i = 0; i < 5; ++i) {
    stamps.push_back(std::make_shared<std::atomic<uint64_t>>(0));
    t.queue->submit(Timestamp{stamps.back()});
    t.queue->submit(HostCall{[] { std::this_thread::sleep_for(std::chrono::milliseconds(2)); }});
  }
  t.expect_done(*t.queue, 10);
  for (int i = 1; i < 5; ++i) EXPECT_GE(*stamps[i], *stamps[i - 1] + 2000000);
}

void threads_may_submit_together(TestCase& t) {
  std::mutex mutex;
  std::set<uint64_t> numbers;
  std::atomic<int> calls{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int i = 0; i < 500; ++i) {
        const uint64_t number = t.queue->submit(HostCall{[&] { ++calls; }});
        const std::lock_guard lock(mutex);
        numbers.insert(number);
      }
    });
  for (std::thread& thread : threads) thread.join();
  t.expect_done(*t.queue, 2000);
  EXPECT_EQ(calls, 2000);
  EXPECT_EQ(numbers.size(), 2000u);
  EXPECT_EQ(*numbers.rbegin(), 2000u);
}

void destroying_a_queue_lets_its_commands_end(TestCase& t) {
  auto calls = std::make_shared<std::atomic<int>>(0);
  auto done = t.device->create_semaphore(0);
  for (uint64_t round = 1; round <= 20; ++round) {
    auto queue = t.device->create_queue(0).value();
    for (int i = 0; i < 10; ++i) queue->submit(HostCall{[calls] { ++*calls; }});
    queue->submit(Signal{done, round});
    queue.reset();
    EXPECT_TRUE(done->wait(round));
  }
  EXPECT_EQ(*calls, 200);
}

void destroying_a_queue_waits_for_nothing(TestCase& t) {
  struct Gate {
    std::atomic<bool> open{false}, is_late{false};
  };
  const auto gate = std::make_shared<Gate>();
  const auto done = t.device->create_semaphore(0);
  auto queue = t.device->create_queue(0).value();
  queue->submit(HostCall{[gate] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
    while (!gate->open && !gate->is_late) gate->is_late = std::chrono::steady_clock::now() > end;
  }});
  queue->submit(Signal{done, 1});
  queue.reset();
  EXPECT_FALSE(gate->is_late) << "the queue's end waited for its commands";
  gate->open = true;
  EXPECT_TRUE(done->wait(1));
}

void many_queues_live_together(TestCase& t) {
  std::vector<std::unique_ptr<Queue>> queues;
  std::atomic<int> calls{0};
  for (int i = 0; i < 200; ++i) {
    queues.push_back(t.device->create_queue(i % 3 - 1).value());
    queues.back()->submit(HostCall{[&] { ++calls; }});
  }
  for (const auto& queue : queues) t.expect_done(*queue, 1);
  EXPECT_EQ(calls, 200);
}

void a_queue_may_go_on_its_own_thread(TestCase& t) {
  const std::shared_ptr<Semaphore> gone = t.device->create_semaphore(0);
  for (uint64_t i = 1; i <= 100; ++i) {
    std::shared_ptr<Queue> queue = t.device->create_queue(0).value();
    Queue& seen = *queue;
    seen.submit(HostCall{[queue = std::move(queue), gone, i]() mutable {
      queue.reset();
      gone->signal(i);
    }});
    EXPECT_TRUE(gone->wait(i).has_value());
  }
}

void a_queue_may_go_once_its_commands_are_done(TestCase& t) {
  std::atomic<int> gone{0};
  for (int i = 0; i < 100; ++i) {
    std::shared_ptr<Queue> queue = t.device->create_queue(0).value();
    std::shared_ptr<Semaphore> progress = queue->progress();
    const uint64_t last = queue->submit(HostCall{[] {}});
    progress->when(last, [queue = std::move(queue), &gone]() mutable {
      queue.reset();
      ++gone;
    });
    EXPECT_TRUE(progress->wait(last).has_value());
  }
  while (gone < 100) std::this_thread::yield();
}

}  // namespace

std::vector<Test> queue_tests() {
  return {
      {"Queue", "CommandsAreNumberedFromOne", false, commands_are_numbered_from_one},
      {"Queue", "CommandsRunInOrder", false, commands_run_in_order},
      {"Queue", "ProgressCoversWhatIsBefore", false, progress_covers_what_is_before},
      {"Queue", "AQueueThatWaitsDoesNotStopOthers", false, a_queue_that_waits_does_not_stop_others},
      {"Queue", "HostCallsRunOnAnotherThread", false, host_calls_run_on_another_thread},
      {"Queue", "CallbacksRunInOrderWithNoError", false, callbacks_run_in_order_with_no_error},
      {"Queue", "SubmitDoesNotWaitForTheCommand", false, submit_does_not_wait_for_the_command},
      {"Queue", "EnqueueCompletesNothingOnItsThread", false, enqueue_completes_nothing_on_its_thread},
      {"Queue", "LongChainsNeedNoStack", false, long_chains_need_no_stack},
      {"Queue", "LongChainsOfFunctionsNeedNoStack", false, long_chains_of_functions_need_no_stack},
      {"Queue", "CommandsEnqueuedTogetherStayTogether", false, commands_enqueued_together_stay_together},
      {"Queue", "TimestampsGrowAndSpanWhatIsBetween", false, timestamps_grow_and_span_what_is_between},
      {"Queue", "ThreadsMaySubmitTogether", false, threads_may_submit_together},
      {"Queue", "DestroyingAQueueLetsItsCommandsEnd", false, destroying_a_queue_lets_its_commands_end},
      {"Queue", "DestroyingAQueueWaitsForNothing", false, destroying_a_queue_waits_for_nothing},
      {"Queue", "ManyQueuesLiveTogether", false, many_queues_live_together},
      {"Queue", "AQueueMayGoOnItsOwnThread", false, a_queue_may_go_on_its_own_thread},
      {"Queue", "AQueueMayGoOnceItsCommandsAreDone", false, a_queue_may_go_once_its_commands_are_done},
  };
}

}  // namespace cupola::hal::cts
