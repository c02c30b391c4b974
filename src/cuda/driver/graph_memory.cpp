// Memory of graphs by device: how much there is. "CUDA Driver API, Graph Management".

#include "runtime/graph_memory.h"

#include "cuda/driver/api.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

struct Row {
  CUgraphMem_attribute attribute;
  GraphMemoryUsage::Bytes GraphMemoryUsage::* which;
  bool is_mark;  ///< the most there was
};
constexpr Row kRows[] = {
    {CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT, &GraphMemoryUsage::used, false},
    {CU_GRAPH_MEM_ATTR_USED_MEM_HIGH, &GraphMemoryUsage::used, true},
    {CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT, &GraphMemoryUsage::reserved, false},
    {CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH, &GraphMemoryUsage::reserved, true},
};

Result<Row> row_of(CUgraphMem_attribute attribute) {
  for (const Row& row : kRows)
    if (row.attribute == attribute) return row;
  return fail(ErrorCode::InvalidValue, "there is no attribute {} of graph memory", static_cast<int>(attribute));
}

}  // namespace

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
  return api_call([&]() -> Result<> {
    TRY(given(value, "value"));
    TRY(Device* const found, Runtime::get().device(device));
    TRY(const Row row, row_of(attr));
    const GraphMemoryUsage usage = graph_memory_usage(*found);
    *static_cast<cuuint64_t*>(value) = row.is_mark ? (usage.*row.which).most : (usage.*row.which).now;
    return {};
  });
}

CUresult cuDeviceSetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attr, void* value) {
  return api_call([&]() -> Result<> {
    TRY(given(value, "value"));
    TRY(Device* const found, Runtime::get().device(device));
    TRY(const Row row, row_of(attr));
    if (!row.is_mark || *static_cast<const cuuint64_t*>(value) != 0)
      return fail(ErrorCode::InvalidValue, "only the high-water marks can be set, and only to 0");
    reset_most(*found, row.which);
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
