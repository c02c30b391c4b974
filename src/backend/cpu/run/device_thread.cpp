#include "backend/cpu/run/device_thread.h"

#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>

#include <new>
#include <system_error>

#include "base/platform.h"

namespace cupola::cpu {
namespace {

void name_this_thread(const std::string& name) {
#if defined(__APPLE__)
  pthread_setname_np(name.c_str());
#else
  pthread_setname_np(pthread_self(), name.c_str());
#endif
}

CUPOLA_NEAR_THREAD_LOCAL constinit bool this_is_one = false;

}  // namespace

bool is_device_thread() {
  return this_is_one;
}

void lower_priority_of_this_thread() {
#if defined(__APPLE__)
  pthread_set_qos_class_self_np(QOS_CLASS_UTILITY, 0);
#else
  constexpr int kNicer = 5;                         // a third of what a worker on the same core gets
  const int before = getpriority(PRIO_PROCESS, 0);  // Linux: of this thread
  setpriority(PRIO_PROCESS, 0, before + kNicer);
#endif
}

Result<std::thread> start_device_thread(const std::string& name, std::function<void()> body) {
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (int synchronous : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&blocked, synchronous);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  Result<std::thread> result;
  try {
    result = std::thread([name, body = std::move(body)] {
      name_this_thread(name);
      this_is_one = true;
      body();
    });
  } catch (const std::system_error& error) {
    result = fail(ErrorCode::OperatingSystem, "cannot start the device's thread {}: {}; allow the process more threads",
                  name, error.code().message());
  } catch (const std::bad_alloc&) {
    result = fail(Error{ErrorCode::OutOfMemory, "no host memory"});  // short: needs none itself
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

}  // namespace cupola::cpu
