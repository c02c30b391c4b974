#include "cuda/pipeline/pipeline.h"

#include <cstring>
#include <string>

#include "base/mutex.h"

using namespace cupola;
using pipeline::Driver;

namespace {

constexpr char kKernel[] = "cupola_expression";  // as src/compile/expression_kernel.h names it
constexpr size_t kBlock = 256, kMostBlocks = (size_t{1} << 31) - 1;

/// Makes a context current while it lives.
class Current {
 public:
  static Result<Current> make(const Driver& driver, CUcontext context) {
    CUcontext before = nullptr;
    TRY(CU(driver, cuCtxGetCurrent(&before)));
    if (before != context) TRY(CU(driver, cuCtxSetCurrent(context)));
    return Current(driver, before, before != context);
  }
  Current(Current&& other) noexcept
      : driver_(other.driver_), before_(other.before_), changed_(std::exchange(other.changed_, false)) {}
  Current& operator=(Current&&) = delete;
  ~Current() {
    if (changed_) driver_.cuCtxSetCurrent(before_);
  }

 private:
  Current(const Driver& driver, CUcontext before, bool changed) : driver_(driver), before_(before), changed_(changed) {}
  const Driver& driver_;
  CUcontext before_;
  bool changed_;
};

/// Device 0's primary context, active: the library retains it once, until the process ends, however many threads and
/// pipelines use it.
Result<CUcontext> first_context(const Driver& driver) {
  static auto* const mutex = new Mutex;  // leaked, as the context is
  static CUcontext retained = nullptr;
  const Lock lock(*mutex);
  CUdevice device = 0;
  TRY(CU(driver, cuDeviceGet(&device, 0)));
  unsigned flags = 0;
  int active = 0;
  TRY(CU(driver, cuDevicePrimaryCtxGetState(device, &flags, &active)));
  if (retained && active) return retained;
  // After a reset it is ours still, but only another retain makes it active.
  CUcontext context = nullptr;
  TRY(CU(driver, cuDevicePrimaryCtxRetain(&context, device)));
  if (retained) TRY(CU(driver, cuDevicePrimaryCtxRelease(device)));
  return retained = context;
}

Result<CUcontext> current_or_first(const Driver& driver) {
  CUcontext context = nullptr;
  TRY(CU(driver, cuCtxGetCurrent(&context)));
  if (context) return context;
  TRY(context, first_context(driver));
  TRY(CU(driver, cuCtxSetCurrent(context)));
  return context;
}

/// Memory of the device while it lives.
class DeviceMemory {
 public:
  static Result<DeviceMemory> make(const Driver& driver, size_t bytes) {
    CUdeviceptr address = 0;
    TRY(CU(driver, cuMemAlloc(&address, bytes)));
    return DeviceMemory(driver, address);
  }
  DeviceMemory(DeviceMemory&& other) noexcept : driver_(other.driver_), address_(std::exchange(other.address_, 0)) {}
  DeviceMemory& operator=(DeviceMemory&&) = delete;
  ~DeviceMemory() {
    if (address_) driver_.cuMemFree(address_);
  }
  CUdeviceptr address() const { return address_; }

 private:
  DeviceMemory(const Driver& driver, CUdeviceptr address) : driver_(driver), address_(address) {}
  const Driver& driver_;
  CUdeviceptr address_;
};

}  // namespace

Result<std::unique_ptr<cupola_pipeline>> cupola_pipeline::compile(const array::Expression& expression) {
  if (expression.outputs().empty())
    return fail(ErrorCode::InvalidValue, "the expression has no output: cupola_expression_output makes one");
  TRY(const Driver* const driver, pipeline::driver());
  std::unique_ptr<cupola_pipeline> made(new cupola_pipeline(expression, *driver));
  TRY(made->load(expression));
  return made;
}

Result<> cupola_pipeline::load(const array::Expression& expression) {
  TRY(context_, current_or_first(driver_));
  CUdevice device = 0;
  TRY(CU(driver_, cuCtxGetDevice(&device)));
  int reads = 0;
  TRY(CU(driver_, cuDeviceGetAttribute(&reads, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, device)));
  reads_host_memory_ = reads != 0;
  const std::vector<std::byte> code = array::serialize(expression);
  TRY(CU(driver_, cuModuleLoadData(&module_, code.data())));
  return CU(driver_, cuModuleGetFunction(&function_, module_, kKernel));
}

cupola_pipeline::~cupola_pipeline() {
  if (!module_) return;
  if (const auto current = Current::make(driver_, context_)) driver_.cuModuleUnload(module_);
}

Result<> cupola_pipeline::check_addresses(const uint64_t* addresses, size_t count, const char* what) const {
  if (count == 0) return {};
  if (!addresses) return fail(ErrorCode::InvalidValue, "the list of {}s is null; the expression has {}", what, count);
  for (size_t i = 0; i < count; ++i) {
    if (addresses[i] == 0) return fail(ErrorCode::InvalidValue, "{} {} is null", what, i);
    if (addresses[i] % element_bytes_ != 0)
      return fail(ErrorCode::InvalidValue, "{} {} is at {:#x}, which is no multiple of the element's {} bytes", what, i,
                  addresses[i], element_bytes_);
  }
  return {};
}

Result<> cupola_pipeline::check_arrays(const uint64_t* outputs, const uint64_t* inputs, size_t n) const {
  TRY(check_addresses(outputs, outputs_, "output"));
  TRY(check_addresses(inputs, inputs_, "input"));
  const auto overlap = [bytes = n * element_bytes_](uint64_t a, uint64_t b) { return (a > b ? a - b : b - a) < bytes; };
  for (size_t i = 0; i < outputs_; ++i) {
    for (size_t j = 0; j < i; ++j)
      if (overlap(outputs[i], outputs[j]))
        return fail(ErrorCode::InvalidValue, "outputs {} and {} overlap: give each an array of its own", j, i);
    for (size_t j = 0; j < inputs_; ++j)
      if (outputs[i] != inputs[j] && overlap(outputs[i], inputs[j]))
        return fail(ErrorCode::InvalidValue, "output {} overlaps a part of input {}: give it all of that, or none", i,
                    j);
  }
  return {};
}

Result<> cupola_pipeline::launch(std::vector<uint64_t> addresses, const void* scalars, size_t n,
                                 CUstream stream) const {
  // An element of 4 bytes is aligned to 4, so that the number of elements may lie behind a gap.
  std::vector<std::byte> values(scalars_ * element_bytes_);
  if (!values.empty()) std::memcpy(values.data(), scalars, values.size());
  uint64_t places = n;
  std::vector<void*> parameters;
  for (uint64_t& address : addresses) parameters.push_back(&address);
  for (size_t i = 0; i < scalars_; ++i) parameters.push_back(values.data() + i * element_bytes_);
  parameters.push_back(&places);
  const auto blocks = static_cast<unsigned>((n + kBlock - 1) / kBlock);
  return CU(driver_, cuLaunchKernel(function_, blocks, 1, 1, kBlock, 1, 1, 0, stream, parameters.data(), nullptr));
}

Result<> cupola_pipeline::run(const uint64_t* outputs, const uint64_t* inputs, const void* scalars, size_t n,
                              CUstream stream) const {
  if (n > kBlock * kMostBlocks)
    return fail(ErrorCode::InvalidValue, "n is {}; at most {} elements are computed in one run", n,
                kBlock * kMostBlocks);
  if (scalars_ != 0 && !scalars)
    return fail(ErrorCode::InvalidValue, "the list of scalars is null; the expression has {}", scalars_);
  if (n == 0) return {};
  TRY(check_arrays(outputs, inputs, n));
  TRY(const Current current, Current::make(driver_, context_));
  std::vector<uint64_t> addresses(outputs, outputs + outputs_);
  if (inputs_) addresses.insert(addresses.end(), inputs, inputs + inputs_);
  return launch(std::move(addresses), scalars, n, stream);
}

Result<> cupola_pipeline::run_host(void* const* outputs, const void* const* inputs, const void* scalars,
                                   size_t n) const {
  // Addresses of the host are numbers of 64 bits.
  const auto* const out = reinterpret_cast<const uint64_t*>(outputs);
  const auto* const in = reinterpret_cast<const uint64_t*>(inputs);
  static_assert(sizeof(void*) == sizeof(uint64_t));
  if (n == 0 || n > kBlock * kMostBlocks) return run(out, in, scalars, n, nullptr);
  TRY(check_arrays(out, in, n));
  TRY(const Current current, Current::make(driver_, context_));
  if (reads_host_memory_) {
    TRY(run(out, in, scalars, n, nullptr));
    return CU(driver_, cuStreamSynchronize(nullptr));
  }
  std::vector<DeviceMemory> copies;
  std::vector<uint64_t> addresses;
  for (size_t i = 0; i < outputs_ + inputs_; ++i) {
    TRY(DeviceMemory memory, DeviceMemory::make(driver_, n * element_bytes_));
    addresses.push_back(memory.address());
    copies.push_back(std::move(memory));
  }
  for (size_t i = 0; i < inputs_; ++i)
    TRY(CU(driver_, cuMemcpyHtoD(addresses[outputs_ + i], inputs[i], n * element_bytes_)));
  TRY(run(addresses.data(), addresses.data() + outputs_, scalars, n, nullptr));
  for (size_t i = 0; i < outputs_; ++i) TRY(CU(driver_, cuMemcpyDtoH(outputs[i], addresses[i], n * element_bytes_)));
  return {};
}
