#pragma once

#include <csignal>
#include <cstdint>

namespace cupola {

/// Serves SIGSEGV, SIGBUS, SIGFPE and SIGILL for every part of Cupola that wants them (kernels, later the pager).
/// Handlers that were installed before ours are called for what is not ours; ones installed after ours win.
class FaultRouter {
 public:
  struct Fault {
    int signal;
    uint64_t address;  ///< what was touched (SIGSEGV, SIGBUS), else the program counter
    uint64_t program_counter;
    void* machine_context;  ///< ucontext_t*
  };

  /// Called on the faulting thread, on its alternate stack; may only do what is async-signal-safe. True: handled,
  /// return to the (perhaps changed) machine context. False: the next handler is asked.
  using Handler = bool (*)(const Fault&);

  /// Installs the signal handlers at the first call. Any thread; at most 8 handlers, never removed.
  static void add(Handler handler);

  /// Gives the calling thread an alternate signal stack, if it has none. Each thread that runs kernels calls it once.
  static void prepare_thread();

  /// False on a thread that blocked one of the signals when it first asked: the system ends the process at a fault
  /// there.
  static bool serves_this_thread();

  /// Sends the thread to `landing(argument)` on the stack that ends at `stack_top` when the handler returns true.
  static void redirect(const Fault& fault, void (*landing)(void*), void* argument, void* stack_top);
};

}  // namespace cupola
