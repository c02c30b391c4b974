#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/kernel_info.h"
#include "cupola/driver_call.h"

namespace cupola::tool::selftest {

using DevicePointer = unsigned long long;

class Session;

/// Device memory, freed with this object.
class Memory {
 public:
  Memory(const Session& session, DevicePointer address, size_t bytes)
      : session_(&session), address_(address), bytes_(bytes) {}
  Memory(Memory&& other) noexcept : session_(other.session_), address_(other.address_), bytes_(other.bytes_) {
    other.address_ = 0;
  }
  Memory& operator=(Memory&&) = delete;
  ~Memory();

  DevicePointer address() const { return address_; }
  size_t bytes() const { return bytes_; }

  Result<> write(const void* from, size_t bytes, size_t offset = 0) const;
  Result<> read(void* to, size_t bytes, size_t offset = 0) const;
  template <typename T>
  Result<std::vector<T>> values() const {
    std::vector<T> all(bytes_ / sizeof(T));
    TRY(read(all.data(), bytes_));
    return all;
  }

 private:
  const Session* session_;
  DevicePointer address_;
  size_t bytes_;
};

/// The device under test, as a program sees it: libcuda, a context that is current, and a module of kernels.cu.
class Session {
 public:
  /// In the device's primary context. `libraries`: the folder of libcuda. `module`: what cuModuleLoadData takes.
  static Result<Session> open(const std::filesystem::path& libraries, std::span<const std::byte> module);
  /// In a context of its own, for what breaks one; it goes, and the other is current again, with the object.
  Result<Session> apart() const;

  Session(Session&& other) noexcept;
  Session& operator=(Session&&) = delete;
  ~Session();

  template <typename... Args>
  Result<> call(const char* name, Args... arguments) const {
    return driver_call(library_, name, arguments...);
  }

  Result<std::string> device_name() const;
  Result<int> attribute(int number) const;
  Result<Memory> allocate(size_t bytes) const;
  template <typename T>
  Result<Memory> upload(std::span<const T> values) const {
    TRY(Memory memory, allocate(values.size_bytes()));
    TRY(memory.write(values.data(), values.size_bytes()));
    return memory;
  }
  template <typename T>
  Result<Memory> upload(const std::vector<T>& values) const {
    return upload(std::span<const T>(values));
  }
  /// Zeroes.
  template <typename T>
  Result<Memory> zeroes(size_t count) const {
    return upload(std::vector<T>(count));
  }

  struct Shape {
    Dim3 grid, block;
    uint32_t shared_bytes = 0;
    void* stream = nullptr;
  };
  /// Waits for nothing.
  template <typename... Args>
  Result<> start(const char* kernel, const Shape& shape, Args... arguments) const {
    void* parameters[] = {static_cast<void*>(&arguments)..., nullptr};
    return start_with(kernel, shape, parameters);
  }
  /// And waits for it.
  template <typename... Args>
  Result<> run(const char* kernel, const Shape& shape, Args... arguments) const {
    TRY(start(kernel, shape, arguments...));
    return call("cuCtxSynchronize");
  }

  DevicePointer symbol(const char* name, size_t& bytes) const;

 private:
  Session(const DynLib& library, int device, void* context, void* other, std::span<const std::byte> image, void* module)
      : library_(library), device_(device), context_(context), other_(other), image_(image), module_(module) {}
  Result<> start_with(const char* kernel, const Shape& shape, void** parameters) const;

  DynLib library_;
  int device_;
  void* context_;
  void* other_;  ///< the context that was current, of a session apart
  std::span<const std::byte> image_;
  void* module_;
};

}  // namespace cupola::tool::selftest
