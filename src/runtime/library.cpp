#include "runtime/library.h"

#include "runtime/runtime.h"

namespace cupola::runtime {

Result<std::shared_ptr<Function>> Kernel::function(Context& context) const {
  TRY(std::shared_ptr<Library> library, Runtime::get().library(library_));
  TRY(std::shared_ptr<Module> module, library->module(context));
  return module->function(name_);
}

Result<std::shared_ptr<Module>> Library::module(Context& context) {
  Lock lock(mutex_);
  std::shared_ptr<Module>& module = modules_[&context];
  if (!module) {
    TRY(module, load_module(context, code_));
  }
  return module;
}

Result<std::shared_ptr<Kernel>> Library::kernel(Context& context, const std::string& name) {
  TRY(std::shared_ptr<Module> loaded, module(context));
  TRY(loaded->function(name));
  Lock lock(mutex_);
  std::shared_ptr<Kernel>& kernel = kernels_[name];
  if (!kernel) {
    kernel = std::make_shared<Kernel>(*this, name);
    Runtime::get().kernels.add(kernel);
  }
  return kernel;
}

void Library::forget(Context& context) {
  std::shared_ptr<Module> module;  // ends outside the lock
  Lock lock(mutex_);
  const auto found = modules_.find(&context);
  if (found == modules_.end()) return;
  module = std::move(found->second);
  modules_.erase(found);
}

Result<> unload_library(const void* handle) {
  Runtime& runtime = Runtime::get();
  const auto library = runtime.libraries.remove(handle);
  if (!library) return fail(ErrorCode::InvalidHandle, "{} is not a live library", handle);
  runtime.kernels.remove_if([&](const Kernel& kernel) { return kernel.library() == library.get(); });
  Lock lock(library->mutex_);
  for (const auto& [context, module] : library->modules_) std::ignore = unload_module(module.get());
  return {};
}

}  // namespace cupola::runtime
