#pragma once

// What kernels ask of the device's queues: launches, copies, streams and events of their own. The contract between the
// device library (src/device/launches.cu), which makes the calls through kir's cupola.device_call, and a back-end's run
// half, which answers them. Compiled by the host's compiler and for the device; needs no header.

namespace cupola::image {

/// Each with its operands.
enum class DeviceCall : unsigned {
  Launch,         ///< DeviceLaunch
  Copy,           ///< DeviceCopy
  Fill,           ///< DeviceFill
  CreateStream,   ///< DeviceHandle: the result
  DestroyStream,  ///< DeviceHandle
  CreateEvent,    ///< DeviceHandle: the result
  DestroyEvent,   ///< DeviceHandle
  RecordEvent,    ///< DeviceEventUse
  WaitForEvent,   ///< DeviceEventUse
  KernelFacts,    ///< DeviceKernelFacts
};

/// A call's result. The numbers are those of cudaError_t.
enum class DeviceError : unsigned {
  None = 0,
  InvalidValue = 1,
  OutOfMemory = 2,
  InvalidConfiguration = 9,
  LaunchTooDeep = 65,    ///< cudaErrorLaunchMaxDepthExceeded
  TooManyLaunches = 69,  ///< cudaErrorLaunchPendingCountExceeded
  InvalidKernel = 98,    ///< cudaErrorInvalidDeviceFunction
  InvalidHandle = 400,
};

/// Streams that are not made; other handles come from CreateStream and CreateEvent and are never so small. The numbers
/// are those of the named streams in CUDA's headers.
enum class DeviceStream : unsigned long long {
  Block = 0,          ///< the NULL stream, which the threads of a block share
  TailLaunch = 3,     ///< begins when the grid and all else that it launched is over
  FireAndForget = 4,  ///< in no order with anything
};

struct DeviceShape {
  unsigned grid[3], block[3];
  unsigned dynamic_shared_bytes;
};

/// `kernel` is a kernel's address; its parameter block is copied.
struct DeviceLaunch {
  const void* kernel;
  const void* parameters;
  DeviceShape shape;
  unsigned long long stream;
};

/// A box of bytes; pitches in bytes.
struct DeviceCopy {
  unsigned long long destination, source, stream;
  unsigned long long width, height, depth;
  unsigned long long destination_pitch, source_pitch, destination_slice, source_slice;
};

/// Rows of bytes.
struct DeviceFill {
  unsigned long long destination, stream;
  unsigned long long width, height, pitch;
  unsigned value;
};

struct DeviceHandle {
  unsigned long long handle;
};

struct DeviceEventUse {
  unsigned long long event, stream;
};

/// What is known of a kernel; for `block_threads` and `dynamic_shared_bytes`, how many of its blocks one multiprocessor
/// holds.
struct DeviceKernelFacts {
  const void* kernel;
  unsigned block_threads, dynamic_shared_bytes;
  unsigned parameter_bytes, static_shared_bytes, local_bytes, registers, max_threads_per_block, resident_blocks;
};

}  // namespace cupola::image
