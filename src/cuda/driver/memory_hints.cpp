// What is said about managed memory, and what of it is kept. "CUDA Driver API, Unified Addressing": cuMemAdvise and
// relatives. There is one memory, so nothing moves, and what is discarded keeps its contents: "an indeterminate value".

#include "runtime/memory_hints.h"

#include <algorithm>
#include <optional>
#include <span>
#include <vector>

#include "cuda/driver/batch.h"
#include "cuda/driver/location.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

Result<> check_range(CUdeviceptr address, size_t count) {
  if (count == 0) return fail(ErrorCode::InvalidValue, "count is 0");
  if (address == 0) return fail(ErrorCode::InvalidValue, "devPtr is null");
  const auto range = Runtime::get().addresses.find(address);
  if (range && range->kind != MemoryKind::Managed)
    return fail(ErrorCode::InvalidValue, "{:#x} is not managed memory", address);
  if (range && !range->holds(address, count))
    return fail(ErrorCode::InvalidValue, "{} bytes at {:#x} run past the allocation", count, address);
  if (count > UINT64_MAX - address)
    return fail(ErrorCode::InvalidValue, "{} bytes at {:#x} run past the end of the address space", count, address);
  return {};
}

MemoryHint::Place place_at(const Location& location) {
  return {static_cast<int>(location.type), location.id};
}

/// The place that advice is about, if any. The codes are those of an H200 (driver 580), which looks at the type of a
/// location that does not count, but not at its number.
Result<MemoryHint::Place> place_of(CUmem_advise advice, CUmemLocation location) {
  const bool accessor = advice == CU_MEM_ADVISE_SET_ACCESSED_BY || advice == CU_MEM_ADVISE_UNSET_ACCESSED_BY;
  if (!accessor && advice != CU_MEM_ADVISE_SET_PREFERRED_LOCATION) location.id = 0;
  TRY(const Location place, with_code(location_of(location), ErrorCode::InvalidValue));
  if (accessor && !place.device && place.type != CU_MEM_LOCATION_TYPE_HOST)
    return fail(ErrorCode::InvalidValue, "memory is accessed by a device or by the host, not by one of its NUMA nodes");
  return place_at(place);
}

CUmemLocation location_named(CUdevice device) {
  if (device == CU_DEVICE_CPU) return {CU_MEM_LOCATION_TYPE_HOST, 0};
  return {CU_MEM_LOCATION_TYPE_DEVICE, device};
}

void advise(MemoryHint& hint, CUmem_advise advice, MemoryHint::Place place) {
  switch (advice) {
    case CU_MEM_ADVISE_SET_READ_MOSTLY:
    case CU_MEM_ADVISE_UNSET_READ_MOSTLY:
      hint.read_mostly = advice == CU_MEM_ADVISE_SET_READ_MOSTLY;
      return;
    case CU_MEM_ADVISE_SET_PREFERRED_LOCATION:
      hint.preferred = place;
      return;
    case CU_MEM_ADVISE_UNSET_PREFERRED_LOCATION:
      hint.preferred = {};
      return;
    case CU_MEM_ADVISE_SET_ACCESSED_BY:
      hint.accessed_by.insert(place);
      return;
    case CU_MEM_ADVISE_UNSET_ACCESSED_BY:
      hint.accessed_by.erase(place);
      return;
  }
}

Result<> prefetch(CUdeviceptr address, size_t count, CUmemLocation location, CUstream stream) {
  TRY(usable_stream(stream));
  TRY(check_range(address, count));
  TRY(const Location place, location_of(location));
  MemoryHints::get().change(address, count, [&](MemoryHint& hint) { hint.last_prefetch = place_at(place); });
  return {};
}

}  // namespace

CUresult cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location) {
  return api_call([&]() -> Result<> {
    if (advice < CU_MEM_ADVISE_SET_READ_MOSTLY || advice > CU_MEM_ADVISE_UNSET_ACCESSED_BY)
      return fail(ErrorCode::InvalidValue, "advice is {}, which is no CUmem_advise", static_cast<int>(advice));
    TRY(check_range(devPtr, count));
    TRY(const MemoryHint::Place place, place_of(advice, location));
    MemoryHints::get().change(devPtr, count, [&](MemoryHint& hint) { advise(hint, advice, place); });
    return {};
  });
}

CUresult cuMemAdvise(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device) {
  return forwarded([&] { return cuMemAdvise_v2(devPtr, count, advice, location_named(device)); });
}

CUresult cuMemPrefetchAsync(CUdeviceptr devPtr, size_t count, CUdevice dstDevice, CUstream hStream) {
  return api_call([&]() -> Result<> { return prefetch(devPtr, count, location_named(dstDevice), hStream); });
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags,
                               CUstream hStream) {
  return api_call([&]() -> Result<> {
    if (flags != 0) return fail(ErrorCode::InvalidValue, "flags are {:#x}; they must be 0", flags);
    return prefetch(devPtr, count, location, hStream);
  });
}

// ---- batches ----

namespace {

struct Ranges {
  CUdeviceptr* addresses;
  size_t* sizes;
  size_t count;
};

Result<> check_ranges(const Ranges& ranges, unsigned long long flags) {
  if (flags != 0) return fail(ErrorCode::InvalidValue, "flags are {:#x}; they must be 0", flags);
  if (ranges.count == 0) return fail(ErrorCode::InvalidValue, "count is 0");
  TRY(given(ranges.addresses, "dptrs"));
  TRY(given(ranges.sizes, "sizes"));
  for (size_t i = 0; i < ranges.count; ++i) TRY(check_range(ranges.addresses[i], ranges.sizes[i]));
  return {};
}

Result<> prefetch_batch(const Ranges& ranges, const CUmemLocation* locations, const size_t* firsts, size_t runs,
                        unsigned long long flags, CUstream stream) {
  TRY(batch_stream(stream));
  TRY(check_ranges(ranges, flags));
  TRY(given(locations, "prefetchLocs"));
  TRY(check_runs(firsts, runs, ranges.count));
  std::vector<MemoryHint::Place> places;
  for (size_t run = 0; run < runs; ++run) {
    TRY(const Location place, with_code(location_of(locations[run]), ErrorCode::InvalidValue));
    places.push_back(place_at(place));
  }
  for (size_t i = 0, run = 0; i < ranges.count; ++i) {
    if (run + 1 < runs && firsts[run + 1] == i) ++run;
    MemoryHints::get().change(ranges.addresses[i], ranges.sizes[i],
                              [&](MemoryHint& hint) { hint.last_prefetch = places[run]; });
  }
  return {};
}

}  // namespace

CUresult cuMemPrefetchBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count, CUmemLocation* prefetchLocs,
                                 size_t* prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                 CUstream hStream) {
  return api_call([&]() -> Result<> {
    return prefetch_batch({dptrs, sizes, count}, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream);
  });
}

CUresult cuMemDiscardBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count, unsigned long long flags,
                                CUstream hStream) {
  return api_call([&]() -> Result<> {
    TRY(batch_stream(hStream));
    return check_ranges({dptrs, sizes, count}, flags);
  });
}

CUresult cuMemDiscardAndPrefetchBatchAsync(CUdeviceptr* dptrs, size_t* sizes, size_t count, CUmemLocation* prefetchLocs,
                                           size_t* prefetchLocIdxs, size_t numPrefetchLocs, unsigned long long flags,
                                           CUstream hStream) {
  return api_call([&]() -> Result<> {
    return prefetch_batch({dptrs, sizes, count}, prefetchLocs, prefetchLocIdxs, numPrefetchLocs, flags, hStream);
  });
}

// ---- what is known ----

namespace {

/// The place that all parts of the range name; type 0 when they differ or name none.
template <typename Field>
MemoryHint::Place common_place(CUdeviceptr address, size_t count, Field field) {
  std::optional<MemoryHint::Place> common;
  MemoryHints::get().visit(address, count, [&](const MemoryHint& hint) {
    if (common && *common != hint.*field) return common = MemoryHint::Place{}, false;
    common = hint.*field;
    return true;
  });
  return common.value_or(MemoryHint::Place{});
}

/// Places as the older attributes give them: a device's number, or one for the host or none.
int device_number(MemoryHint::Place place) {
  if (place.type == CU_MEM_LOCATION_TYPE_DEVICE) return place.id;
  return place.type == 0 ? CU_DEVICE_INVALID : CU_DEVICE_CPU;
}

int location_type(MemoryHint::Place place) {
  return place.type == 0 ? static_cast<int>(CU_MEM_LOCATION_TYPE_INVALID) : place.type;
}

bool all_read_mostly(CUdeviceptr address, size_t count) {
  bool all = true;
  MemoryHints::get().visit(address, count, [&](const MemoryHint& hint) { return all = hint.read_mostly; });
  return all;
}

/// The devices that are said to access the whole range, then CU_DEVICE_INVALID.
void accessors(CUdeviceptr address, size_t count, std::span<int> out) {
  std::optional<std::set<MemoryHint::Place>> common;
  MemoryHints::get().visit(address, count, [&](const MemoryHint& hint) {
    if (!common) common = hint.accessed_by;
    std::erase_if(*common, [&](const MemoryHint::Place& place) { return !hint.accessed_by.contains(place); });
    return true;
  });
  std::ranges::fill(out, CU_DEVICE_INVALID);
  size_t next = 0;
  if (common)
    for (const MemoryHint::Place& place : *common)
      if (next < out.size()) out[next++] = device_number(place);
}

Result<> attribute_of(void* data, size_t size, CUmem_range_attribute attribute, CUdeviceptr address, size_t count) {
  TRY(given(data, "data"));
  const bool is_list = attribute == CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY;
  if (is_list ? size == 0 || size % sizeof(int) : size != sizeof(int))
    return fail(ErrorCode::InvalidValue, "dataSize is {}; {} 4", size, is_list ? "give a multiple of" : "it must be");
  auto* const out = static_cast<int*>(data);
  const auto preferred = [&] { return common_place(address, count, &MemoryHint::preferred); };
  const auto prefetched = [&] { return common_place(address, count, &MemoryHint::last_prefetch); };
  switch (attribute) {
    case CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY:
      *out = all_read_mostly(address, count);
      return {};
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION:
      *out = device_number(preferred());
      return {};
    case CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY:
      accessors(address, count, {out, size / sizeof(int)});
      return {};
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION:
      *out = device_number(prefetched());
      return {};
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE:
      *out = location_type(preferred());
      return {};
    case CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID:
      *out = preferred().id;
      return {};
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE:
      *out = location_type(prefetched());
      return {};
    case CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID:
      *out = prefetched().id;
      return {};
  }
  return fail(ErrorCode::InvalidValue, "{} is not one of CUmem_range_attribute", static_cast<int>(attribute));
}

}  // namespace

CUresult cuMemRangeGetAttribute(void* data, size_t dataSize, CUmem_range_attribute attribute, CUdeviceptr devPtr,
                                size_t count) {
  return api_call([&]() -> Result<> {
    TRY(check_range(devPtr, count));
    return attribute_of(data, dataSize, attribute, devPtr, count);
  });
}

CUresult cuMemRangeGetAttributes(void** data, size_t* dataSizes, CUmem_range_attribute* attributes,
                                 size_t numAttributes, CUdeviceptr devPtr, size_t count) {
  return api_call([&]() -> Result<> {
    TRY(given(data, "data"));
    TRY(given(dataSizes, "dataSizes"));
    TRY(given(attributes, "attributes"));
    if (numAttributes == 0) return fail(ErrorCode::InvalidValue, "numAttributes is 0");
    TRY(check_range(devPtr, count));
    for (size_t i = 0; i < numAttributes; ++i) TRY(attribute_of(data[i], dataSizes[i], attributes[i], devPtr, count));
    return {};
  });
}
