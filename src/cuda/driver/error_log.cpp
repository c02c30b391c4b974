// What went wrong, in words. "CUDA Driver API, Error Log Management". The last lines are kept; "CUDA C++ Programming
// Guide, Error Log Management" gives their format: [time][thread][source][severity][call] message.

#include "cuda/driver/error_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <deque>
#include <fstream>
#include <new>
#include <optional>

#include "base/log.h"
#include "base/settings.h"
#include "base/thread_id.h"
#include "cuda/driver/api.h"

using namespace cupola;
using namespace cupola::driver;

struct CUlogsCallbackEntry_st {
  CUlogsCallback function;
  void* data;
};

namespace {

using Callback = CUlogsCallbackEntry_st;

/// "The driver reserves limited memory for storing logs."
constexpr size_t kMostEntries = 100, kMostBytes = 25600;
constexpr std::string_view kTruncated = "earlier messages were dropped\n";

std::string stamped(const char* call, std::string_view message) {
  const auto now = std::chrono::system_clock::now();
  const std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm local{};
  localtime_r(&seconds, &local);
  return formatted("[{:02}:{:02}:{:02}.{:03}][{}][CUDA][E][{}] {}", local.tm_hour, local.tm_min, local.tm_sec,
                   milliseconds, thread_id(), call, message);
}

/// Where CUDA_LOG_FILE sends lines; -1: nowhere. A file is made with the first line, and one that is there goes on.
int log_descriptor() {
  static const int descriptor = [] {
    const std::string& name = settings().log_file;
    if (name.empty()) return -1;
    if (name == "stdout") return STDOUT_FILENO;
    if (name == "stderr") return STDERR_FILENO;
    const int file = open(name.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (file < 0)
      log::line(log::Topic::Error, "CUDA_LOG_FILE is '{}', which cannot be written: {}", name, std::strerror(errno));
    return file;
  }();
  return descriptor;
}

/// One write, so that the lines of several threads and processes stay whole.
void write_to_log_file(std::string line) {
  const int descriptor = log_descriptor();
  if (descriptor < 0) return;
  line += '\n';
  [[maybe_unused]] const ssize_t written = ::write(descriptor, line.data(), line.size());
}

/// The lines and who is told of them. Any thread.
class ErrorLog {
 public:
  static ErrorLog& get() {
    static auto* const instance = new ErrorLog;  // leaked: calls fail after static destructors too
    return *instance;
  }

  void add(std::string line) {
    std::vector<std::shared_ptr<Callback>> told;
    {
      Lock lock(mutex_);
      entries_.push_back(line);
      ++end_;
      bytes_ += line.size() + 1;
      while (entries_.size() > kMostEntries || bytes_ + kTruncated.size() > kMostBytes) {
        bytes_ -= entries_.front().size() + 1;
        entries_.pop_front();
      }
      told = callbacks_;
    }
    write_to_log_file(line);
    for (const auto& each : told) each->function(each->data, CU_LOG_LEVEL_ERROR, line.data(), line.size());
  }

  CUlogIterator end() const {
    Lock lock(mutex_);
    return end_;
  }

  /// The lines from `from` on, or all, as many as fit into `bytes`; the iterator moves past the last of them. Null when
  /// there are some and the first does not fit.
  std::optional<std::string> lines(CUlogIterator* from, size_t bytes) const {
    Lock lock(mutex_);
    const CUlogIterator first = end_ - static_cast<CUlogIterator>(entries_.size());
    // Numbers go round: one that is not among those kept is older.
    const CUlogIterator kept = from ? end_ - *from : end_;
    const bool truncated = kept > entries_.size();
    CUlogIterator next = !from || truncated ? first : *from;
    std::string text(truncated ? kTruncated : "");
    const CUlogIterator begin = next;
    for (; next != end_; ++next) {
      const std::string& line = entries_[next - first];
      if (text.size() + line.size() + 1 > bytes) break;
      text += line;
      text += '\n';
    }
    if (next == begin && begin != end_) return std::nullopt;
    if (next == begin) text.clear();
    if (from) *from = next;
    return text;
  }

  Callback* add_callback(CUlogsCallback function, void* data) {
    Lock lock(mutex_);
    return callbacks_.emplace_back(std::make_shared<Callback>(function, data)).get();
  }
  bool remove_callback(const Callback* callback) {
    Lock lock(mutex_);
    return std::erase_if(callbacks_, [&](const auto& each) { return each.get() == callback; }) > 0;
  }

 private:
  mutable Mutex mutex_;
  std::deque<std::string> entries_ GUARDED_BY(mutex_);
  size_t bytes_ GUARDED_BY(mutex_) = 0;
  CUlogIterator end_ GUARDED_BY(mutex_) = 0;  ///< the number of the next line
  std::vector<std::shared_ptr<Callback>> callbacks_ GUARDED_BY(mutex_);
};

Result<> check_reserved(unsigned flags) {
  if (flags == 0) return {};
  return fail(ErrorCode::InvalidValue, "flags are {:#x}; they must be 0", flags);
}

}  // namespace

void cupola::driver::keep_error(const char* call, std::string_view message) {
  constinit static thread_local bool telling = false;  // a callback's own failures are not told
  if (telling) return;
  telling = true;
  try {
    ErrorLog::get().add(stamped(call, message));
  } catch (const std::bad_alloc&) {  // the call fails with its own code; only the line is lost
  }
  telling = false;
}

CUresult cuLogsRegisterCallback(CUlogsCallback callbackFunc, void* userData, CUlogsCallbackHandle* callback_out) {
  return api_call([&]() -> Result<> {
    if (!callbackFunc) return fail(ErrorCode::InvalidValue, "callbackFunc is null");
    Callback* const added = ErrorLog::get().add_callback(callbackFunc, userData);
    if (callback_out) *callback_out = added;
    return {};
  });
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback) {
  return api_call([&]() -> Result<> {
    if (ErrorLog::get().remove_callback(callback)) return {};
    return fail(ErrorCode::InvalidValue, "that is no handle of cuLogsRegisterCallback");
  });
}

CUresult cuLogsCurrent(CUlogIterator* iterator_out, unsigned int flags) {
  return api_call([&]() -> Result<> {
    TRY(given(iterator_out, "iterator_out"));
    TRY(check_reserved(flags));
    *iterator_out = ErrorLog::get().end();
    return {};
  });
}

CUresult cuLogsDumpToFile(CUlogIterator* iterator, const char* pathToFile, unsigned int flags) {
  return api_call([&]() -> Result<> {
    TRY(given(pathToFile, "pathToFile"));
    TRY(check_reserved(flags));
    std::ofstream file(pathToFile);
    if (!file) return fail(ErrorCode::InvalidValue, "{} cannot be written", pathToFile);
    file << ErrorLog::get().lines(iterator, kMostBytes).value_or("");
    return {};
  });
}

CUresult cuLogsDumpToMemory(CUlogIterator* iterator, char* buffer, size_t* size, unsigned int flags) {
  return api_call([&]() -> Result<> {
    TRY(given(buffer, "buffer"));
    TRY(given(size, "size"));
    TRY(check_reserved(flags));
    const size_t room = std::exchange(*size, 0);
    if (room == 0) return fail(ErrorCode::InvalidValue, "the buffer has no room");
    buffer[0] = '\0';
    const std::optional<std::string> text = ErrorLog::get().lines(iterator, room - 1);
    if (!text) return fail(ErrorCode::InvalidValue, "the buffer of {} bytes has no room for a message", room);
    *size = text->copy(buffer, text->size());
    buffer[*size] = '\0';
    return {};
  });
}
