#pragma once

#include <optional>
#include <span>
#include <vector>

#include "base/dynlib.h"
#include "base/mutex.h"
#include "cuda/machine_table.h"
#include "cuda/nvml/processor_share.h"
#include "cuda/nvml/public.h"

/// One of the machine's devices; its address is the handle, the same as long as the process lives.
struct nvmlDevice_st {
  size_t place;
  cupola::MachineFacts facts;
};

namespace cupola::nvml {

using Device = nvmlDevice_st;

/// What libnvidia-ml keeps: libcuda's table of the machine, from the first nvmlInit on, and how many users there are.
/// Opening it neither calls cuInit nor begins a context. Any thread.
class Library {
 public:
  static Library& get();

  /// Error: what libcuda says, or that it is not there.
  Result<> begin() EXCLUDES(mutex_);
  /// False without a begin() before.
  bool end() EXCLUDES(mutex_);
  bool in_use() const EXCLUDES(mutex_);

  /// These only while in_use().
  std::span<const Device> devices() const { return devices_; }
  const Device* device(nvmlDevice_t handle) const;  ///< null when the handle is none of ours
  /// The value of a CUdevice_attribute, as cuDeviceGetAttribute has it.
  std::optional<int> attribute(const Device& device, int number) const;
  Result<MachineUse> use(const Device& device) const;
  ProcessorShare& processors() { return processors_; }

  /// Cupola's libcuda: of CUPOLA_LIBRARY_PATH, or that beside this library. At any time.
  static Result<DynLib> open_driver();

 private:
  Result<> open() REQUIRES(mutex_);

  mutable Mutex mutex_;
  unsigned users_ GUARDED_BY(mutex_) = 0;
  // Written by the first begin() alone, before anybody may read them.
  const MachineTable* machine_ = nullptr;
  std::vector<Device> devices_;
  ProcessorShare processors_;
};

}  // namespace cupola::nvml
