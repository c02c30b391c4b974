#pragma once

#include "base/result.h"
#include "runtime/address_map.h"
#include "runtime/stream.h"

// Memory of all kinds. Sizes are bytes.

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
Result<> free_host(void* pointer);

/// Errors: HostMemoryAlreadyRegistered, HostMemoryNotRegistered.
Result<> register_host(Context& context, void* pointer, uint64_t bytes, unsigned flags);
Result<> unregister_host(void* pointer);

/// All memory of a context that is being destroyed.
void free_all(Context& context);

/// The pitch, a multiple of the texture alignment, of rows of `width` bytes.
uint64_t pitch_for(uint64_t width);

}  // namespace cupola::runtime
