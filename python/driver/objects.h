#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "driver.h"

// What the package holds of the driver: memory, streams, events, modules, kernels. Each belongs to the context that was
// current when it was made, frees itself, and does nothing of that kind after a reset of its device, which has ended it
// already. Any thread may use them; calls that wait are bound so that they give Python's lock away.

namespace cupola::python {

/// A handle of the driver's, of the context that this thread used last, ended by `end` when the object goes, unless it
/// is another's. Any thread.
template <typename Handle>
class Owned {
 public:
  using End = CUresult (*)(Handle);
  Owned(Handle handle, End end) : handle_(handle), end_(end), lifetime_(used_context()) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() { release(); }

  Handle get() const { return handle_.load(std::memory_order_relaxed); }
  /// Ends it early, once however many threads ask. Errors are another call's to report.
  void release() noexcept {
    const Handle handle = handle_.exchange(Handle{});
    if (!handle || !end_ || lifetime_.is_over()) return;
    try {
      use_context();  // the driver frees nothing on a thread that has none
      end_(handle);
    } catch (const DriverError&) {  // there is no context any more, and so nothing to end
    }
  }

 private:
  std::atomic<Handle> handle_;
  const End end_;
  const Lifetime lifetime_;
};

/// Device memory, or page-locked host memory.
class Memory {
 public:
  static Memory* on_device(size_t bytes);
  static Memory* on_host(size_t bytes);
  uint64_t address() const { return memory_.get(); }
  size_t bytes() const { return bytes_; }
  void free() { memory_.release(); }

 private:
  Memory(CUdeviceptr address, size_t bytes, Owned<CUdeviceptr>::End end) : memory_(address, end), bytes_(bytes) {}
  Owned<CUdeviceptr> memory_;
  size_t bytes_;
};

class Event {
 public:
  explicit Event(bool timing);
  uint64_t handle() const { return reinterpret_cast<uint64_t>(event_.get()); }
  CUevent get() const { return event_.get(); }
  void record(uint64_t stream);
  void synchronize();
  bool done();
  /// Milliseconds from `begin` to this event, which both are over.
  double since(const Event& begin);

 private:
  Owned<CUevent> event_;
};

class Stream {
 public:
  Stream(bool blocking, int priority);
  /// Another's stream: not ended with this object.
  explicit Stream(uint64_t handle);
  uint64_t handle() const { return reinterpret_cast<uint64_t>(stream_.get()); }
  void synchronize();
  bool done();
  void wait(const Event& event);

 private:
  Owned<CUstream> stream_;
};

/// How a kernel takes a parameter.
enum class Kind { Pointer, Boolean, Signed, Unsigned, Float, Bytes };

struct Parameter {
  Kind kind;
  size_t bytes;
  std::string label;  ///< for messages: "'factor' (float)"
};

class Module {
 public:
  explicit Module(const std::string& image);
  CUfunction function(const std::string& name) const;
  /// Address and size of a variable.
  std::tuple<uint64_t, size_t> variable(const std::string& name) const;

 private:
  Owned<CUmodule> module_;
};

/// A request that memory between host and device be copied, either way: the driver knows which address is which.
void copy(uint64_t to, uint64_t from, size_t bytes, std::optional<uint64_t> stream);
void fill(uint64_t to, uint8_t value, size_t bytes, uint64_t stream);

}  // namespace cupola::python
