// Memory of graphs by device: how much there is. "CUDA Driver API, Graph Management".

#include "runtime/graph_memory.h"

#include "cuda/driver/api.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

Result<cuuint64_t> graph_memory_attribute(const Device& device, CUgraphMem_attribute attribute) {
  const GraphMemoryUsage usage = graph_memory_usage(device);
  switch (attribute) {
    case CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT:
      return usage.used;
    case CU_GRAPH_MEM_ATTR_USED_MEM_HIGH:
      return usage.most_used;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT:
      return usage.reserved;
    case CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH:
      return usage.most_reserved;
  }
  return fail(ErrorCode::InvalidValue, "there is no attribute {} of graph memory", static_cast<int>(attribute));
}

}  // namespace

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
  return api_call([&]() -> Result<> {
    TRY(given(value, "value"));
    TRY(Device* const found, Runtime::get().device(device));
    TRY(*static_cast<cuuint64_t*>(value), graph_memory_attribute(*found, attr));
    return {};
  });
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
  return api_call([&]() -> Result<> {
    TRY(given(value, "value"));
    TRY(Device* const found, Runtime::get().device(device));
    const bool is_mark = attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH || attr == CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH;
    if (!is_mark || *static_cast<const cuuint64_t*>(value) != 0)
      return fail(ErrorCode::InvalidValue, "only the high-water marks can be set, and only to 0");
    attr == CU_GRAPH_MEM_ATTR_USED_MEM_HIGH ? reset_most_used(*found) : reset_most_reserved(*found);
    return {};
  });
}

// What no node needs any more went back at once.
CUresult cuDeviceGraphMemTrim(CUdevice device) {
  return api_call([&]() -> Result<> {
    TRY(Runtime::get().device(device));
    return {};
  });
}
