#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "hal/executable.h"
#include "image/code.h"
#include "runtime/function.h"

namespace cupola::runtime {

/// Code loaded into a context, with one instance of its variables. Compiled when a kernel or variable is first asked
/// for. Any thread.
class Module {
 public:
  Module(Context& context, std::shared_ptr<const image::Code> code) : context_(context), code_(std::move(code)) {}
  ~Module();

  Context& context() const { return context_; }

  /// Errors: NotFound, or why the code cannot be compiled or loaded.
  Result<std::shared_ptr<Function>> function(std::string_view name);
  Result<hal::SymbolInfo> symbol(std::string_view name);
  /// All kernels, in the image's order.
  Result<std::vector<std::shared_ptr<Function>>> functions();
  Result<uint32_t> function_count();

 private:
  Result<std::shared_ptr<hal::Executable>> executable() EXCLUDES(mutex_);
  Result<> announce(const std::shared_ptr<hal::Executable>& loaded);
  void withdraw(const hal::Executable& loaded);
  std::shared_ptr<Function> function_at(std::shared_ptr<hal::Executable> executable, uint32_t index) EXCLUDES(mutex_);

  Context& context_;
  const std::shared_ptr<const image::Code> code_;
  Mutex mutex_;
  std::shared_ptr<hal::Executable> executable_ GUARDED_BY(mutex_);
  std::map<uint32_t, std::shared_ptr<Function>> functions_ GUARDED_BY(mutex_);
};

/// Makes a module of the code and gives it a handle. Errors: of compiling it, where the code says compile_at_load.
Result<std::shared_ptr<Module>> load_module(Context& context, std::shared_ptr<const image::Code> code);
/// Takes the module's and its functions' handles away. Commands that use it still run.
Result<> unload_module(const void* handle);

}  // namespace cupola::runtime
