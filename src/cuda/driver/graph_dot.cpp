// A graph as a picture for Graphviz. "CUDA Driver API, cuGraphDebugDotPrint": which lines a node has is for people, and
// may change.

#include <array>
#include <fstream>

#include "cuda/driver/graph_nodes.h"
#include "runtime/graph_memory.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

struct Details {
  unsigned flags;
  bool has(unsigned flag) const { return flags & (flag | CU_GRAPH_DEBUG_DOT_FLAGS_VERBOSE); }
};

std::string text(const KernelWork& work, Details details) {
  std::string line = "kernel\\n" + work.function->info().name;
  if (details.has(CU_GRAPH_DEBUG_DOT_FLAGS_KERNEL_NODE_PARAMS)) {
    const auto& [grid, block, shared, cooperative] = work.shape;
    line += formatted("\\ngrid {} {} {}\\nblock {} {} {}\\nshared {}{}", grid.x, grid.y, grid.z, block.x, block.y,
                      block.z, shared, cooperative ? "\\ncooperative" : "");
  }
  return line;
}
std::string text(const CopyWork& work, Details details) {
  if (!details.has(CU_GRAPH_DEBUG_DOT_FLAGS_MEMCPY_NODE_PARAMS)) return "memcpy";
  const hal::Copy& copy = work.command;
  return formatted("memcpy\\n{:#x} to {:#x}\\n{} x {} x {} bytes", copy.source, copy.destination, copy.width,
                   copy.height, copy.depth);
}
std::string text(const FillWork& work, Details details) {
  if (!details.has(CU_GRAPH_DEBUG_DOT_FLAGS_MEMSET_NODE_PARAMS)) return "memset";
  const hal::Fill& fill = work.command;
  return formatted("memset\\n{:#x} = {:#x}\\n{} x {} of {} bytes", fill.destination, fill.value, fill.width,
                   fill.height, fill.value_bytes);
}
std::string text(const HostWork& work, Details details) {
  if (!details.has(CU_GRAPH_DEBUG_DOT_FLAGS_HOST_NODE_PARAMS)) return "host";
  return formatted("host\\n{}({})", reinterpret_cast<const void*>(work.function), work.data);
}
std::string text(const ChildWork&, Details) {
  return "graph";
}
std::string text(const EmptyWork&, Details) {
  return "empty";
}
std::string text(const WaitWork& work, Details details) {
  if (!details.has(CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS)) return "event wait";
  return formatted("event wait\\n{}", static_cast<const void*>(work.event.get()));
}
std::string text(const RecordWork& work, Details details) {
  if (!details.has(CU_GRAPH_DEBUG_DOT_FLAGS_EVENT_NODE_PARAMS)) return "event record";
  return formatted("event record\\n{}", static_cast<const void*>(work.event.get()));
}
std::string text(const AllocWork& work, Details details) {
  if (!details.has(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_ALLOC_NODE_PARAMS)) return "mem alloc";
  return formatted("mem alloc\\n{} bytes at {:#x}", work.allocation->bytes(), work.allocation->address());
}
std::string text(const FreeWork& work, Details details) {
  if (!details.has(CU_GRAPH_DEBUG_DOT_FLAGS_MEM_FREE_NODE_PARAMS)) return "mem free";
  return formatted("mem free\\n{:#x}", work.allocation->address());
}
std::string text(const MemoryOpsWork& work, Details details) {
  if (!details.has(CU_GRAPH_DEBUG_DOT_FLAGS_BATCH_MEM_OP_NODE_PARAMS)) return "batch mem op";
  return formatted("batch mem op\\n{} operations", work.ops.size());
}
std::string text(const ConditionalWork& work, Details) {
  constexpr std::array names = {"if", "while", "switch"};
  return formatted("conditional\\n{}", names[static_cast<size_t>(work.kind)]);
}

void print(std::ostream& out, const Graph& graph, Details details) {
  out << formatted("subgraph cluster_{} {{\nlabel=\"graph_{}\"\n", graph.id(), graph.id());
  for (const auto& node : graph.nodes()) {
    std::string label = std::visit([&](const auto& work) { return text(work, details); }, node->work);
    if (details.has(CU_GRAPH_DEBUG_DOT_FLAGS_HANDLES))
      label += formatted("\\n{}", static_cast<const void*>(node.get()));
    out << formatted("node_{} [shape=\"box\" label=\"{}\"]\n", node->id(), label);
    for (const auto& inner : graphs_within(node->work)) print(out, *inner, details);
  }
  for (const auto& node : graph.nodes())
    for (const Dependency& next : node->dependents())
      out << formatted("node_{} -> node_{}\n", node->id(), next.node->id());
  out << "}\n";
}

}  // namespace

CUresult cuGraphDebugDotPrint(CUgraph hGraph, const char* path, unsigned int flags) {
  return api_call([&]() -> Result<> {
    TRY(given(path, "path"));
    TRY(std::shared_ptr<Graph> graph, Runtime::get().graph(hGraph));
    std::ofstream file(path);
    file << "digraph dot {\n";
    print(file, *graph, {flags});
    file << "}\n";
    file.close();
    if (!file) return fail(ErrorCode::OperatingSystem, "{} cannot be written", path);
    return {};
  });
}
