#pragma once

#include <map>
#include <memory>
#include <string>

#include "runtime/module.h"

namespace cupola::runtime {

class Library;

/// A kernel of a library: the same handle for all contexts.
class Kernel {
 public:
  Kernel(Library& library, std::string name) : library_(&library), name_(std::move(name)) {}

  const std::string& name() const { return name_; }
  const Library* library() const { return library_; }
  /// The kernel as loaded into `context`. Error: InvalidHandle when the library is gone.
  Result<std::shared_ptr<Function>> function(Context& context) const;

 private:
  const Library* const library_;  ///< may be gone; only its handle is used
  const std::string name_;
};

/// Code that is loaded into each context at its first use there. Any thread.
class Library {
 public:
  explicit Library(std::shared_ptr<const image::Code> code) : code_(std::move(code)) {}

  Result<std::shared_ptr<Module>> module(Context& context) EXCLUDES(mutex_);
  /// The same kernel for the same name. Errors: NotFound, or why the code cannot be compiled for `context`.
  Result<std::shared_ptr<Kernel>> kernel(Context& context, const std::string& name) EXCLUDES(mutex_);
  void forget(Context& context) EXCLUDES(mutex_);

 private:
  friend Result<> unload_library(const void* handle);

  const std::shared_ptr<const image::Code> code_;
  Mutex mutex_;
  std::map<Context*, std::shared_ptr<Module>> modules_ GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<Kernel>> kernels_ GUARDED_BY(mutex_);
};

/// Takes the handles of the library, its kernels and its modules away.
Result<> unload_library(const void* handle);

}  // namespace cupola::runtime
