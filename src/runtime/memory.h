#pragma once

#include "base/result.h"
#include "runtime/address_map.h"
#include "runtime/stream.h"

// Memory of all kinds. Sizes are bytes. Any thread.

namespace cupola::runtime {

/// Device or managed memory. Errors: InvalidValue for 0 bytes, OutOfMemory.
Result<hal::Address> allocate(Context& context, uint64_t bytes, MemoryKind kind, unsigned flags);

/// Waits for the context's work, then frees what allocate() gave. Error: InvalidValue for any other address.
Result<> free_memory(hal::Address address);

/// The memory of a range that the address map no longer holds goes back to where it came from; nothing uses it.
void give_back(const MemoryRange& range);

/// Frees once the stream gets there; the address is unknown to the API from now on.
Result<> free_async(Stream& stream, hal::Address address);

/// Page-locked host memory, aligned to pages.
Result<void*> allocate_host(Context& context, uint64_t bytes, unsigned flags);
/// Waits for the context's work, then frees what allocate_host() gave. Errors: InvalidValue for any other address,
/// StreamCaptureUnsupported (check_unsafe_call); a fault of the context, although the memory is freed.
Result<> free_host(void* pointer);

/// Makes the program's own memory known to the API; it stays where it is. Errors: InvalidValue for no bytes, null or
/// what runs past the end of the address space, HostMemoryAlreadyRegistered, NotSupported where kernels reach no memory
/// that the device did not give, StreamCaptureUnsupported.
Result<> register_host(Context& context, void* pointer, uint64_t bytes, unsigned flags);
/// Waits for the context's work. Errors: HostMemoryNotRegistered where none begins at `pointer`,
/// StreamCaptureUnsupported; a fault of the context, although the memory is not registered any more.
Result<> unregister_host(void* pointer);

/// All memory of a context that is being destroyed.
void free_all(Context& context);

/// The pitch, a multiple of the texture alignment, of rows of `width` bytes.
uint64_t pitch_for(uint64_t width);

}  // namespace cupola::runtime
