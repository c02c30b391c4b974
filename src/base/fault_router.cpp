#include "base/fault_router.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>

#include "base/machine_context.h"
#include "base/mutex.h"
#include "base/platform.h"

// A signal handler may run at any moment on any thread, so what it reads is atomics and arrays that are complete before
// the first handler is installed. What nobody claims goes to the action that was there before ours.

namespace cupola {
namespace {

constexpr int kSignals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
constexpr int kMaxHandlers = 8;
constexpr size_t kAlternateStackBytes = 64 * 1024;

constinit std::atomic<FaultRouter::Handler> handlers[kMaxHandlers] = {};
struct sigaction previous[NSIG];

/// Gives the signal to whoever had it before.
void chain(int signal, siginfo_t* info, void* context) {
  const struct sigaction& before = previous[signal];
  if (before.sa_flags & SA_SIGINFO) return before.sa_sigaction(signal, info, context);
  const bool sent = info->si_code <= 0;  // by kill(), not by an instruction
  if (before.sa_handler == SIG_IGN && sent) return;
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) return before.sa_handler(signal);
  // The default action. The instruction faults again when we return; a signal that was sent has to be sent again.
  struct sigaction fallback = {};
  fallback.sa_handler = SIG_DFL;
  sigaction(signal, &fallback, nullptr);
  if (sent) raise(signal);
}

void route(int signal, siginfo_t* info, void* context) {
  const int saved_errno = errno;
  if (info->si_code > 0) {
    FaultRouter::Fault fault;
    fault.signal = signal;
    fault.program_counter = machine_context::program_counter(context);
    fault.address =
        signal == SIGSEGV || signal == SIGBUS ? reinterpret_cast<uint64_t>(info->si_addr) : fault.program_counter;
    fault.machine_context = context;
    for (const std::atomic<FaultRouter::Handler>& slot : handlers) {
      FaultRouter::Handler handler = slot.load();
      if (!handler) break;
      if (handler(fault)) {
        errno = saved_errno;
        return;
      }
    }
  }
  errno = saved_errno;
  chain(signal, info, context);
}

void install() {
  for (int signal : kSignals) {
    sigaction(signal, nullptr, &previous[signal]);
    struct sigaction action = {};
    action.sa_sigaction = route;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&action.sa_mask);
    sigaction(signal, &action, nullptr);
  }
}

size_t alternate_stack_bytes() {
#if defined(_SC_SIGSTKSZ)
  // Wide vector registers make the signal frame large; the system knows how large.
  return std::max(kAlternateStackBytes, static_cast<size_t>(std::max(0L, sysconf(_SC_SIGSTKSZ))));
#else
  return kAlternateStackBytes;
#endif
}

/// A thread's alternate stack, given back when the thread ends.
class AlternateStack {
 public:
  AlternateStack() {
    stack_t now = {};
    if (sigaltstack(nullptr, &now) != 0 || !(now.ss_flags & SS_DISABLE)) return;
    const size_t page = static_cast<size_t>(sysconf(_SC_PAGESIZE));
    bytes_ = (alternate_stack_bytes() + page - 1) / page * page + page;
    void* base = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) return;
    mprotect(base, page, PROT_NONE);  // an overflow faults instead of writing elsewhere
    base_ = base;
    stack_t ours = {};
    ours.ss_sp = static_cast<char*>(base) + page;
    ours.ss_size = bytes_ - page;
    sigaltstack(&ours, nullptr);
  }
  ~AlternateStack() {
    if (!base_) return;
    stack_t none = {};
    none.ss_flags = SS_DISABLE;
    none.ss_size = alternate_stack_bytes();  // macOS checks it
    sigaltstack(&none, nullptr);
    munmap(base_, bytes_);
  }
  AlternateStack(const AlternateStack&) = delete;
  AlternateStack& operator=(const AlternateStack&) = delete;

 private:
  void* base_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace

void FaultRouter::add(Handler handler) {
  static Mutex* const mutex = new Mutex;  // leaked: libraries are used after static destructors
  Lock lock(*mutex);
  static bool installed = false;
  for (std::atomic<Handler>& slot : handlers) {
    if (slot.load() == handler) return;
    if (slot.load()) continue;
    slot.store(handler);
    if (!installed) install();
    installed = true;
    return;
  }
  std::abort();  // more than kMaxHandlers: a mistake in this program, not of its user
}

void FaultRouter::prepare_thread() {
  thread_local AlternateStack stack;
}

bool FaultRouter::serves_this_thread() {
  enum class Known : uint8_t { No, Serves, Blocks };
  CUPOLA_NEAR_THREAD_LOCAL static constinit Known known = Known::No;
  if (known == Known::No) [[unlikely]] {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    const bool blocks = std::ranges::any_of(kSignals, [&](int signal) { return sigismember(&blocked, signal) == 1; });
    known = blocks ? Known::Blocks : Known::Serves;
  }
  return known == Known::Serves;
}

void FaultRouter::redirect(const Fault& fault, void (*landing)(void*), void* argument, void* stack_top) {
  machine_context::enter(fault.machine_context, landing, argument, stack_top);
}

}  // namespace cupola
