#pragma once

#include <cstdint>

#if defined(__APPLE__)
#include <pthread.h>
#else
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace cupola {

/// The system's number of the calling thread, as debuggers show it.
inline uint32_t thread_id() {
#if defined(__APPLE__)
  uint64_t id = 0;
  pthread_threadid_np(nullptr, &id);
  return static_cast<uint32_t>(id);
#else
  return static_cast<uint32_t>(syscall(SYS_gettid));
#endif
}

}  // namespace cupola
