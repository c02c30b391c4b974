#include "base/dynlib.h"

#include <dlfcn.h>

namespace cupola {

Result<DynLib> DynLib::open(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) return fail(ErrorCode::SharedObjectInitFailed, "cannot open {}: {}", path, dlerror());
  return DynLib(handle);
}

Result<void*> DynLib::symbol(const char* name) const {
  void* address = dlsym(handle_, name);
  if (!address) return fail(ErrorCode::SharedObjectSymbolNotFound, "the library has no symbol {}", name);
  return address;
}

std::string folder_of_code(const void* address) {
  Dl_info info;
  if (!dladdr(address, &info) || !info.dli_fname) return ".";
  std::string path = info.dli_fname;
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash);
}

}  // namespace cupola
