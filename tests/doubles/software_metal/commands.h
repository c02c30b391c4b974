#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "doubles/software_metal/library.h"
#include "doubles/software_metal/memory.h"

namespace cupola::software_metal {

struct CommandBuffer;

/// Runs its command buffers one after the other, on a thread of its own.
struct CommandQueue final : Object {
  CommandQueue() = default;
  const Class& isa() const override;
  void dispose() override;
  void add(CommandBuffer* committed);

 private:
  void run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Kept<CommandBuffer>> waiting_;
  bool ending_ = false;
  std::thread thread_;
};

struct Size {
  unsigned long width, height, depth;
};

/// A grid with all that it was encoded with.
struct Dispatch {
  struct alignas(256) Line {  ///< as constant buffers are aligned
    std::byte bytes[256];
  };
  Kept<Pipeline> pipeline;
  struct Argument {
    std::vector<Line> bytes;  ///< of setBytes, or
    Kept<Buffer> buffer;
    size_t offset = 0;
    bool set = false;
  };
  std::vector<Argument> arguments;                         ///< by index
  std::vector<std::optional<uint32_t>> threadgroup_bytes;  ///< by index
  std::vector<Kept<Buffer>> used;                          ///< by useResource
  Size grid{}, block{};
};

struct CommandBuffer final : Object {
  enum Status : unsigned long { NotEnqueued, Enqueued, Committed, Scheduled, Completed, Failed };

  explicit CommandBuffer(CommandQueue* of) : queue(of) {}
  const Class& isa() const override;
  void dispose() override;
  void execute();
  void wait();

  Kept<CommandQueue> queue;
  bool encoding = false;
  std::vector<Dispatch> dispatches;

  std::mutex mutex;
  std::condition_variable changed;
  Status status = NotEnqueued;
  Object* error = nullptr;  ///< an NSError, owned
};

struct Encoder final : Object {
  explicit Encoder(CommandBuffer* of) : command_buffer(of) {}
  const Class& isa() const override;
  void dispose() override;

  Kept<CommandBuffer> command_buffer;
  Dispatch state;
  bool ended = false;
};

/// -[MTLDevice newCommandQueue]
Object* new_queue(Object* device, Selector);

inline constexpr unsigned long kMostThreadgroupBytes = 32768;

}  // namespace cupola::software_metal
