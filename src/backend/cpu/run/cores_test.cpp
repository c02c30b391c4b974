#include "backend/cpu/run/cores.h"

#include <gtest/gtest.h>

#if defined(__linux__)
#include <sched.h>

#include <unistd.h>

#include <optional>
#include <thread>

#include "base/wait_word.h"

namespace cupola::cpu {
namespace {

cpu_set_t affinity() {
  cpu_set_t set;
  EXPECT_EQ(sched_getaffinity(0, sizeof set, &set), 0);
  return set;
}

/// The calling thread stays on the core that it is on. Returns which.
int stay() {
  const int here = sched_getcpu();
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(here, &one);
  EXPECT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  return here;
}

struct Sent {
  int core;               ///< where the thread woke up
  cpu_set_t while_there;  ///< where it may have run, asleep
};

/// A thread that the calling one sends and wakes; it may run on the cores of `allowed`.
Sent send(Cores& cores, const cpu_set_t& allowed) {
  Cores::Sleeper sleeper;
  WaitWord asleep, woken;
  Sent sent;
  pid_t id = 0;
  std::thread thread([&] {
    sched_setaffinity(0, sizeof allowed, &allowed);
    id = gettid();
    sleeper.sleeps();
    asleep.raise(1);
    woken.wait();
    sent.core = sched_getcpu();
    sleeper.wakes();
    const cpu_set_t after = affinity();
    EXPECT_TRUE(CPU_EQUAL(&after, &allowed));
  });
  asleep.wait();
  cores.send(sleeper);
  EXPECT_EQ(sched_getaffinity(id, sizeof sent.while_there, &sent.while_there), 0);
  woken.raise(1);
  thread.join();
  return sent;
}

/// On a thread of its own, whose affinity is its own to change.
template <typename Body>
void on_a_thread(Body body) {
  std::thread(body).join();
}

TEST(Cores, WhoIsWokenLeavesTheCoreToWhoWakes) {
  on_a_thread([] {
    const cpu_set_t all = affinity();
    if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one core";
    Cores cores;
    const int here = stay();
    for (int i = 0; i < 20; ++i) EXPECT_NE(send(cores, all).core, here);
  });
}

TEST(Cores, WhoIsWokenStaysWhereItMust) {
  on_a_thread([] {
    Cores cores;
    const int here = stay();
    EXPECT_EQ(send(cores, affinity()).core, here);
  });
}

// Where all work it wakes up wherever the system likes.
TEST(Cores, NobodyIsSentToACoreThatWorks) {
  on_a_thread([] {
    Cores cores;
    const cpu_set_t all = affinity();
    const int first = stay();
    std::optional<OnCore> works(cores);
    sched_setaffinity(0, sizeof all, &all);
    cpu_set_t free = all;
    CPU_CLR(static_cast<size_t>(first), &free);
    if (CPU_COUNT(&free) == 0) GTEST_SKIP() << "one core";
    sched_setaffinity(0, sizeof free, &free);
    CPU_CLR(static_cast<size_t>(stay()), &free);
    const auto is_sent_to = [&](const cpu_set_t& cores_left) {
      const Sent sent = send(cores, all);
      return CPU_EQUAL(&sent.while_there, &cores_left) != 0;
    };
    EXPECT_TRUE(is_sent_to(CPU_COUNT(&free) == 0 ? all : free));
    works.reset();
    CPU_SET(static_cast<size_t>(first), &free);
    EXPECT_TRUE(is_sent_to(free));
  });
}

/// Whether a thread leaves the core that it is on for one without threads, when another one there does `doing`.
void expect_room(Cores::Doing doing) {
  on_a_thread([=] {
    const cpu_set_t all = affinity();
    if (CPU_COUNT(&all) < 2) GTEST_SKIP() << "one core";
    Cores cores;
    const int here = stay();
    cores.enter(doing);
    const auto is_alone_elsewhere = [&] {
      cores.make_room(doing);
      const cpu_set_t after = affinity();
      return sched_getcpu() != here && CPU_EQUAL(&after, &all);
    };
    EXPECT_FALSE(is_alone_elsewhere()) << "it must stay";
    bool left = false;
    for (int i = 0; i < 20 && !left; ++i) {  // the system may take it back between the lines
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(static_cast<size_t>(here), &one);
      ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
      ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
      left = is_alone_elsewhere();
    }
    EXPECT_TRUE(left);
  });
}

TEST(Cores, WhoLooksMakesRoomForWhoWorks) {
  expect_room(Cores::Doing::Works);
}

TEST(Cores, WhoWorksMakesRoomForWhoLooks) {
  expect_room(Cores::Doing::Looks);
}

TEST(Cores, TheCoreThatAThreadIsOnSaysWhichPartItTakes) {
  on_a_thread([] {
    const cpu_set_t all = affinity();
    const auto usable = static_cast<uint32_t>(CPU_COUNT(&all));
    Cores cores;
    uint32_t rank = 0;
    for (size_t core = 0; core < CPU_SETSIZE; ++core) {
      if (!CPU_ISSET(core, &all)) continue;
      cpu_set_t one;
      CPU_ZERO(&one);
      CPU_SET(core, &one);
      ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
      EXPECT_EQ(cores.part(usable, 0, usable), rank);
      EXPECT_EQ(cores.part(1, 5, usable), 0u);
      EXPECT_EQ(cores.part(2, 0, usable), rank * 2 / usable);
      EXPECT_EQ(cores.part(4, 7, usable + 1), 3u) << "not a worker for each core";
      ++rank;
    }
  });
}

}  // namespace
}  // namespace cupola::cpu
#endif
