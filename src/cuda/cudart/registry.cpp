#include "cuda/cudart/registry.h"

namespace cupola::cudart {

Registry& Registry::get() {
  static auto* const instance = new Registry;  // leaked: unregistering comes after static destructors
  return *instance;
}

Fatbin* Registry::add_fatbin(const FatbinWrapper& wrapper) {
  auto* fatbin = new Fatbin(wrapper);  // leaked: compiled code holds the address
  Lock lock(mutex_);
  fatbins_.push_back(fatbin);
  return fatbin;
}

void Registry::remove_fatbin(Fatbin* fatbin) {
  Lock lock(mutex_);
  std::erase(fatbins_, fatbin);
  std::erase_if(functions_, [fatbin](const auto& entry) { return entry.second.fatbin == fatbin; });
  std::erase_if(variables_, [fatbin](const auto& entry) { return entry.second.fatbin == fatbin; });
}

void Registry::add_function(Fatbin* fatbin, const void* host, const char* name) {
  Lock lock(mutex_);
  functions_.insert_or_assign(host, Function{fatbin, name, {}});
}

void Registry::add_variable(Fatbin* fatbin, const void* host, const char* name) {
  Lock lock(mutex_);
  variables_.insert_or_assign(host, Variable{fatbin, name, nullptr, {}});
}

void Registry::add_managed_variable(Fatbin* fatbin, void** host, const char* name) {
  Lock lock(mutex_);
  variables_.insert_or_assign(host, Variable{fatbin, name, host, {}});
}

Result<CUmodule> Registry::module(const Driver& cu, CUcontext context, Fatbin* fatbin) {
  Lock lock(fatbin->mutex);
  if (const CUmodule* known = fatbin->modules.find(context)) return *known;
  const FatbinWrapper& wrapper = fatbin->wrapper;
  if (wrapper.magic != FatbinWrapper::kMagic) {
    return fail(ErrorCode::InvalidImage, "the registered fat binary starts with {:#x}, not {:#x}", wrapper.magic,
                FatbinWrapper::kMagic);
  }
  CUmodule module = nullptr;
  TRY(check(cu.cuModuleLoadData(&module, &wrapper)));  // the driver follows its pointers: one fat binary, or one a unit
  fatbin->modules.set(context, module);
  return module;
}

bool Registry::has_function(const void* host) {
  Lock lock(mutex_);
  return functions_.contains(host);
}

Result<CUfunction> Registry::function(const Driver& cu, CUcontext context, const void* host) {
  Fatbin* fatbin = nullptr;
  std::string name;
  {
    Lock lock(mutex_);
    auto found = functions_.find(host);
    if (found == functions_.end()) {
      if (handles_.contains(host)) return reinterpret_cast<CUfunction>(const_cast<void*>(host));
      return fail(host ? ErrorCode::InvalidHandle : ErrorCode::InvalidDeviceFunction,
                  "{} is not a kernel of this program: pass a __global__ function", host);
    }
    if (const CUfunction* known = found->second.handles.find(context)) return *known;
    fatbin = found->second.fatbin;
    name = found->second.name;
  }
  TRY(CUmodule loaded, module(cu, context, fatbin));
  CUfunction handle = nullptr;
  if (auto status = check(cu.cuModuleGetFunction(&handle, loaded, name.c_str())); !status) {
    if (status.error().code != ErrorCode::NotFound) return fail(status.error());
    return fail(ErrorCode::InvalidDeviceFunction, "the program's fat binary has no kernel {}", name);
  }
  Lock lock(mutex_);
  handles_.emplace(handle, nullptr);
  if (auto found = functions_.find(host); found != functions_.end() && !found->second.handles.find(context)) {
    found->second.handles.set(context, handle);
  }
  return handle;
}

const void* Registry::host_of(CUfunction handle) {
  Lock lock(mutex_);
  for (const auto& [host, entry] : functions_) {
    if (entry.handles.holds(handle)) return host;
  }
  return handle;
}

Result<DeviceVariable> Registry::variable(const Driver& cu, CUcontext context, const void* host) {
  Fatbin* fatbin = nullptr;
  std::string name;
  {
    Lock lock(mutex_);
    auto found = variables_.find(host);
    if (found == variables_.end()) {
      return fail(ErrorCode::InvalidSymbol, "{} is not a __device__ or __constant__ variable of this program", host);
    }
    if (const DeviceVariable* known = found->second.found.find(context)) return *known;
    fatbin = found->second.fatbin;
    name = found->second.name;
  }
  TRY(CUmodule loaded, module(cu, context, fatbin));
  DeviceVariable variable{};
  if (auto status = check(cu.cuModuleGetGlobal(&variable.address, &variable.bytes, loaded, name.c_str())); !status) {
    if (status.error().code != ErrorCode::NotFound) return fail(status.error());
    return fail(ErrorCode::InvalidSymbol, "the program's fat binary has no variable {}", name);
  }
  Lock lock(mutex_);
  if (auto found = variables_.find(host); found != variables_.end() && !found->second.found.find(context)) {
    found->second.found.set(context, variable);
  }
  return variable;
}

Result<> Registry::load(const Driver& cu, CUcontext context, Fatbin* fatbin) {
  TRY(module(cu, context, fatbin));
  std::vector<void**> managed;
  {
    Lock lock(mutex_);
    for (const auto& [host, entry] : variables_) {
      if (entry.fatbin == fatbin && entry.managed) managed.push_back(entry.managed);
    }
  }
  for (void** host : managed) {
    TRY(DeviceVariable found, variable(cu, context, host));
    *host = reinterpret_cast<void*>(found.address);
  }
  return {};
}

void Registry::forget(CUcontext context) {
  Lock lock(mutex_);
  const std::vector<Fatbin*> fatbins = fatbins_;  // live for ever
  lock.unlock();
  for (Fatbin* fatbin : fatbins) {
    Lock loading(fatbin->mutex);  // may last as long as a compilation: launches do not wait for it
    fatbin->modules.forget(context);
  }
  lock.lock();
  for (auto& [host, entry] : functions_) {
    if (const CUfunction* known = entry.handles.find(context)) handles_.erase(*known);
    entry.handles.forget(context);
  }
  for (auto& [host, entry] : variables_) entry.found.forget(context);
}

}  // namespace cupola::cudart
