#include "runtime/shared_event.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

namespace cupola::runtime {
namespace {

std::shared_ptr<SharedEvent> make() {
  auto made = SharedEvent::make();
  return made ? *made : nullptr;
}

/// Runs `body` in another process; what it returns is the exit status.
template <typename Body>
int in_child(Body body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  int status = -1;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(SharedEvent, HasHappenedBeforeItWasEverRecorded) {
  const auto event = make();
  ASSERT_TRUE(event);
  EXPECT_EQ(event->last().number, 0u);
  EXPECT_TRUE(event->has_happened(event->last()));
}

TEST(SharedEvent, HappensByNumber) {
  const auto event = make();
  ASSERT_TRUE(event);
  const uint32_t first = event->record(), second = event->record();
  event->happened(first);
  EXPECT_FALSE(event->has_happened(event->last()));
  event->happened(second);
  EXPECT_TRUE(event->has_happened(event->last()));
  event->happened(first);  // late: no step back
  EXPECT_TRUE(event->has_happened(event->last()));
}

TEST(SharedEvent, IsSeenByAnotherProcess) {
  const auto event = make();
  ASSERT_TRUE(event);
  const uint32_t number = event->record();
  const EventTicket ticket = event->ticket();
  EXPECT_EQ(in_child([&] {
              auto opened = SharedEvent::open(ticket);
              if (!opened) return 1;
              if ((*opened)->last().number != number || (*opened)->has_happened((*opened)->last())) return 2;
              (*opened)->happened(number);
              return 0;
            }),
            0);
  EXPECT_TRUE(event->has_happened(event->last()));
}

TEST(SharedEvent, DoesNotHangOnAProcessThatHasEnded) {
  const auto event = make();
  ASSERT_TRUE(event);
  EXPECT_EQ(in_child([&] {
              event->record();
              return event->has_happened(event->last()) ? 1 : 0;  // its recorder lives
            }),
            0);
  const SharedEvent::Recording last = event->last();
  EXPECT_NE(last.process, getpid());
  testing::internal::CaptureStderr();
  EXPECT_TRUE(event->has_happened(last));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("has ended"), std::string::npos);
  const auto waiter = event->waiter(last);
  bool over = false;
  for (int i = 0; i < 1000 && !over; ++i) over = waiter();
  EXPECT_TRUE(over);
}

TEST(SharedEvent, RefusesWhatIsNoTicket) {
  const auto event = make();
  ASSERT_TRUE(event);
  EventTicket ticket = event->ticket();
  EXPECT_EQ(SharedEvent::open(ticket).error().code, ErrorCode::InvalidContext);  // this process's own
  EXPECT_EQ(in_child([&] {
              ++ticket.file;
              auto other = SharedEvent::open(ticket);
              return other || other.error().code != ErrorCode::MapFailed ? 1 : 0;
            }),
            0);
  EXPECT_EQ(SharedEvent::open({}).error().code, ErrorCode::MapFailed);
}

}  // namespace
}  // namespace cupola::runtime
