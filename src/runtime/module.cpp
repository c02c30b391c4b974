#include "runtime/module.h"

#include "runtime/runtime.h"

namespace cupola::runtime {

Module::~Module() {
  Lock lock(mutex_);
  if (executable_) withdraw(*executable_);
}

/// Makes the variables known to the API. A command that touches one keeps the executable, even if the module is
/// unloaded while the command waits in a stream of another context.
Result<> Module::announce(const std::shared_ptr<hal::Executable>& loaded) {
  for (const hal::SymbolInfo& symbol : loaded->symbols()) {
    if (symbol.size == 0) continue;
    MemoryRange range{symbol.address, symbol.size, MemoryKind::ModuleData, &context_};
    range.owner = loaded;
    if (auto added = Runtime::get().addresses.add(std::move(range)); !added) {
      withdraw(*loaded);
      return added;
    }
  }
  return {};
}

void Module::withdraw(const hal::Executable& loaded) {
  const auto ours = [&](const MemoryRange& range) { return range.owner.get() == &loaded; };
  for (const hal::SymbolInfo& symbol : loaded.symbols()) Runtime::get().addresses.take(symbol.address, ours);
}

Result<std::shared_ptr<hal::Executable>> Module::executable() {
  Lock lock(mutex_);
  if (executable_) return executable_;
  Runtime& runtime = Runtime::get();
  hal::Device& device = context_.device().hal();
  const std::string target = device.properties().image_target;
  TRY(ProgramCache::Image image, runtime.programs.image(*code_, target));
  TRY(std::shared_ptr<hal::Executable> loaded,
      device.load(*image, [&runtime, target](std::span<const std::byte> unit, std::string_view code, hal::Ask ask) {
        return runtime.programs.later(unit, code, target, ask);
      }));
  TRY(announce(loaded));
  executable_ = std::move(loaded);
  return executable_;
}

std::shared_ptr<Function> Module::function_at(std::shared_ptr<hal::Executable> executable, uint32_t index) {
  Lock lock(mutex_);
  std::shared_ptr<Function>& function = functions_[index];
  if (!function) {
    function = std::make_shared<Function>(context_, *this, std::move(executable), index);
    Runtime::get().functions.add(function);
  }
  return function;
}

Result<std::shared_ptr<Function>> Module::function(std::string_view name) {
  TRY(std::shared_ptr<hal::Executable> loaded, executable());
  const auto index = loaded->find_kernel(name);
  if (!index) return fail(ErrorCode::NotFound, "the module has no kernel '{}'", name);
  return function_at(std::move(loaded), *index);
}

Result<hal::SymbolInfo> Module::symbol(std::string_view name) {
  TRY(std::shared_ptr<hal::Executable> loaded, executable());
  const hal::SymbolInfo* symbol = loaded->find_symbol(name);
  if (!symbol) return fail(ErrorCode::NotFound, "the module has no variable '{}'", name);
  return *symbol;
}

Result<std::vector<std::shared_ptr<Function>>> Module::functions() {
  TRY(std::shared_ptr<hal::Executable> loaded, executable());
  std::vector<std::shared_ptr<Function>> all;
  for (uint32_t i = 0; i < loaded->kernels().size(); ++i) all.push_back(function_at(loaded, i));
  return all;
}

Result<uint32_t> Module::function_count() {
  TRY(std::shared_ptr<hal::Executable> loaded, executable());
  return static_cast<uint32_t>(loaded->kernels().size());
}

Result<std::shared_ptr<Module>> load_module(Context& context, std::shared_ptr<const image::Code> code) {
  const bool now = code->compile_at_load;
  auto module = std::make_shared<Module>(context, std::move(code));
  if (now) TRY(module->function_count());
  Runtime::get().modules.add(module);
  return module;
}

Result<> unload_module(const void* handle) {
  Runtime& runtime = Runtime::get();
  const auto module = runtime.modules.remove(handle);
  if (!module) return fail(ErrorCode::InvalidHandle, "{} is not a live module", handle);
  module->context().order()->drain();  // its code may be running, and copies may go to its data; after a fault too
  runtime.functions.remove_if([&](const Function& function) { return function.module() == module.get(); });
  return {};
}

}  // namespace cupola::runtime
