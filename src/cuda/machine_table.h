#pragma once

#include <cstddef>
#include <cstdint>

// What libnvidia-ml asks of libcuda: facts of all the machine's devices, also of those that CUDA_VISIBLE_DEVICES hides,
// and what this process uses of them. No call of the public driver API gives them without cuInit, which would keep the
// process from using the device in a child of fork(). cuGetExportTable hands the table out under kMachineTableId.

namespace cupola {

struct MachineFacts {
  const char* name;  ///< lives as long as the process
  char bus_id[16];
  char uuid_text[48];
  unsigned char uuid[16];
  uint64_t memory_bytes;
};

struct MachineUse {
  uint64_t memory_bytes;  ///< in use by this process
  bool context;           ///< whether the process has one on the device
};

/// Any thread; before cuInit too. None throws, and none begins a context. A `place` is below the count.
struct MachineTable {
  size_t size;  ///< of the structure, which may grow at its end
  /// Error, a CUresult: what the back-end says.
  int (*count)(size_t* count);
  MachineFacts (*facts)(size_t place);
  /// False when there is no such attribute. `number` is one of CUdevice_attribute.
  bool (*attribute)(size_t place, int number, int* value);
  /// Error, a CUresult: OutOfMemory of the host. Nothing in a child of fork(), into which the device does not come
  /// along.
  int (*use)(size_t place, MachineUse* use);
};

inline constexpr unsigned char kMachineTableId[16] = {'C', 'u', 'p', 'o', 'l', 'a', ' ', 'm',
                                                      'a', 'c', 'h', 'i', 'n', 'e', 0,   1};

}  // namespace cupola
