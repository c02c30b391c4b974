#include "doubles/software_metal/commands.h"

#include "doubles/software_metal/foundation.h"

namespace cupola::software_metal {
namespace {

constexpr const char* kCommandErrors = "MTLCommandBufferErrorDomain";
constexpr long kInternal = 1, kTimeout = 2, kPageFault = 3;

std::atomic<long> next_error = 0;
std::atomic<long> held = 0, in_flight = 0;

// -- MTLCommandQueue --

Object* command_buffer(CommandQueue* self, Selector) {
  return autorelease(new CommandBuffer(self));
}

// -- MTLCommandBuffer --

Object* compute_encoder(CommandBuffer* self, Selector) {
  if (self->status != CommandBuffer::NotEnqueued) refuse("computeCommandEncoder: the command buffer is committed");
  if (self->encoding) refuse("computeCommandEncoder: the last encoder has not ended");
  self->encoding = true;
  return autorelease(new Encoder(self));
}

void commit(CommandBuffer* self, Selector) {
  if (self->encoding) refuse("commit: an encoder has not ended");
  {
    const std::lock_guard lock(self->mutex);
    if (self->status != CommandBuffer::NotEnqueued) refuse("commit: the command buffer is committed");
    self->status = CommandBuffer::Committed;
  }
  ++in_flight;
  self->queue->add(self);
}

void wait(CommandBuffer* self, Selector) {
  self->wait();
}

unsigned long status(CommandBuffer* self, Selector) {
  const std::lock_guard lock(self->mutex);
  return self->status;
}

Object* error(CommandBuffer* self, Selector) {
  const std::lock_guard lock(self->mutex);
  return self->error ? autorelease(retain(self->error)) : nullptr;
}

const Method kQueue[] = {{"commandBuffer", "@@:", code(command_buffer)}};
const Method kCommandBuffer[] = {
    {"computeCommandEncoder", "@@:", code(compute_encoder)},
    {"commit", "v@:", code(commit)},
    {"waitUntilCompleted", "v@:", code(wait)},
    {"status", "Q@:", code(status)},
    {"error", "@@:", code(error)},
};
auto& queue_class = *new Class("MTLCommandQueue", kQueue, {});
auto& command_buffer_class = *new Class("MTLCommandBuffer", kCommandBuffer, {});

/// Every argument that the function has, at the address that the GPU has for it.
doubles::MslProgram::Launch launch_of(Dispatch& dispatch) {
  doubles::MslProgram::Launch launch;
  launch.function = dispatch.pipeline->function->index;
  const auto dimensions = [](const Size& size) {
    return Dim3{static_cast<uint32_t>(size.width), static_cast<uint32_t>(size.height),
                static_cast<uint32_t>(size.depth)};
  };
  launch.grid = dimensions(dispatch.grid);
  launch.block = dimensions(dispatch.block);
  for (Dispatch::Argument& argument : dispatch.arguments) {
    std::byte* const in_place = argument.bytes.empty() ? nullptr : argument.bytes.front().bytes;
    launch.buffers.push_back(argument.buffer ? argument.buffer->gpu + argument.offset : in_place);
  }
  for (const auto& bytes : dispatch.threadgroup_bytes) launch.threadgroup_bytes.push_back(bytes.value_or(0));
  return launch;
}

Result<> run(Dispatch& dispatch) {
  const auto each_buffer = [&](auto visit) {
    for (const Kept<Buffer>& buffer : dispatch.used) visit(*buffer.get());
    for (const Dispatch::Argument& argument : dispatch.arguments)
      if (argument.buffer) visit(*argument.buffer.get());
  };
  each_buffer([](Buffer& buffer) { buffer.make_resident(); });
  Library& library = *dispatch.pipeline->function->library.get();
  const Result<> done = [&] {
    const std::lock_guard lock(library.runs);
    return library.program->run(launch_of(dispatch));
  }();
  each_buffer([](Buffer& buffer) { buffer.end_residency(); });
  return done;
}

long number_of(ErrorCode code) {
  return code == ErrorCode::IllegalAddress ? kPageFault : code == ErrorCode::LaunchTimeout ? kTimeout : kInternal;
}

}  // namespace

Object* new_queue(Object*, Selector) {
  return new CommandQueue;
}

const Class& CommandQueue::isa() const {
  return queue_class;
}
const Class& CommandBuffer::isa() const {
  return command_buffer_class;
}

void CommandQueue::add(CommandBuffer* committed) {
  const std::lock_guard lock(mutex_);
  waiting_.emplace_back(committed);
  if (!thread_.joinable()) thread_ = std::thread([this] { run(); });
  changed_.notify_one();
}

void CommandQueue::run() {
  for (;;) {
    Kept<CommandBuffer> next;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [&] { return ending_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
    }
    next->execute();
  }
}

/// Its command buffers keep it, so that none is left; the last of them may go on its own thread.
void CommandQueue::dispose() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    changed_.notify_one();
  }
  if (thread_.get_id() == std::this_thread::get_id())
    thread_.detach();
  else
    thread_.join();
}

void CommandBuffer::dispose() {
  dispatches.clear();
  if (error) release(error);
  queue = Kept<CommandQueue>();
}

void CommandBuffer::execute() {
  held.wait(1);
  Result<> done;
  const long wanted = next_error.exchange(0);
  if (wanted != 0) done = fail(ErrorCode::LaunchFailed, "software Metal: a test asked for error {}", wanted);
  for (Dispatch& dispatch : dispatches)
    if (done) done = run(dispatch);
  --in_flight;
  const std::lock_guard lock(mutex);
  status = done ? Completed : Failed;
  if (!done)
    error = new ErrorObject(kCommandErrors, wanted ? wanted : number_of(done.error().code), done.error().message);
  changed.notify_all();
}

void CommandBuffer::wait() {
  std::unique_lock lock(mutex);
  if (status == NotEnqueued) refuse("waitUntilCompleted: the command buffer was not committed");
  changed.wait(lock, [&] { return status == Completed || status == Failed; });
}

}  // namespace cupola::software_metal

/// For tests: the next command buffer does nothing and ends with this MTLCommandBufferError.
extern "C" __attribute__((visibility("default"))) void software_metal_fail_next(long code) {
  cupola::software_metal::next_error = code;
}

/// For tests: no command buffer begins while it is held.
extern "C" __attribute__((visibility("default"))) void software_metal_hold(long on) {
  cupola::software_metal::held = on;
  cupola::software_metal::held.notify_all();
}
/// How many command buffers are committed and not done.
extern "C" __attribute__((visibility("default"))) long software_metal_in_flight() {
  return cupola::software_metal::in_flight;
}
