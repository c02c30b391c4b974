// MTLComputeCommandEncoder: what Metal's validation layer checks is checked here.

#include <cstring>

#include "doubles/software_metal/commands.h"

namespace cupola::software_metal {
namespace {

constexpr unsigned long kMostBuffers = 31, kMostInlineBytes = 4096, kThreadgroupAlignment = 16;
constexpr uint64_t kMostThreadsAcross = uint64_t{1} << 32;

Dispatch& state_of(Encoder* self, const char* what) {
  if (self->ended) refuse_with("{}: the encoder has ended", what);
  return self->state;
}

template <typename T>
T* as(Object* object, const char* what) {
  auto* const wanted = dynamic_cast<T*>(object);
  if (!wanted) refuse_with("{}: an argument is of another class", what);
  return wanted;
}

Dispatch::Argument& argument(Encoder* self, unsigned long index, const char* what) {
  Dispatch& state = state_of(self, what);
  if (index >= kMostBuffers) refuse_with("{}: index {}; there are {}", what, index, kMostBuffers);
  if (state.arguments.size() <= index) state.arguments.resize(index + 1);
  return state.arguments[index] = {.set = true};
}

void set_pipeline(Encoder* self, Selector, Object* pipeline) {
  state_of(self, "setComputePipelineState:").pipeline = Kept(as<Pipeline>(pipeline, "setComputePipelineState:"));
}

void set_bytes(Encoder* self, Selector, const void* bytes, unsigned long length, unsigned long index) {
  if (length == 0 || length > kMostInlineBytes)
    refuse_with("setBytes: {} bytes; from 1 to {}", length, kMostInlineBytes);
  std::vector<Dispatch::Line>& lines = argument(self, index, "setBytes:length:atIndex:").bytes;
  lines.resize((length + sizeof(Dispatch::Line) - 1) / sizeof(Dispatch::Line));
  std::memcpy(lines.data(), bytes, length);
}

void set_buffer(Encoder* self, Selector, Object* buffer, unsigned long offset, unsigned long index) {
  auto* const of = as<Buffer>(buffer, "setBuffer:offset:atIndex:");
  if (offset >= of->length) refuse_with("setBuffer: offset {} in a buffer of {}", offset, of->length);
  Dispatch::Argument& place = argument(self, index, "setBuffer:offset:atIndex:");
  place.buffer = Kept(of);
  place.offset = offset;
}

void set_threadgroup_memory(Encoder* self, Selector, unsigned long length, unsigned long index) {
  auto& all = state_of(self, "setThreadgroupMemoryLength:").threadgroup_bytes;
  if (index >= kMostBuffers || length % kThreadgroupAlignment != 0 || length > kMostThreadgroupBytes)
    refuse_with("setThreadgroupMemoryLength: {} bytes at index {}", length, index);
  if (all.size() <= index) all.resize(index + 1);
  all[index] = static_cast<uint32_t>(length);
}

void use_resource(Encoder* self, Selector, Object* resource, unsigned long usage) {
  if (usage == 0 || usage > 7) refuse_with("useResource: usage {}", usage);
  state_of(self, "useResource:usage:").used.emplace_back(as<Buffer>(resource, "useResource:usage:"));
}

void check_sizes(const Size& grid, const Size& block) {
  const unsigned long groups[] = {grid.width, grid.height, grid.depth};
  const unsigned long threads[] = {block.width, block.height, block.depth};
  for (int i = 0; i < 3; ++i)
    if (groups[i] == 0 || threads[i] == 0 || groups[i] * threads[i] >= kMostThreadsAcross)
      refuse_with("dispatchThreadgroups: {} threadgroups of {} threads in dimension {}", groups[i], threads[i], i);
  if (const unsigned long all = threads[0] * threads[1] * threads[2]; all > kMostThreads)
    refuse_with("dispatchThreadgroups: {} threads a threadgroup; the pipeline's limit is {}", all, kMostThreads);
}

void check_arguments(const Dispatch& state) {
  const doubles::MslFunction& function = state.pipeline->function->signature();
  for (const doubles::MslArgument& each : function.arguments) {
    if (each.kind == doubles::MslArgument::Kind::Buffer &&
        (each.index >= state.arguments.size() || !state.arguments[each.index].set))
      refuse_with("dispatchThreadgroups: {} has no buffer at index {}", function.name, each.index);
    if (each.kind == doubles::MslArgument::Kind::Threadgroup &&
        (each.index >= state.threadgroup_bytes.size() || state.threadgroup_bytes[each.index].value_or(0) == 0))
      refuse_with("dispatchThreadgroups: {} has no threadgroup memory at index {}", function.name, each.index);
  }
  unsigned long bytes = 0;
  for (const auto& each : state.threadgroup_bytes) bytes += each.value_or(0);
  if (bytes > kMostThreadgroupBytes)
    refuse_with("dispatchThreadgroups: {} bytes of threadgroup memory; the limit is {}", bytes, kMostThreadgroupBytes);
}

void dispatch(Encoder* self, Selector, Size grid, Size block) {
  Dispatch& state = state_of(self, "dispatchThreadgroups:");
  if (!state.pipeline) refuse("dispatchThreadgroups: there is no pipeline");
  check_sizes(grid, block);
  check_arguments(state);
  Dispatch copy;
  copy.pipeline = Kept(state.pipeline.get());
  for (const Dispatch::Argument& each : state.arguments)
    copy.arguments.push_back({.bytes = each.bytes,
                              .buffer = each.buffer ? Kept(each.buffer.get()) : Kept<Buffer>(),
                              .offset = each.offset,
                              .set = each.set});
  copy.threadgroup_bytes = state.threadgroup_bytes;
  for (const Kept<Buffer>& each : state.used) copy.used.emplace_back(each.get());
  copy.grid = grid;
  copy.block = block;
  self->command_buffer->dispatches.push_back(std::move(copy));
}

void end_encoding(Encoder* self, Selector) {
  state_of(self, "endEncoding");
  self->ended = true;
  self->command_buffer->encoding = false;
}

const Method kEncoder[] = {
    {"setComputePipelineState:", "v@:@", code(set_pipeline)},
    {"setBytes:length:atIndex:", "v@:r^vQQ", code(set_bytes)},
    {"setBuffer:offset:atIndex:", "v@:@QQ", code(set_buffer)},
    {"setThreadgroupMemoryLength:atIndex:", "v@:QQ", code(set_threadgroup_memory)},
    {"useResource:usage:", "v@:@Q", code(use_resource)},
    {"dispatchThreadgroups:threadsPerThreadgroup:", "v@:{?=QQQ}{?=QQQ}", code(dispatch)},
    {"endEncoding", "v@:", code(end_encoding)},
};
auto& encoder_class = *new Class("MTLComputeCommandEncoder", kEncoder, {});

}  // namespace

const Class& Encoder::isa() const {
  return encoder_class;
}

void Encoder::dispose() {
  if (!ended) refuse("a MTLComputeCommandEncoder goes without endEncoding");
  state = Dispatch();
  command_buffer = Kept<CommandBuffer>();
}

}  // namespace cupola::software_metal
