// What `-z nodelete` is on Linux: a library that holds this file opens itself once more as it is loaded, and so that it
// stays.

#include <dlfcn.h>

namespace {

__attribute__((constructor)) void stay_loaded() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<const void*>(&stay_loaded), &self) == 0) return;
  dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
}

}  // namespace
