#include "cuda/driver/graph_nodes.h"

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>

#include "cuda/driver/copy.h"
#include "cuda/driver/launch.h"
#include "cuda/driver/stream_memory.h"
#include "runtime/graph_condition.h"
#include "runtime/graph_memory.h"

namespace cupola::driver {
namespace {

template <typename T>
std::vector<std::byte> bytes_of(const T& value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

/// Error: InvalidValue for a node of another type.
template <typename W>
Result<const W*> work_of(const Node& node) {
  if (const W* work = std::get_if<W>(&node.work)) return work;
  return fail(ErrorCode::InvalidValue, "the node is of another type than the parameters that were asked for");
}

void* pointer(hal::Address address) {
  return reinterpret_cast<void*>(address);  // NOLINT(performance-no-int-to-ptr)
}

}  // namespace

// ---- kernels ----

Result<Described> describe(const CUDA_KERNEL_NODE_PARAMS& p) {
  const void* handle = p.func ? static_cast<const void*>(p.func) : static_cast<const void*>(p.kern);
  TRY(std::shared_ptr<Function> function, Runtime::get().function(handle));
  const LaunchShape shape{
      {p.gridDimX, p.gridDimY, p.gridDimZ}, {p.blockDimX, p.blockDimY, p.blockDimZ}, p.sharedMemBytes};
  TRY(check_launch(*function, shape));
  TRY(hal::ParameterBlock parameters, parameter_block(*function, p.kernelParams, p.extra));
  return Described{KernelWork{std::move(function), shape, std::move(parameters), {}}, {}};
}

Result<Described> describe(const CUDA_KERNEL_NODE_PARAMS_v1& p) {
  CUDA_KERNEL_NODE_PARAMS with_kernel{};
  std::memcpy(&with_kernel, &p, sizeof p);
  return describe(with_kernel);
}

Result<> write(Node& node, CUDA_KERNEL_NODE_PARAMS_v1& p) {
  TRY(const KernelWork* work, work_of<KernelWork>(node));
  node.argument_pointers.clear();
  auto* const block = const_cast<std::byte*>(work->parameters.data());
  for (const auto& parameter : work->function->info().parameters)
    node.argument_pointers.push_back(block + parameter.offset);
  const hal::Dim3 &grid = work->shape.grid, &block_shape = work->shape.block;
  p = {handle_of<CUfunction>(work->function.get()),
       grid.x,
       grid.y,
       grid.z,
       block_shape.x,
       block_shape.y,
       block_shape.z,
       work->shape.dynamic_shared_bytes,
       node.argument_pointers.data(),
       nullptr};
  return {};
}

Result<> write(Node& node, CUDA_KERNEL_NODE_PARAMS& p) {
  CUDA_KERNEL_NODE_PARAMS_v1 without_kernel{};
  TRY(write(node, without_kernel));
  p = {};
  std::memcpy(&p, &without_kernel, sizeof without_kernel);
  p.ctx = handle_of<CUcontext>(&std::get<KernelWork>(node.work).function->context());
  return {};
}

// ---- copies and fills ----

Result<Described> describe(const CUDA_MEMCPY3D& p) {
  TRY(CopyWork work, copy_work(p));
  if (work.command.width && work.command.height && work.command.depth)
    TRY(checked(work.command, work.destination, work.source));
  return Described{std::move(work), bytes_of(p)};
}

Result<> write(Node& node, CUDA_MEMCPY3D& p) {
  TRY(const CopyWork* work, work_of<CopyWork>(node));
  p = {};
  if (node.as_given.size() == sizeof p) {
    std::memcpy(&p, node.as_given.data(), sizeof p);
    return {};
  }
  const auto type_of_end = [](End end) {
    constexpr std::array types = {CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE, CU_MEMORYTYPE_UNIFIED};
    return types[static_cast<size_t>(end)];
  };
  const hal::Copy& copy = work->command;
  p.srcMemoryType = type_of_end(work->source);
  p.srcHost = work->source == End::Host ? pointer(copy.source) : nullptr;
  p.srcDevice = work->source == End::Host ? 0 : copy.source;
  p.srcPitch = copy.source_pitch ? copy.source_pitch : copy.width;
  p.srcHeight = copy.source_slice ? copy.source_slice / p.srcPitch : copy.height;
  p.dstMemoryType = type_of_end(work->destination);
  p.dstHost = work->destination == End::Host ? pointer(copy.destination) : nullptr;
  p.dstDevice = work->destination == End::Host ? 0 : copy.destination;
  p.dstPitch = copy.destination_pitch ? copy.destination_pitch : copy.width;
  p.dstHeight = copy.destination_slice ? copy.destination_slice / p.dstPitch : copy.height;
  p.WidthInBytes = copy.width;
  p.Height = copy.height;
  p.Depth = copy.depth;
  return {};
}

Result<Described> describe(const CUDA_MEMSET_NODE_PARAMS& p) {
  if (p.elementSize != 1 && p.elementSize != 2 && p.elementSize != 4)
    return fail(ErrorCode::InvalidValue, "elementSize is {}; it may be 1, 2 or 4", p.elementSize);
  const uint32_t mask = p.elementSize == 4 ? UINT32_MAX : (1u << (8 * p.elementSize)) - 1;
  const hal::Fill command{.destination = p.dst,
                          .value = p.value & mask,
                          .value_bytes = p.elementSize,
                          .width = p.width,
                          .height = p.height,
                          .pitch = p.pitch,
                          .owner = nullptr};
  if (p.width && p.height) TRY(checked(command));
  return Described{FillWork{command}, {}};
}

Result<> write(Node& node, CUDA_MEMSET_NODE_PARAMS& p) {
  TRY(const FillWork* work, work_of<FillWork>(node));
  const hal::Fill& fill = work->command;
  p = {fill.destination, fill.pitch, fill.value, fill.value_bytes, fill.width, fill.height};
  return {};
}

// ---- host functions and events ----

Result<Described> describe(const CUDA_HOST_NODE_PARAMS& p) {
  if (!p.fn) return fail(ErrorCode::InvalidValue, "fn is null");
  return Described{HostWork{p.fn, p.userData}, {}};
}
Result<> write(Node& node, CUDA_HOST_NODE_PARAMS& p) {
  TRY(const HostWork* work, work_of<HostWork>(node));
  p = {work->function, work->data};
  return {};
}

Result<Described> describe(const CUDA_EVENT_RECORD_NODE_PARAMS& p) {
  TRY(given(p.event, "event"));
  TRY(std::shared_ptr<Event> event, Runtime::get().event(p.event));
  return Described{RecordWork{std::move(event)}, {}};
}
Result<> write(Node& node, CUDA_EVENT_RECORD_NODE_PARAMS& p) {
  TRY(const RecordWork* work, work_of<RecordWork>(node));
  p.event = handle_of<CUevent>(work->event.get());
  return {};
}

Result<Described> describe(const CUDA_EVENT_WAIT_NODE_PARAMS& p) {
  TRY(given(p.event, "event"));
  TRY(std::shared_ptr<Event> event, Runtime::get().event(p.event));
  return Described{WaitWork{std::move(event)}, {}};
}
Result<> write(Node& node, CUDA_EVENT_WAIT_NODE_PARAMS& p) {
  TRY(const WaitWork* work, work_of<WaitWork>(node));
  p.event = handle_of<CUevent>(work->event.get());
  return {};
}

// ---- graphs within ----

namespace {

bool has_conditional(const Graph& graph) {
  return std::ranges::any_of(graph.nodes(), [](const auto& node) {
    return std::holds_alternative<ConditionalWork>(node->work) ||
           std::ranges::any_of(graphs_within(node->work), [](const auto& inner) { return has_conditional(*inner); });
  });
}

}  // namespace

Result<Described> describe(const CUDA_CHILD_GRAPH_NODE_PARAMS& p) {
  TRY(std::shared_ptr<Graph> graph, Runtime::get().graph(p.graph));
  if (p.ownership == CU_GRAPH_CHILD_GRAPH_OWNERSHIP_MOVE) {
    if (graph->owner()) return fail(ErrorCode::InvalidValue, "the child graph belongs to a node already");
    return Described{ChildWork{std::move(graph)}, {}};
  }
  if (p.ownership != CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE)
    return fail(ErrorCode::InvalidValue, "the ownership {} is not valid", static_cast<int>(p.ownership));
  if (graph->has_memory() || has_conditional(*graph))
    return fail(ErrorCode::NotSupported,
                "a graph with memory nodes or conditional nodes can be a child graph only when it is moved into its "
                "parent");
  return Described{ChildWork{graph->clone(false)}, {}};
}
Result<> write(Node& node, CUDA_CHILD_GRAPH_NODE_PARAMS& p) {
  TRY(const ChildWork* work, work_of<ChildWork>(node));
  p = {handle_of<CUgraph>(work->graph.get()), CU_GRAPH_CHILD_GRAPH_OWNERSHIP_CLONE};
  return {};
}

struct ConditionalType {
  CUgraphConditionalNodeType type;
  ConditionalWork::Kind kind;
  unsigned least, most;  ///< bodies
  const char* bodies;
};
constexpr ConditionalType kConditionalTypes[] = {
    {CU_GRAPH_COND_TYPE_IF, ConditionalWork::Kind::If, 1, 2, "an IF node has 1 or 2 bodies"},
    {CU_GRAPH_COND_TYPE_WHILE, ConditionalWork::Kind::While, 1, 1, "a WHILE node has 1 body"},
    {CU_GRAPH_COND_TYPE_SWITCH, ConditionalWork::Kind::Switch, 1, UINT_MAX, "a SWITCH node has at least 1 body"}};

Result<Described> describe(const CUDA_CONDITIONAL_NODE_PARAMS& p) {
  const auto* const row = std::ranges::find(kConditionalTypes, p.type, &ConditionalType::type);
  if (row == std::end(kConditionalTypes))
    return fail(ErrorCode::InvalidValue,
                "the type {} of conditional node is not valid; give CU_GRAPH_COND_TYPE_IF, "
                "_WHILE or _SWITCH",
                static_cast<int>(p.type));
  if (p.size < row->least || p.size > row->most)
    return fail(ErrorCode::InvalidValue, "{}; {} were asked for", row->bodies, p.size);
  ConditionalWork work;
  work.kind = row->kind;
  TRY(work.condition, GraphCondition::find(p.handle));
  if (p.ctx && p.ctx != handle_of<CUcontext>(&work.condition->context()))
    return fail(ErrorCode::InvalidValue, "the context is another than that of the conditional handle");
  if (work.condition->taken())  // by a node: add_node
    return fail(ErrorCode::InvalidValue, "the conditional handle {:#x} belongs to another node", p.handle);
  for (unsigned i = 0; i < p.size; ++i) work.bodies.push_back(Graph::make(false));
  return Described{std::move(work), bytes_of(p)};
}
Result<> write(Node& node, CUDA_CONDITIONAL_NODE_PARAMS& p) {
  TRY(const ConditionalWork* work, work_of<ConditionalWork>(node));
  node.argument_pointers.clear();
  for (const auto& body : work->bodies) node.argument_pointers.push_back(body.get());
  const auto* const row = std::ranges::find(kConditionalTypes, work->kind, &ConditionalType::kind);
  p = {work->condition->handle(), row->type, static_cast<unsigned>(work->bodies.size()),
       reinterpret_cast<CUgraph*>(node.argument_pointers.data()), handle_of<CUcontext>(&work->condition->context())};
  return {};
}

// ---- memory ----

Result<Described> describe(const CUDA_MEM_ALLOC_NODE_PARAMS& p) {
  if (p.poolProps.allocType != CU_MEM_ALLOCATION_TYPE_PINNED || p.poolProps.handleTypes != CU_MEM_HANDLE_TYPE_NONE ||
      p.poolProps.location.type != CU_MEM_LOCATION_TYPE_DEVICE)
    return fail(ErrorCode::InvalidValue,
                "poolProps must ask for pinned device memory that is not shared between processes");
  TRY(Device* const device, Runtime::get().device(p.poolProps.location.id));
  if (p.accessDescCount) TRY(given(p.accessDescs, "accessDescs"));
  TRY(std::shared_ptr<Context> context, current_context());
  if (&context->device() != device)
    return fail(ErrorCode::NotSupported, "memory on device {} was asked for from a context of device {}",
                device->ordinal(), context->device().ordinal());
  TRY(std::shared_ptr<GraphAllocation> allocation, GraphAllocation::make(*context, p.bytesize));
  std::vector<std::byte> as_given = bytes_of(p);
  const auto* first = reinterpret_cast<const std::byte*>(p.accessDescs);
  if (p.accessDescCount) as_given.insert(as_given.end(), first, first + p.accessDescCount * sizeof(CUmemAccessDesc));
  return Described{AllocWork{std::move(allocation)}, std::move(as_given)};
}

Result<> write(Node& node, CUDA_MEM_ALLOC_NODE_PARAMS& p) {
  TRY(const AllocWork* work, work_of<AllocWork>(node));
  p = {};
  if (node.as_given.size() >= sizeof p) std::memcpy(&p, node.as_given.data(), sizeof p);
  p.poolProps.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
  p.poolProps.location = {CU_MEM_LOCATION_TYPE_DEVICE, work->allocation->device().ordinal()};
  p.accessDescs =
      p.accessDescCount ? reinterpret_cast<const CUmemAccessDesc*>(node.as_given.data() + sizeof p) : nullptr;
  p.bytesize = work->allocation->bytes();
  p.dptr = work->allocation->address();
  return {};
}

Result<Described> describe(const CUDA_MEM_FREE_NODE_PARAMS& p) {
  TRY(std::shared_ptr<GraphAllocation> allocation, GraphAllocation::find(p.dptr));
  return Described{FreeWork{std::move(allocation)}, {}};
}
Result<> write(Node& node, CUDA_MEM_FREE_NODE_PARAMS& p) {
  TRY(const FreeWork* work, work_of<FreeWork>(node));
  p.dptr = work->allocation->address();
  return {};
}

Result<Described> describe(const CUDA_BATCH_MEM_OP_NODE_PARAMS& p) {
  TRY(std::shared_ptr<Context> context, p.ctx ? Runtime::get().context(p.ctx) : current_context());
  TRY(std::vector<MemoryOp> ops, memory_ops(p.paramArray, p.count, p.flags));
  std::vector<hal::Command> commands;  // whether they can be made: memory is looked at again at each launch
  for (const MemoryOp& op : ops) TRY(append_commands(context->device().hal(), op, commands));
  return Described{MemoryOpsWork{context.get(), &context->device(), std::move(ops)}, {}};
}
Result<> write(Node& node, CUDA_BATCH_MEM_OP_NODE_PARAMS& p) {
  TRY(const MemoryOpsWork* work, work_of<MemoryOpsWork>(node));
  node.as_given.clear();
  for (const MemoryOp& op : work->ops) {
    const std::vector<std::byte> bytes = bytes_of(params_of(op));
    node.as_given.insert(node.as_given.end(), bytes.begin(), bytes.end());
  }
  p = {handle_of<CUcontext>(work->context), static_cast<unsigned>(work->ops.size()),
       reinterpret_cast<CUstreamBatchMemOpParams*>(node.as_given.data()), 0};
  return {};
}

// ---- all ----

CUgraphNodeType type_of(const Work& work) {
  // In the order of the variant.
  constexpr std::array types = {
      CU_GRAPH_NODE_TYPE_KERNEL,     CU_GRAPH_NODE_TYPE_MEMCPY,       CU_GRAPH_NODE_TYPE_MEMSET,
      CU_GRAPH_NODE_TYPE_HOST,       CU_GRAPH_NODE_TYPE_GRAPH,        CU_GRAPH_NODE_TYPE_EMPTY,
      CU_GRAPH_NODE_TYPE_WAIT_EVENT, CU_GRAPH_NODE_TYPE_EVENT_RECORD, CU_GRAPH_NODE_TYPE_MEM_ALLOC,
      CU_GRAPH_NODE_TYPE_MEM_FREE,   CU_GRAPH_NODE_TYPE_BATCH_MEM_OP, CU_GRAPH_NODE_TYPE_CONDITIONAL};
  static_assert(types.size() == std::variant_size_v<Work>);
  return types[work.index()];
}

Result<std::vector<Dependency>> dependencies_of(const CUgraphNode* nodes, const CUgraphEdgeData* data, size_t count) {
  std::vector<Dependency> dependencies;
  if (count) TRY(given(nodes, "the array of dependencies"));
  for (size_t i = 0; i < count; ++i) {
    TRY(std::shared_ptr<Node> node, Runtime::get().graph_node(nodes[i]));
    EdgeData edge;
    if (data) {
      if (data[i].type > CU_GRAPH_DEPENDENCY_TYPE_PROGRAMMATIC ||
          std::ranges::any_of(data[i].reserved, [](unsigned char byte) { return byte != 0; }))
        return fail(ErrorCode::InvalidValue, "the edge data of dependency {} is not valid", i);
      edge = {data[i].from_port, data[i].to_port, data[i].type};
    }
    dependencies.push_back({node.get(), edge});
  }
  return dependencies;
}

Result<Node*> add_node(CUgraph handle, const CUgraphNode* dependencies, const CUgraphEdgeData* data, size_t count,
                       Described described) {
  TRY(std::shared_ptr<Graph> graph, Runtime::get().graph(handle));
  TRY(std::vector<Dependency> before, dependencies_of(dependencies, data, count));
  if (const auto* freed = std::get_if<FreeWork>(&described.work)) {
    for (const auto& node : graph->nodes()) {
      const auto* other = std::get_if<FreeWork>(&node->work);
      if (other && other->allocation == freed->allocation)
        return fail(ErrorCode::InvalidValue, "the graph frees {:#x} already", freed->allocation->address());
    }
  }
  if (const auto* child = std::get_if<ChildWork>(&described.work)) {
    for (const Graph* outer = graph.get(); outer; outer = outer->owner() ? &outer->owner()->graph() : nullptr)
      if (outer == child->graph.get()) return fail(ErrorCode::InvalidValue, "a graph cannot be moved into itself");
  }
  TRY(Node* const node, graph->add(std::move(described.work), before));
  if (const auto* conditional = std::get_if<ConditionalWork>(&node->work)) conditional->condition->take();
  node->as_given = std::move(described.as_given);
  return node;
}

Result<> replace(Node& node, Described described) {
  if (node.work.index() != described.work.index())
    return fail(ErrorCode::InvalidValue, "the node is of another type than the parameters");
  TRY(keep_attributes(described.work, node.work));
  node.work = std::move(described.work);
  node.as_given = std::move(described.as_given);
  node.argument_pointers.clear();
  return {};
}

}  // namespace cupola::driver
