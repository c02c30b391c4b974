#pragma once

#include <string>

#include "base/result.h"

namespace cupola {

/// A shared library opened at run time. Never closed: what programs hold on to outlives main. Any thread.
class DynLib {
 public:
  /// Opens `path` with RTLD_NOW | RTLD_LOCAL. Error: SharedObjectInitFailed with the loader's own words.
  static Result<DynLib> open(const std::string& path);

  /// The symbol's address. Error: SharedObjectSymbolNotFound.
  Result<void*> symbol(const char* name) const;

 private:
  explicit DynLib(void* handle) : handle_(handle) {}
  void* handle_;
};

/// The folder, without a trailing slash, of the library or program that holds `address`; "." when unknown.
std::string folder_of_code(const void* address);

}  // namespace cupola
