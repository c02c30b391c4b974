#include "runtime/shared_event.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>

#if defined(__linux__)
#include <poll.h>
#include <sys/syscall.h>
#endif

#include "base/log.h"
#include "runtime/memory_watch.h"

namespace cupola::runtime {

/// In the file. Lock-free atomics have no address of their own in them: processes may share them.
struct SharedEvent::Words {
  std::atomic<uint64_t> last;  ///< number of the last recording, and its process in the high half
  std::atomic<uint32_t> happened;
};

namespace {

constexpr std::array<char, 8> kMark = {'c', 'u', 'p', 'o', 'l', 'a', 'E', '1'};
constexpr size_t kBytes = 4096;
static_assert(std::atomic<uint64_t>::is_always_lock_free);

/// Numbers go round.
bool reached(uint32_t number, uint32_t wanted) {
  return static_cast<int32_t>(number - wanted) >= 0;
}

int file_without_name() {
#if defined(__linux__)
  return memfd_create("cupola-event", MFD_CLOEXEC);
#else
  errno = ENOSYS;
  return -1;
#endif
}

/// Whether a process lives, even when its number has been given to another one since.
class Witness {
 public:
  explicit Witness(int32_t process) : process_(process) {
#if defined(__linux__) && defined(SYS_pidfd_open)
    descriptor_ = static_cast<int>(syscall(SYS_pidfd_open, process, 0));
#endif
  }
  ~Witness() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  Witness(const Witness&) = delete;
  Witness& operator=(const Witness&) = delete;

  bool alive() const {
#if defined(__linux__)
    if (descriptor_ >= 0) {
      pollfd ended{descriptor_, POLLIN, 0};
      return poll(&ended, 1, 0) == 0;
    }
#endif
    return kill(process_, 0) == 0 || errno == EPERM;
  }

 private:
  const int32_t process_;
  int descriptor_ = -1;
};

void say_gone(int32_t process) {
  log::line(log::Topic::Error,
            "process {} has ended before an event that it recorded had happened: whoever waits for it goes on",
            process);
}

}  // namespace

SharedEvent::SharedEvent(int descriptor, std::shared_ptr<Words> words)
    : descriptor_(descriptor), words_(std::move(words)) {}

SharedEvent::~SharedEvent() {
  close(descriptor_);
}

namespace {

std::unexpected<Error> map_failed(const char* what) {
  return fail(ErrorCode::MapFailed, "an interprocess event cannot be {}: {}", what, std::strerror(errno));
}

template <typename Words>
std::shared_ptr<Words> map(int descriptor) {
  void* const at = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (at == MAP_FAILED) return nullptr;
  return {static_cast<Words*>(at), [](Words* words) { munmap(words, kBytes); }};
}

}  // namespace

Result<std::shared_ptr<SharedEvent>> SharedEvent::make() {
  TRY(start_watch());
  const int descriptor = file_without_name();
  if (descriptor < 0) return map_failed("made");
  const bool sized = ftruncate(descriptor, kBytes) == 0;
  auto words = sized ? map<Words>(descriptor) : nullptr;
  if (words) return std::shared_ptr<SharedEvent>(new SharedEvent(descriptor, std::move(words)));
  close(descriptor);
  return map_failed("made");
}

Result<std::shared_ptr<SharedEvent>> SharedEvent::open(const EventTicket& ticket) {
  if (ticket.mark != kMark) return fail(ErrorCode::MapFailed, "the handle was not made by cuIpcGetEventHandle");
  if (ticket.process == getpid())
    return fail(ErrorCode::InvalidContext, "the event is this process's own: use it as it is");
  TRY(start_watch());
  const std::string path = formatted("/proc/{}/fd/{}", ticket.process, ticket.descriptor);
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0)
    return fail(ErrorCode::MapFailed, "the event of process {} cannot be opened: {}", ticket.process,
                std::strerror(errno));
  struct stat status{};
  const bool same = fstat(descriptor, &status) == 0 && static_cast<uint64_t>(status.st_dev) == ticket.file_system &&
                    status.st_ino == ticket.file && status.st_size >= static_cast<off_t>(kBytes);
  auto words = same ? map<Words>(descriptor) : nullptr;
  if (words) return std::shared_ptr<SharedEvent>(new SharedEvent(descriptor, std::move(words)));
  close(descriptor);
  if (same) return map_failed("opened");
  return fail(ErrorCode::MapFailed, "process {} has not that event any more", ticket.process);
}

EventTicket SharedEvent::ticket() const {
  struct stat status{};
  fstat(descriptor_, &status);
  return {kMark, getpid(), descriptor_, static_cast<uint64_t>(status.st_dev), status.st_ino};
}

uint32_t SharedEvent::record() {
  const uint64_t process = static_cast<uint64_t>(getpid()) << 32;
  uint64_t last = words_->last.load();
  uint32_t number = 0;
  do {
    number = static_cast<uint32_t>(last) + 1;
    if (number == 0) number = 1;  // 0 is none
  } while (!words_->last.compare_exchange_weak(last, process | number));
  return number;
}

/// One that has happened counts those before it, too.
void SharedEvent::happened(uint32_t number) {
  uint32_t before = words_->happened.load();
  while (!reached(before, number) && !words_->happened.compare_exchange_weak(before, number)) {
  }
}

SharedEvent::Recording SharedEvent::last() const {
  const uint64_t last = words_->last.load();
  return {static_cast<uint32_t>(last), static_cast<int32_t>(last >> 32)};
}

bool SharedEvent::has_happened(const Recording& recording) const {
  if (recording.number == 0 || reached(words_->happened.load(), recording.number)) return true;
  if (Witness(recording.process).alive()) return false;
  if (reached(words_->happened.load(), recording.number)) return true;  // while we looked
  say_gone(recording.process);
  return true;
}

std::function<bool()> SharedEvent::waiter(const Recording& recording) const {
  constexpr unsigned kLooksPerWitness = 64;  // asking for a process is a system call
  return [words = words_, recording, witness = std::make_shared<Witness>(recording.process), looks = 0u]() mutable {
    if (reached(words->happened.load(), recording.number)) return true;
    if (++looks % kLooksPerWitness || witness->alive()) return false;
    if (!reached(words->happened.load(), recording.number)) say_gone(recording.process);
    return true;
  };
}

}  // namespace cupola::runtime
