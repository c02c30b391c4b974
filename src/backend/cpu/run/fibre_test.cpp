#include "backend/cpu/run/fibre.h"

#include <gtest/gtest.h>

#include <string>

// Fibres as home sees them. Oracle: what each writes down, in order.

namespace cupola::cpu {
namespace {

/// A fibre that does what it is told, and its notes.
struct Actor {
  explicit Actor(StackPool& pool, std::string& notes) : stacks(pool), notes(notes) {}
  ~Actor() {
    if (Stack* stack = fibre.drop()) stacks.release(stack);
  }
  void begin(void (*acts)(Actor&)) {
    act = acts;
    Stack* const stack = fibre.stack() ? fibre.drop() : stacks.acquire();
    fibre.start(
        stack, stack->top - 128, [](void* self) { static_cast<Actor*>(self)->act(*static_cast<Actor*>(self)); }, this);
  }
  void note(char what) { notes += what; }

  StackPool& stacks;
  std::string& notes;
  Fibre fibre;
  void (*act)(Actor&) = nullptr;
  Actor* other = nullptr;
};

class Fibres : public testing::Test {
 protected:
  void resume(Actor& actor) {
    actor.fibre.resume(home);
    notes += '.';
  }
  StackPool stacks;
  FibreHome home;
  std::string notes;
  Actor first{stacks, notes}, second{stacks, notes};
};

TEST_F(Fibres, OneThatNeverWaitsReturns) {
  for (int i = 0; i < 3; ++i) {
    first.begin([](Actor& self) { self.note('a'); });
    EXPECT_TRUE(first.fibre.is_alive());
    resume(first);
    EXPECT_FALSE(first.fibre.is_alive());
  }
  EXPECT_EQ(notes, "a.a.a.");
}

TEST_F(Fibres, OneThatWaitedEndsWhereItWasResumedLast) {
  first.begin([](Actor& self) {
    self.note('a');
    self.fibre.suspend();
    self.note('b');
    self.fibre.suspend();
    self.note('c');
  });
  resume(first);
  EXPECT_TRUE(first.fibre.is_alive());
  std::string deeper = "from a frame that lies elsewhere: ";
  [&] {
    resume(first);
    resume(first);
  }();
  EXPECT_FALSE(first.fibre.is_alive());
  EXPECT_EQ(notes, "a.b.c.");
  EXPECT_EQ(deeper, "from a frame that lies elsewhere: ");
}

TEST_F(Fibres, OneThatEndsEarlyLeavesItsFrames) {
  first.begin([](Actor& self) {
    self.note('a');
    [&] { self.fibre.end(); }();
    self.note('b');
  });
  resume(first);
  EXPECT_FALSE(first.fibre.is_alive());
  EXPECT_EQ(notes, "a.");
}

// The one that was begun by home gives its turn to one that is to begin; either may end first, or wait.
TEST_F(Fibres, TheyGoOnWithEachOther) {
  first.other = &second;
  second.other = &first;
  first.begin([](Actor& self) {
    self.note('a');
    self.fibre.switch_to(self.other->fibre);
    self.note('c');
  });
  second.begin([](Actor& self) {
    self.note('b');
    self.fibre.switch_to(self.other->fibre);
    self.note('d');
    self.fibre.suspend();
    self.note('e');
  });
  resume(first);
  EXPECT_FALSE(first.fibre.is_alive());
  EXPECT_TRUE(second.fibre.is_alive());
  resume(second);
  EXPECT_TRUE(second.fibre.is_alive());
  resume(second);
  EXPECT_FALSE(second.fibre.is_alive());
  EXPECT_EQ(notes, "abc.d.e.");

  notes.clear();
  first.begin([](Actor& self) {
    self.note('a');
    self.fibre.switch_to(self.other->fibre);
    self.note('c');
  });
  second.begin([](Actor& self) { self.note('b'); });
  resume(first);
  EXPECT_TRUE(first.fibre.is_alive());
  EXPECT_FALSE(second.fibre.is_alive());
  resume(first);
  EXPECT_EQ(notes, "ab.c.");
}

// A call aligns the stack for what it calls.
TEST_F(Fibres, StacksAreAligned) {
  first.begin([](Actor& self) {
    alignas(64) volatile char buffer[64] = {};
    self.note(reinterpret_cast<uintptr_t>(&buffer) % 64 == 0 ? 'a' : '!');
    self.note(reinterpret_cast<uintptr_t>(__builtin_frame_address(0)) % 16 == 0 ? 'b' : '!');
  });
  resume(first);
  EXPECT_EQ(notes, "ab.");
}

}  // namespace
}  // namespace cupola::cpu
