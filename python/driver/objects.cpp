#include "objects.h"

namespace cupola::python {
namespace {

CUstream stream_of(uint64_t handle) {
  return reinterpret_cast<CUstream>(handle);
}

CUresult free_host(CUdeviceptr address) {
  return calls().cuMemFreeHost(reinterpret_cast<void*>(address));
}

CUresult free_device(CUdeviceptr address) {
  return calls().cuMemFree(address);
}

CUevent make_event(bool timing) {
  use_context();
  CUevent event = nullptr;
  CU(cuEventCreate(&event, timing ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING));
  return event;
}

CUstream make_stream(bool blocking, int priority) {
  use_context();
  CUstream stream = nullptr;
  CU(cuStreamCreateWithPriority(&stream, blocking ? CU_STREAM_DEFAULT : CU_STREAM_NON_BLOCKING, priority));
  return stream;
}

CUmodule load(const std::string& image) {
  use_context();
  CUmodule module = nullptr;
  CU(cuModuleLoadData(&module, image.c_str()));
  return module;
}

bool is_over(CUresult status, const char* call) {
  if (status == CUDA_ERROR_NOT_READY) return false;
  check(status, call);
  return true;
}

}  // namespace

Memory* Memory::on_device(size_t bytes) {
  use_context();
  CUdeviceptr address = 0;
  if (bytes > 0) CU(cuMemAlloc(&address, bytes));
  return new Memory(address, bytes, bytes > 0 ? free_device : nullptr);
}

Memory* Memory::on_host(size_t bytes) {
  use_context();
  void* address = nullptr;
  if (bytes > 0) CU(cuMemHostAlloc(&address, bytes, CU_MEMHOSTALLOC_PORTABLE));
  return new Memory(reinterpret_cast<CUdeviceptr>(address), bytes, bytes > 0 ? free_host : nullptr);
}

Event::Event(bool timing) : event_(make_event(timing), [](CUevent event) { return calls().cuEventDestroy(event); }) {}

void Event::record(uint64_t stream) {
  use_context();
  CU(cuEventRecord(event_.get(), stream_of(stream)));
}

void Event::synchronize() {
  CU(cuEventSynchronize(event_.get()));
}

bool Event::done() {
  return is_over(begin_call().cuEventQuery(event_.get()), "cuEventQuery");
}

double Event::since(const Event& begin) {
  float milliseconds = 0;
  CU(cuEventElapsedTime(&milliseconds, begin.get(), event_.get()));
  return milliseconds;
}

Stream::Stream(bool blocking, int priority)
    : stream_(make_stream(blocking, priority), [](CUstream stream) { return calls().cuStreamDestroy(stream); }) {}

Stream::Stream(uint64_t handle) : stream_(stream_of(handle), nullptr) {}

void Stream::synchronize() {
  use_context();
  CU(cuStreamSynchronize(stream_.get()));
}

bool Stream::done() {
  use_context();
  return is_over(begin_call().cuStreamQuery(stream_.get()), "cuStreamQuery");
}

void Stream::wait(const Event& event) {
  use_context();
  CU(cuStreamWaitEvent(stream_.get(), event.get(), 0));
}

Module::Module(const std::string& image)
    : module_(load(image), [](CUmodule module) { return calls().cuModuleUnload(module); }) {}

CUfunction Module::function(const std::string& name) const {
  CUfunction function = nullptr;
  CU(cuModuleGetFunction(&function, module_.get(), name.c_str()));
  return function;
}

std::tuple<uint64_t, size_t> Module::variable(const std::string& name) const {
  CUdeviceptr address = 0;
  size_t bytes = 0;
  CU(cuModuleGetGlobal(&address, &bytes, module_.get(), name.c_str()));
  return {address, bytes};
}

void copy(uint64_t to, uint64_t from, size_t bytes, std::optional<uint64_t> stream) {
  use_context();
  if (bytes == 0) return;
  if (stream) CU(cuMemcpyAsync(to, from, bytes, stream_of(*stream)));
  if (!stream) CU(cuMemcpy(to, from, bytes));
}

void fill(uint64_t to, uint8_t value, size_t bytes, uint64_t stream) {
  use_context();
  if (bytes > 0) CU(cuMemsetD8Async(to, value, bytes, stream_of(stream)));
}

}  // namespace cupola::python
