#include "backend/cpu/run/device_thread.h"

#include <pthread.h>
#include <signal.h>

namespace cupola::cpu {
namespace {

void name_this_thread(const std::string& name) {
#if defined(__APPLE__)
  pthread_setname_np(name.c_str());
#else
  pthread_setname_np(pthread_self(), name.c_str());
#endif
}

}  // namespace

std::thread start_device_thread(std::string name, std::function<void()> body) {
  sigset_t blocked, before;
  sigfillset(&blocked);
  for (int synchronous : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT, SIGSYS}) sigdelset(&blocked, synchronous);
  pthread_sigmask(SIG_SETMASK, &blocked, &before);
  std::thread thread([name = std::move(name), body = std::move(body)] {
    name_this_thread(name);
    body();
  });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace cupola::cpu
