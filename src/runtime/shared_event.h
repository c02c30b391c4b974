#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"

// What an event is to several processes: "CUDA Driver API, cuIpcGetEventHandle" and relatives. A file without a name
// holds two numbers that all of them map: of the last recording, with the process that made it, and of the last one
// that has happened. A handle names the file as handles of memory do (ipc.h).

namespace cupola::runtime {

/// What the 64 bytes of a handle hold.
struct EventTicket {
  std::array<char, 8> mark;
  int32_t process, descriptor;
  uint64_t file_system, file;  ///< so that a descriptor that means something else by now is told from ours
};
static_assert(sizeof(EventTicket) <= 64);

/// Any thread, of any process.
class SharedEvent {
 public:
  /// One recording; number 0 is none.
  struct Recording {
    uint32_t number = 0;
    int32_t process = 0;
  };

  /// Errors: MapFailed; OperatingSystem where the thread that looks for the other processes cannot start.
  static Result<std::shared_ptr<SharedEvent>> make();
  /// Errors: MapFailed, also for what is no ticket, as an H200 (driver 580), and when the other process is gone;
  /// InvalidContext for this process's own; OperatingSystem as make().
  static Result<std::shared_ptr<SharedEvent>> open(const EventTicket& ticket);
  ~SharedEvent();
  SharedEvent(const SharedEvent&) = delete;
  SharedEvent& operator=(const SharedEvent&) = delete;

  EventTicket ticket() const;

  /// This process records it; the number is for happened().
  uint32_t record();
  void happened(uint32_t number);

  Recording last() const;
  /// True when it has happened; also when the process that recorded it has ended, which is said in a line.
  bool has_happened(const Recording& recording) const;
  /// The same again and again, for a recording of another process.
  std::function<bool()> waiter(const Recording& recording) const;

 private:
  struct Words;
  SharedEvent(int descriptor, std::shared_ptr<Words> words);

  const int descriptor_;
  const std::shared_ptr<Words> words_;
};

}  // namespace cupola::runtime
