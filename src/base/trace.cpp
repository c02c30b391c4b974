#include "base/trace.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "base/log.h"
#include "base/settings.h"
#include "base/thread_id.h"

namespace cupola::trace {
namespace {

struct File {
  int descriptor = -1;
  FileHeader* header = nullptr;
};

constinit std::atomic<File*> file = nullptr;  // leaked: calls come after static destructors
constinit thread_local int calls = 0;

/// The chunk that the thread writes to. Plain, so that it can be used while the thread ends.
struct Chunk {
  std::byte* bytes = nullptr;
  size_t used = 0;
};
constinit thread_local Chunk chunk;

void let_go_of_chunk() {
  if (chunk.bytes) munmap(chunk.bytes, kChunkBytes);
  chunk = {};
}

/// Unmaps the thread's chunk when it ends.
struct AtThreadEnd {
  bool wanted = false;
  ~AtThreadEnd() { let_go_of_chunk(); }
};
thread_local AtThreadEnd at_thread_end;

ChunkHeader& header_of(const Chunk& each) {
  return *reinterpret_cast<ChunkHeader*>(each.bytes);
}

void stop(const char* why, const char* detail) {
  detail::state.fetch_and(~detail::kRecording, std::memory_order_relaxed);
  log::line(log::Topic::Error, "tracing ends: {} {}: {}", settings().trace, why, detail);
}

/// Sees to it that bytes [offset, offset + size) of the file have room on the disk, and that the file is that long; 0
/// or an error number.
int allocate(int descriptor, off_t offset, off_t size) {
#if defined(__APPLE__)  // which has no posix_fallocate; room for all but the file's end must be there already
  fstore_t room{F_ALLOCATEALL, F_PEOFPOSMODE, 0, size, 0};
  struct stat info;
  if (fcntl(descriptor, F_PREALLOCATE, &room) != 0 || fstat(descriptor, &info) != 0) return errno;
  if (info.st_size < offset + size && ftruncate(descriptor, offset + size) != 0) return errno;
  return 0;
#else
  return posix_fallocate(descriptor, offset, size);
#endif
}

/// Bytes [offset, offset + kChunkBytes) of the file, which grows as needed; null when it cannot.
std::byte* map(int descriptor, uint64_t offset) {
  // Room is taken now: a full disk must not become a signal when the memory is written.
  if (const int error = allocate(descriptor, static_cast<off_t>(offset), kChunkBytes)) {
    stop("cannot grow", std::strerror(error));
    return nullptr;
  }
  void* bytes = mmap(nullptr, kChunkBytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, static_cast<off_t>(offset));
  if (bytes != MAP_FAILED) return static_cast<std::byte*>(bytes);
  stop("cannot be mapped", std::strerror(errno));
  return nullptr;
}

bool next_chunk() {
  let_go_of_chunk();
  const File* to = file.load(std::memory_order_acquire);
  if (!to) return false;
  const uint64_t number = to->header->chunks.fetch_add(1);
  if (number >= kMostChunks) return stop("is full", "8 GiB were written"), false;
  chunk.bytes = map(to->descriptor, (number + 1) * kChunkBytes);
  if (!chunk.bytes) return false;
  chunk.used = sizeof(ChunkHeader);
  at_thread_end.wanted = true;  // constructs it
  auto* header = new (chunk.bytes) ChunkHeader{kChunkMagic, static_cast<uint32_t>(getpid()), thread_id(), {}};
  header->used.store(chunk.used, std::memory_order_release);
  return true;
}

/// Opens the file, which may be new, or hold what other processes wrote.
bool open_file(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct stat info;
  if (descriptor < 0 || fstat(descriptor, &info) != 0) return stop("cannot be opened", std::strerror(errno)), false;
  uint64_t magic = 0;
  const bool empty = info.st_size == 0;
  if (!S_ISREG(info.st_mode) ||
      (!empty && (pread(descriptor, &magic, 8, 0) != 8 || (magic != kFileMagic && magic != 0)))) {
    close(descriptor);
    return stop("holds something else", "give the name of a new file"), false;
  }
  std::byte* front = map(descriptor, 0);
  if (!front) return close(descriptor), false;
  auto* header = reinterpret_cast<FileHeader*>(front);  // a new file holds zeros: no chunk is taken yet
  header->magic.store(kFileMagic, std::memory_order_relaxed);
  file.store(new File{descriptor, header}, std::memory_order_release);
  // A child writes to chunks of its own.
  pthread_atfork(nullptr, nullptr, [] { chunk = {}; });
  return true;
}

int decide() {
  const int logging = log::enabled(log::Topic::Api) ? detail::kLogging : 0;
  const bool recording = !settings().trace.empty() && open_file(settings().trace);
  return logging | (recording ? detail::kRecording : 0);
}

}  // namespace

namespace detail {

constinit std::atomic<int> state = kUnknown;

int begin() {
  static const int decided = decide();
  int unknown = kUnknown;
  state.compare_exchange_strong(unknown, decided, std::memory_order_relaxed);  // else it was decided, or has ended
  return state.load(std::memory_order_relaxed);
}

}  // namespace detail

void record(const Event& event) {
  if (!recording()) return;
  constexpr size_t kMostName = 4000;
  const std::string_view name = event.name.substr(0, kMostName);
  const size_t bytes = (sizeof(Record) + name.size() + 7) / 8 * 8;
  if ((!chunk.bytes || chunk.used + bytes > kChunkBytes) && !next_chunk()) return;
  auto* place = chunk.bytes + chunk.used;
  const Record written{static_cast<uint32_t>(bytes),
                       event.kind,
                       event.begin,
                       event.end,
                       event.queue,
                       event.amount,
                       event.grid,
                       event.block,
                       static_cast<uint32_t>(name.size())};
  std::memcpy(place, &written, sizeof written);
  std::memcpy(place + sizeof written, name.data(), name.size());
  chunk.used += bytes;
  header_of(chunk).used.store(chunk.used, std::memory_order_release);
}

int depth() {
  return calls;
}

bool Call::logged() const {
  return entered_ && calls == 1 && (detail::state_now() & detail::kLogging);
}

void Call::enter(Kind api, const char* name) {
  entered_ = true;
  api_ = api;
  name_ = name;
  if (++calls == 1 && recording()) begin_ = now();
}

void Call::leave() {
  if (--calls == 0 && begin_)
    record({.kind = api_, .begin = begin_, .end = now(), .amount = static_cast<uint64_t>(status_), .name = name_});
}

}  // namespace cupola::trace
