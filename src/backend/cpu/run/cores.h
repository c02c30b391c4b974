#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#if defined(__linux__)
#include <sched.h>
#endif

namespace cupola::cpu {

/// Which of the machine's cores have threads that run a device's blocks, so that a thread that is woken goes to another
/// one at once: systems may put it on the core of who wakes it, to wait there for milliseconds, which are all of a
/// kernel's. On systems that do not say where threads are, nothing happens.
class Cores {
 public:
  /// A thread that sleeps and is woken. Used by it while it is awake, and by who wakes it.
  class Sleeper {
   public:
    /// By the thread: before it sleeps, and when it was woken, with the affinity that it had before.
    void sleeps();
    void wakes();

   private:
    friend class Cores;
#if defined(__linux__)
    pid_t thread_ = 0;
    cpu_set_t allowed_;
#endif
    bool is_sent_ = false;
  };

  Cores();

  /// What a thread that is awake does.
  enum class Doing : bool { Works, Looks };

  /// The calling thread begins to work, or to look for work. Returns where, to be given to leave(). Any thread.
  int enter(Doing doing = Doing::Works);
  void leave(int core, Doing doing = Doing::Works);

  /// Which of `parts` equal parts of the cores that the device may use the calling thread is on now. Where the system
  /// does not say, or the device has not a worker (of `workers`) for each core, the part goes by the worker's number.
  uint32_t part(uint32_t parts, uint32_t worker, uint32_t workers) const;

  /// The calling thread leaves its core to one that does this there, if another core has no thread that works or looks:
  /// the system would let one of the two wait for milliseconds. Any thread, outside enter() and leave().
  void make_room(Doing doing) const;

  /// Before `sleeper` is woken: to a core that neither has a thread that works nor is the calling one's, if it may run
  /// on such a one. Any thread.
  void send(Sleeper& sleeper);

 private:
#if defined(__linux__)
  using Counts = std::vector<std::atomic<uint32_t>>;
  /// Takes the cores that have such threads out of the set; false if none is left.
  static bool leave_free(const Counts& threads, cpu_set_t& cores);
#endif

  const std::vector<std::atomic<uint32_t>>& threads(Doing doing) const {
    return doing == Doing::Works ? working_ : looking_;
  }

  std::vector<std::atomic<uint32_t>> working_, looking_;  ///< by core: threads
#if defined(__linux__)
  std::vector<uint32_t> ranks_;  ///< by core: how many usable ones are before it
  uint32_t usable_ = 0;          ///< cores on which the thread that made this may run
#endif
};

/// The calling thread works while this lives.
class OnCore {
 public:
  explicit OnCore(Cores& cores) : cores_(cores), core_(cores.enter()) {}
  ~OnCore() { cores_.leave(core_); }
  OnCore(const OnCore&) = delete;
  OnCore& operator=(const OnCore&) = delete;

 private:
  Cores& cores_;
  const int core_;
};

}  // namespace cupola::cpu
