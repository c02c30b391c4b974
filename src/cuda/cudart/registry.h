#pragma once

#include <cuda.h>

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "cuda/cudart/driver.h"

// What compiled programs register before main: fat binaries, and which host address stands for which kernel or
// variable. Nothing is loaded then. The first use of a symbol in a context loads its fat binary there.
//
// Modules are never unloaded. Unregistering comes from a library being closed, which is rare, or from the end of the
// process, where kernels may still run and the driver may be half gone.

namespace cupola::cudart {

/// What __cudaRegisterFatBinary is given: a C struct that the compiler emits.
struct FatbinWrapper {
  static constexpr uint32_t kMagic = 0x466243B1;
  uint32_t magic;
  uint32_t version;   ///< 1; 2 for separately compiled code
  const void* bytes;  ///< the fat binary, whose header has its length
  const void* units;  ///< version 2: null-terminated array of fat binaries
};

/// A value for each context that has one. A handful of contexts at most.
template <typename Value>
class PerContext {
 public:
  const Value* find(CUcontext context) const {
    for (const auto& [owner, value] : values_) {
      if (owner == context) return &value;
    }
    return nullptr;
  }
  bool holds(const Value& value) const {
    for (const auto& [owner, each] : values_) {
      if (each == value) return true;
    }
    return false;
  }
  void set(CUcontext context, Value value) { values_.emplace_back(context, std::move(value)); }
  void forget(CUcontext context) {
    std::erase_if(values_, [context](const auto& entry) { return entry.first == context; });
  }

 private:
  std::vector<std::pair<CUcontext, Value>> values_;
};

/// A registered fat binary. Lives for ever: compiled programs hold it by address.
struct Fatbin {
  explicit Fatbin(const FatbinWrapper& wrapper) : wrapper(wrapper) {}
  const FatbinWrapper wrapper;
  Mutex mutex;  ///< held while the module is loaded, so that it is loaded once
  PerContext<CUmodule> modules GUARDED_BY(mutex);
};

struct DeviceVariable {
  CUdeviceptr address;
  size_t bytes;
};

/// All registrations of the process. Thread-safe.
class Registry {
 public:
  static Registry& get();

  /// Never null; a wrapper with a wrong magic is kept and fails when its symbols are used.
  Fatbin* add_fatbin(const FatbinWrapper& wrapper);
  /// Forgets the fat binary's symbols.
  void remove_fatbin(Fatbin* fatbin);
  void add_function(Fatbin* fatbin, const void* host, const char* name);
  void add_variable(Fatbin* fatbin, const void* host, const char* name);
  /// `*host` receives the variable's address when the fat binary is loaded.
  void add_managed_variable(Fatbin* fatbin, void** host, const char* name);

  bool has_function(const void* host);
  /// The kernel that `host` stands for, loaded into `context`, which is current. A handle that this returned before is
  /// accepted as `host` too. Error: InvalidHandle (InvalidDeviceFunction for null), or why the fat binary cannot be
  /// loaded.
  Result<CUfunction> function(const Driver& cu, CUcontext context, const void* host);
  /// The host address that stands for the kernel; the handle itself when none does.
  const void* host_of(CUfunction handle);
  /// The variable that `host` stands for. Error: InvalidSymbol, or why the fat binary cannot be loaded.
  Result<DeviceVariable> variable(const Driver& cu, CUcontext context, const void* host);
  /// Loads the fat binary and fills in its managed variables.
  Result<> load(const Driver& cu, CUcontext context, Fatbin* fatbin);
  /// Drops what is cached for a context that is going away.
  void forget(CUcontext context);
  /// Launches take the handle of the library's kernel, until forget_library().
  void accept(const void* kernel, const void* library) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    handles_.insert_or_assign(kernel, library);
  }
  /// The library, if it is one, is going away.
  void forget_library(const void* library) EXCLUDES(mutex_) {
    Lock lock(mutex_);
    std::erase_if(handles_, [library](const auto& entry) { return entry.second && entry.second == library; });
  }

 private:
  struct Function {
    Fatbin* fatbin;
    std::string name;
    PerContext<CUfunction> handles;
  };
  struct Variable {
    Fatbin* fatbin;
    std::string name;
    void** managed;  ///< where the address is written on loading, or null
    PerContext<DeviceVariable> found;
  };

  Result<CUmodule> module(const Driver& cu, CUcontext context, Fatbin* fatbin);

  Mutex mutex_;
  std::vector<Fatbin*> fatbins_ GUARDED_BY(mutex_);
  std::unordered_map<const void*, Function> functions_ GUARDED_BY(mutex_);
  std::unordered_map<const void*, Variable> variables_ GUARDED_BY(mutex_);
  /// Every kernel given out, and its library; null for one of the program's own.
  std::unordered_map<const void*, const void*> handles_ GUARDED_BY(mutex_);
};

}  // namespace cupola::cudart
