// cuGetProcAddress. "CUDA Driver API, Driver Entry Point Access".

#include "cuda/driver/entry_points.h"

#include <algorithm>
#include <vector>

#include "cuda/driver/api.h"

extern "C" {
#define CU_ABSENT(name, why) int name(void);
#include "cuda/driver/driver.def"
}

namespace cupola::driver {

std::span<const EntryPoint> entry_points() {
  static const EntryPoint table[] = {
#define CU_FN(base, suffix, since, status, signature) {#base #suffix, since, reinterpret_cast<void*>(&base##suffix)},
#define CU_ABSENT(name, why) {#name, 0, reinterpret_cast<void*>(&name)},
#include "cuda/driver/driver.def"
  };
  return table;
}

NameParts split(std::string_view name) {
  NameParts parts{name};
  if (name.ends_with("_ptsz") || name.ends_with("_ptds")) {
    parts.per_thread = true;
    parts.base.remove_suffix(5);
  }
  const size_t size = parts.base.size();
  if (size > 3 && parts.base.substr(size - 3, 2) == "_v" && parts.base.back() >= '2' && parts.base.back() <= '9') {
    parts.version = parts.base.back() - '0';
    parts.base.remove_suffix(3);
  }
  return parts;
}

namespace {

struct Found {
  const EntryPoint* entry = nullptr;
  bool too_new = false;  ///< the name exists, but not yet in the version asked for
};

struct NamedEntry {
  NameParts name;
  const EntryPoint* entry;
};

/// All rows by the base of their names, those of one base in the table's order.
const std::vector<NamedEntry>& entries_by_base() {
  static const auto* const table = [] {
    auto* const all = new std::vector<NamedEntry>;  // leaked: asked for until the process ends
    for (const EntryPoint& entry : entry_points()) all->push_back({split(entry.name), &entry});
    std::ranges::stable_sort(*all, {}, [](const NamedEntry& each) { return each.name.base; });
    return all;
  }();
  return *table;
}

Found find(std::string_view symbol, int version, bool per_thread) {
  // Since CUDA 12 the plain name means this one, as cuda.h's macro has it.
  if (symbol == "cuGraphInstantiate" && version >= 12000) symbol = "cuGraphInstantiateWithFlags";
  Found found;
  int best_version = 0;
  bool best_per_thread = false;
  const auto rows =
      std::ranges::equal_range(entries_by_base(), symbol, {}, [](const NamedEntry& each) { return each.name.base; });
  for (const auto& [parts, row] : rows) {
    const EntryPoint& entry = *row;
    if (parts.per_thread && !per_thread) continue;
    if (entry.since > version) {
      found.too_new = true;
      continue;
    }
    const bool better =
        !found.entry || entry.since > found.entry->since ||
        (entry.since == found.entry->since &&
         (parts.version > best_version || (parts.version == best_version && parts.per_thread && !best_per_thread)));
    if (!better) continue;
    found.entry = &entry;
    best_version = parts.version;
    best_per_thread = parts.per_thread;
  }
  return found;
}

}  // namespace
}  // namespace cupola::driver

using namespace cupola;
using namespace cupola::driver;

CUresult cuGetProcAddress_v2(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags,
                             CUdriverProcAddressQueryResult* symbolStatus) {
  return api_call_before_init([&]() -> Result<> {
    TRY(given(symbol, "symbol"));
    TRY(given(pfn, "pfn"));
    *pfn = nullptr;
    const cuuint64_t both = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
    if (flags & ~both || flags == both)
      return fail(ErrorCode::InvalidValue,
                  "flags are {:#x}; give CU_GET_PROC_ADDRESS_DEFAULT, _LEGACY_STREAM or _PER_THREAD_DEFAULT_STREAM",
                  flags);
    const Found found = find(symbol, cudaVersion, flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM);
    if (found.entry) *pfn = found.entry->address;
    if (symbolStatus) {
      *symbolStatus = found.entry     ? CU_GET_PROC_ADDRESS_SUCCESS
                      : found.too_new ? CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT
                                      : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
    }
    if (!found.entry && !symbolStatus) return refuse(ErrorCode::NotFound);  // else the status tells
    return {};
  });
}

CUresult cuGetProcAddress(const char* symbol, void** pfn, int cudaVersion, cuuint64_t flags) {
  return forwarded([&] { return cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, nullptr); });
}
