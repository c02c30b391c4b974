#include "backend/cpu/run/fibre_runner.h"

#include <signal.h>
#include <sys/ucontext.h>

#include "backend/cpu/run/moving_memory.h"
#include "backend/cpu/run/sanitizer.h"
#include "base/format.h"
#include "base/platform.h"
#include "image/loader.h"

namespace cupola::cpu {
namespace {

constexpr size_t kLandingStack = 64 * 1024;

// The runner of this thread, for the signal handler: initial-exec, because a first access to dynamic thread-local
// storage may allocate.
CUPOLA_NEAR_THREAD_LOCAL FibreRunner* this_runner = nullptr;

CapturedFault::Access access_of([[maybe_unused]] const FaultRouter::Fault& fault) {
#if defined(__linux__) && defined(__x86_64__)
  if (fault.signal == SIGSEGV || fault.signal == SIGBUS) {
    const auto* context = static_cast<const ucontext_t*>(fault.machine_context);
    constexpr int kGeneralProtection = 13;  // a non-canonical address
    if (context->uc_mcontext.gregs[REG_TRAPNO] == kGeneralProtection) return CapturedFault::Access::Nowhere;
    return context->uc_mcontext.gregs[REG_ERR] & 2 ? CapturedFault::Access::Write : CapturedFault::Access::Read;
  }
#endif
  return CapturedFault::Access::Unknown;
}

}  // namespace

struct FibreRunner::Router {
  static bool handle(const FaultRouter::Fault& fault) {
    FibreRunner* runner = this_runner;
    if (!runner || !runner->running_) return false;
    runner->faulted_ = true;
    runner->fault_ = CapturedFault::of(fault);
    runner->fault_.stack_overflow = runner->running_->stack()->guards(fault.address);
    FaultRouter::redirect(fault, &land, runner, runner->landing_stack_.data() + kLandingStack);
    return true;
  }

#if defined(__clang__)
  __attribute__((no_sanitize("address", "thread")))
#endif
  static void land(void* runner) {
    static_cast<FibreRunner*>(runner)->running_->end();
  }
};

void FibreRunner::prepare() {
  MovingMemory::prepare();  // first: what it waits for is no fault
  [[maybe_unused]] static const bool routed = (FaultRouter::add(&Router::handle), true);
}

FibreRunner::FibreRunner() : landing_stack_(AlignedMapping::reserve(kLandingStack, 4096, PROT_READ | PROT_WRITE)) {
  prepare();
}

FibreRunner::OnThread::OnThread(FibreRunner& runner) {
  FaultRouter::prepare_thread();
  this_runner = &runner;
}

FibreRunner::OnThread::~OnThread() {
  this_runner = nullptr;
}

bool FibreRunner::runs_here() {
  return this_runner != nullptr;
}

FibreRunner::Ending FibreRunner::run(Fibre& fibre) {
  faulted_ = false;
  running_ = &fibre;
  fibre.resume(home_);
  Fibre& last = *running_;
  running_ = nullptr;
  if (faulted_) {
    last.forget_frames();
    return Ending::Faulted;
  }
  return last.is_alive() ? Ending::Suspended : Ending::Ended;
}

CapturedFault CapturedFault::of(const FaultRouter::Fault& fault) {
  CapturedFault result;
  result.signal = fault.signal;
  result.address = fault.address;
  result.program_counter = fault.program_counter;
  result.access = access_of(fault);
  return result;
}

ErrorCode CapturedFault::code() const {
  if (stack_overflow) return ErrorCode::HardwareStackError;
  if (signal == SIGILL) return ErrorCode::IllegalInstruction;
  if (signal == SIGFPE) return ErrorCode::LaunchFailed;
  return ErrorCode::IllegalAddress;
}

std::string CapturedFault::text() const {
  const image::LoadedSegment* segment = image::find_segment(program_counter);
  const std::string place = segment ? segment->source_at(program_counter) : std::string();
  return place.empty() ? what() : what() + ", " + place;
}

std::string CapturedFault::what() const {
  if (stack_overflow) return "stack overflow: the thread's local memory is used up";
  if (signal == SIGILL) return formatted("illegal instruction at {:#x}", address);
  if (signal == SIGFPE) return formatted("arithmetic trap at {:#x}", address);
  switch (access) {
    case Access::Unknown:
      return formatted("illegal memory access at {:#x}", address);
    case Access::Read:
      return formatted("illegal memory access at {:#x} (read)", address);
    case Access::Write:
      return formatted("illegal memory access at {:#x} (write)", address);
    case Access::Nowhere:
      return "illegal memory access far outside of all memory";
  }
  return {};
}

}  // namespace cupola::cpu
