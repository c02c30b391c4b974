#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/run/stack_pool.h"

namespace cupola::cpu {

class Fibre;
struct FibreHome;

/// What the one that leaves a stack tells the one that goes on. It lies with the one that leaves, on no stack: the
/// sanitizers count frames as gone once a stack is being left.
struct Departure {
  Fibre* to = nullptr;        ///< null: home
  void** left = nullptr;      ///< where the context goes that was left; null: it is over
  FibreHome* home = nullptr;  ///< that was left; null: a fibre was
};

/// The place of an OS thread from which fibres are resumed and to which they return. One a worker; fibres never move to
/// another OS thread.
struct FibreHome {
  void* context = nullptr;  ///< where to go on when the running fibre stops
  // The home stack, for the sanitizers.
  const void* bottom = nullptr;
  size_t size = 0;
  void* sanitizer_fibre = nullptr;
  Departure departure;
};

/// A stack of its own for a function. It may be dropped at any point where it does not run: nothing is unwound.
/// Floating-point control state is the thread's.
class Fibre {
 public:
  using Entry = void (*)(void* argument);

  /// Prepares `entry(argument)` on `stack`, below `top` (inside the stack's window, at or below stack->top). When
  /// `entry` returns, the fibre is over.
  void start(Stack* stack, std::byte* top, Entry entry, void* argument);

  /// Runs until the fibre, or one that it switched to, suspends, ends or is abandoned.
  void resume(FibreHome& home);

  /// Called on the fibre: back to `home`.
  void suspend();

  /// Called on the fibre: goes on with another one, which has begun or suspended or switched and has the same home.
  void switch_to(Fibre& next);

  /// Called on the fibre, or on any other stack of the thread while this fibre is the running one: ends it.
  [[noreturn]] void end();

  /// False before start() and when it has ended.
  bool is_alive() const { return is_alive_; }

  Stack* stack() const { return stack_; }

  /// Tells the sanitizers that the frames on the stack are no more; for a fibre that was ended from another stack.
  void forget_frames();

  /// Forgets the fibre, which does not run; returns its stack.
  Stack* drop();

 private:
  struct Trampoline;

  void entered(const Departure& departure);
  void leave_for_good();
  void go(void* to);
  void arrive(const Departure& departure, void* from);

  bool is_alive_ = false;
  bool was_left_ = false;    ///< once: it may not return to where it was begun
  void* context_ = nullptr;  ///< where to go on; null while it is to begin
  std::byte* top_ = nullptr;
  FibreHome* home_ = nullptr;
  Stack* stack_ = nullptr;
  Entry entry_ = nullptr;
  void* argument_ = nullptr;
  void* saved_ = nullptr;  ///< AddressSanitizer's fake stack
  Departure departure_;
};

}  // namespace cupola::cpu
