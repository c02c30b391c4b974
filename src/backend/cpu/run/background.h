#pragma once

#include <functional>

#include "base/result.h"

namespace cupola::cpu {

/// Work that no launch needs: one piece after the other on the process's one thread for it, "cupola-later", whose
/// priority is low. It begins with the first piece, and again when one comes after it ended for want of work. Any
/// thread.
class Background {
 public:
  /// Error: OperatingSystem when the thread cannot be started; the work is dropped.
  static Result<> submit(std::function<void()> work);

  /// On the program's main thread: when that ends, or the process by exit() on it, what goes on is waited for and what
  /// has not begun never does. Thread-local objects are destroyed before all others, so that what the work uses is
  /// there still. On other threads: nothing.
  static void ends_with_main_thread();

  /// Until what was submitted before is done. Not from within it.
  static void wait_until_idle();
};

}  // namespace cupola::cpu
