#include "cupola/selftest/session.h"

namespace cupola::tool::selftest {

Memory::~Memory() {
  if (address_) (void)session_->call("cuMemFree_v2", address_);
}

Result<> Memory::write(const void* from, size_t bytes, size_t offset) const {
  return session_->call("cuMemcpyHtoD_v2", address_ + offset, from, bytes);
}

Result<> Memory::read(void* to, size_t bytes, size_t offset) const {
  return session_->call("cuMemcpyDtoH_v2", to, address_ + offset, bytes);
}

Result<Session> Session::open(const std::filesystem::path& libraries, std::span<const std::byte> image) {
  TRY(const DynLib driver, open_driver(libraries));
  int device = 0;
  void* context = nullptr;
  TRY(driver_call(driver, "cuInit", 0u));
  TRY(driver_call(driver, "cuDeviceGet", &device, 0));
  TRY(driver_call(driver, "cuDevicePrimaryCtxRetain", &context, device));
  TRY(driver_call(driver, "cuCtxSetCurrent", context));
  TRY(void* module, load_module(driver, image));
  return Session(driver, device, context, nullptr, image, module);
}

Result<Session> Session::apart() const {
  void* context = nullptr;
  TRY(call("cuCtxCreate_v2", &context, 0u, device_));
  Result<void*> module = load_module(library_, image_);
  if (!module) {
    (void)call("cuCtxDestroy_v2", context);
    (void)call("cuCtxSetCurrent", context_);
    return fail(module.error());
  }
  return Session(library_, device_, context, context_, image_, *module);
}

Session::Session(Session&& other) noexcept
    : library_(other.library_),
      device_(other.device_),
      context_(other.context_),
      other_(other.other_),
      image_(other.image_),
      module_(std::exchange(other.module_, nullptr)) {}

Session::~Session() {
  if (!module_) return;
  if (!other_) {
    (void)call("cuModuleUnload", module_);
    return;
  }
  (void)call("cuCtxDestroy_v2", context_);
  (void)call("cuCtxSetCurrent", other_);
}

Result<std::string> Session::device_name() const {
  char name[256] = "";
  TRY(call("cuDeviceGetName", &name[0], static_cast<int>(sizeof name), device_));
  return std::string(name);
}

Result<int> Session::attribute(int number) const {
  int value = 0;
  TRY(call("cuDeviceGetAttribute", &value, number, device_));
  return value;
}

Result<Memory> Session::allocate(size_t bytes) const {
  DevicePointer address = 0;
  TRY(call("cuMemAlloc_v2", &address, bytes));
  return Memory(*this, address, bytes);
}

DevicePointer Session::symbol(const char* name, size_t& bytes) const {
  DevicePointer address = 0;
  return call("cuModuleGetGlobal_v2", &address, &bytes, module_, name) ? address : 0;
}

Result<> Session::start_with(const char* kernel, const Shape& shape, void** parameters) const {
  void* function = nullptr;
  TRY(call("cuModuleGetFunction", &function, module_, kernel));
  return call("cuLaunchKernel", function, shape.grid.x, shape.grid.y, shape.grid.z, shape.block.x, shape.block.y,
              shape.block.z, shape.shared_bytes, shape.stream, parameters, static_cast<void**>(nullptr));
}

}  // namespace cupola::tool::selftest
