#include "../image/device_calls.h"
#include "device.h"

// What kernels call to launch kernels, copy and order such work: "CUDA C++ Programming Guide, CUDA Dynamic
// Parallelism", its device runtime and its launches from PTX. Types are written by hand: what the CUDA headers declare
// and what PTX declares must meet here.

extern "C" DEVICE unsigned cupola_device_call(unsigned kind, void* operands) __asm__("cupola.device_call");
extern "C" DEVICE int* cupola_last_error() __asm__("cupola.last_error");
extern "C" DEVICE void* cupola_malloc(unsigned long long bytes) __asm__("cupola.malloc");
extern "C" DEVICE void cupola_free(void* pointer) __asm__("cupola.free");

namespace {

using namespace cupola::image;
using Size = unsigned long;
using Handle = unsigned long long;
using Stream = void*;  // the API's pointers that are handles
using Event = void*;

struct Dim3 {
  unsigned x, y, z;
};

/// The 3D parameters' types, as in driver_types.h.
struct Extent {
  Size width, height, depth;
};
struct Pitched {
  void* pointer;
  Size pitch, width, height;
};

LOCAL int finish(DeviceError error) {
  if (error != DeviceError::None) *cupola_last_error() = (int)error;
  return (int)error;
}

template <typename Operands>
LOCAL int call(DeviceCall kind, Operands& operands) {
  return finish((DeviceError)cupola_device_call((unsigned)kind, &operands));
}

LOCAL DeviceShape shape_of(Dim3 grid, Dim3 block, unsigned dynamic_shared_bytes) {
  return {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}, dynamic_shared_bytes};
}

// -- parameter buffers: memory of the device heap, for the time between two calls --

constexpr Size kAlignment = 64;  // what the Programming Guide lets callers expect

/// Lies before a buffer.
struct alignas(kAlignment) BufferHead {
  void* memory;
  const void* kernel;  ///< of launches of the second version, which say it when they ask for the buffer
  DeviceShape shape;
};
static_assert(sizeof(BufferHead) == kAlignment);

LOCAL BufferHead* head_of(void* buffer) {
  return (BufferHead*)buffer - 1;
}

/// Null, and the error, when the heap is full.
LOCAL void* make_buffer(Size bytes) {
  const Size whole = bytes + sizeof(BufferHead) + kAlignment;
  void* const memory = whole > bytes ? cupola_malloc(whole) : nullptr;
  if (!memory) {
    finish(DeviceError::OutOfMemory);
    return nullptr;
  }
  const Size first = ((Size)memory + sizeof(BufferHead) + kAlignment - 1) / kAlignment * kAlignment;
  head_of((void*)first)->memory = memory;
  return (void*)first;
}

LOCAL int launch(const void* kernel, void* buffer, const DeviceShape& shape, Handle stream) {
  DeviceLaunch operands{kernel, buffer, shape, stream};
  const unsigned error = cupola_device_call((unsigned)DeviceCall::Launch, &operands);
  if (buffer) cupola_free(head_of(buffer)->memory);
  return finish((DeviceError)error);
}

LOCAL int create(DeviceCall kind, Handle* made, bool are_flags_right) {
  DeviceHandle operands{};
  if (!made || !are_flags_right) return finish(DeviceError::InvalidValue);
  const int error = call(kind, operands);
  *made = operands.handle;
  return error;
}

LOCAL int destroy(DeviceCall kind, void* object) {
  DeviceHandle operands{(Handle)object};
  return call(kind, operands);
}

/// Kinds of copies: from device to device, and whatever the addresses say. A kernel reaches the host's memory where the
/// device does.
LOCAL bool is_kind(int kind) {
  return kind == 3 || kind == 4;
}

constexpr auto kNoDirection = (DeviceError)21;  // cudaErrorInvalidMemcpyDirection

}  // namespace

extern "C" {

DEVICE void* cudaGetParameterBuffer(Size alignment, Size bytes) {
  if (alignment <= kAlignment) return make_buffer(bytes);
  finish(DeviceError::InvalidValue);
  return nullptr;
}

DEVICE int cudaLaunchDevice(void* kernel, void* buffer, Dim3 grid, Dim3 block, unsigned dynamic_shared_bytes,
                            Stream stream) {
  return launch(kernel, buffer, shape_of(grid, block, dynamic_shared_bytes), (Handle)stream);
}

DEVICE void* cudaGetParameterBufferV2(void* kernel, Dim3 grid, Dim3 block, unsigned dynamic_shared_bytes) {
  DeviceKernelFacts facts{};
  facts.kernel = kernel;
  if (call(DeviceCall::KernelFacts, facts) != 0) return nullptr;
  void* const buffer = make_buffer(facts.parameter_bytes);
  if (!buffer) return nullptr;
  head_of(buffer)->kernel = kernel;
  head_of(buffer)->shape = shape_of(grid, block, dynamic_shared_bytes);
  return buffer;
}

DEVICE int cudaLaunchDeviceV2(void* buffer, Stream stream) {
  if (!buffer) return finish(DeviceError::InvalidValue);
  return launch(head_of(buffer)->kernel, buffer, head_of(buffer)->shape, (Handle)stream);
}

// -- streams and events: only those that order launches; no kernel waits for them --

DEVICE int cudaStreamCreateWithFlags(Handle* stream, unsigned flags) {
  return create(DeviceCall::CreateStream, stream, flags == 1);  // cudaStreamNonBlocking
}

DEVICE int cudaStreamDestroy(Stream stream) {
  return destroy(DeviceCall::DestroyStream, stream);
}

DEVICE int cudaEventCreateWithFlags(Handle* event, unsigned flags) {
  return create(DeviceCall::CreateEvent, event, flags == 2);  // cudaEventDisableTiming
}

DEVICE int cudaEventDestroy(Event event) {
  return destroy(DeviceCall::DestroyEvent, event);
}

DEVICE int cudaEventRecord(Event event, Stream stream) {
  DeviceEventUse operands{(Handle)event, (Handle)stream};
  return call(DeviceCall::RecordEvent, operands);
}

DEVICE int cudaStreamWaitEvent(Stream stream, Event event, unsigned flags) {
  DeviceEventUse operands{(Handle)event, (Handle)stream};
  if (flags != 0) return finish(DeviceError::InvalidValue);
  return call(DeviceCall::WaitForEvent, operands);
}

// -- memory --

DEVICE int cudaMalloc(void** pointer, Size bytes) {
  if (!pointer) return finish(DeviceError::InvalidValue);
  *pointer = bytes ? cupola_malloc(bytes) : nullptr;
  return finish(bytes && !*pointer ? DeviceError::OutOfMemory : DeviceError::None);
}

DEVICE int cudaFree(void* pointer) {
  cupola_free(pointer);
  return 0;
}

DEVICE int cudaMemcpyAsync(void* to, const void* from, Size bytes, int kind, Stream stream) {
  if (!is_kind(kind)) return finish(kNoDirection);
  DeviceCopy operands{(Handle)to, (Handle)from, (Handle)stream, bytes, 1, 1, bytes, bytes, bytes, bytes};
  return call(DeviceCall::Copy, operands);
}

DEVICE int cudaMemcpy2DAsync(void* to, Size to_pitch, const void* from, Size from_pitch, Size width, Size height,
                             int kind, Stream stream) {
  if (!is_kind(kind)) return finish(kNoDirection);
  if (width > to_pitch || width > from_pitch) return finish((DeviceError)12);  // cudaErrorInvalidPitchValue
  DeviceCopy operands{(Handle)to, (Handle)from, (Handle)stream, width, height, 1, to_pitch, from_pitch, 0, 0};
  return call(DeviceCall::Copy, operands);
}

DEVICE int cudaMemsetAsync(void* to, int value, Size bytes, Stream stream) {
  DeviceFill operands{(Handle)to, (Handle)stream, bytes, 1, bytes, (unsigned)value & 255};
  return call(DeviceCall::Fill, operands);
}

DEVICE int cudaMemset2DAsync(void* to, Size pitch, int value, Size width, Size height, Stream stream) {
  if (width > pitch) return finish(DeviceError::InvalidValue);
  DeviceFill operands{(Handle)to, (Handle)stream, width, height, pitch, (unsigned)value & 255};
  return call(DeviceCall::Fill, operands);
}

/// Slices lie one after the other where rows fill them, else each is a fill of its own.
DEVICE int cudaMemset3DAsync(Pitched to, int value, Extent extent, Stream stream) {
  if (extent.width > to.pitch) return finish(DeviceError::InvalidValue);
  int error = 0;
  for (Size slice = 0; slice < extent.depth && error == 0; ++slice)
    error = cudaMemset2DAsync((char*)to.pointer + slice * to.pitch * to.height, to.pitch, value, extent.width,
                              extent.height, stream);
  return error;
}

// -- graphs --

/// "CUDA Device Runtime API, cudaGraphSetConditional". The handle is the address, in device memory, of the value that
/// the conditional node goes by.
DEVICE void cudaGraphSetConditional(Handle handle, unsigned value) {
  *(volatile unsigned*)handle = value;
}

// -- errors --

DEVICE int cudaPeekAtLastError() {
  return *cupola_last_error();
}

DEVICE int cudaGetLastError() {
  int* const last = cupola_last_error();
  const int error = *last;
  *last = 0;
  return error;
}

}  // extern "C"
