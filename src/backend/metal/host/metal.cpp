#include "backend/metal/host/metal.h"

#include <cstdio>
#include <cstdlib>

#include "base/library_names.h"
#include "base/settings.h"

namespace cupola::metal {
namespace {

template <typename Function>
Result<> find(const DynLib& library, const char* name, Function*& place) {
  TRY(void* symbol, library.symbol(name));
  place = reinterpret_cast<Function*>(symbol);
  return {};
}

/// A type without what the runtime adds: sizes, and words such as const.
std::string plain(const char* encoding) {
  std::string text;
  for (const char* c = encoding; *c; ++c)
    if (!std::string_view("0123456789rnNoORV").contains(*c)) text += *c;
  return text;
}

}  // namespace

void ObjcRuntime::check(Id receiver, Selector sent, const char* name, const std::string& type) const {
  void* const method = method_of(class_of(receiver), sent);
  const std::string found = method ? plain(types_of(method)) : "no such method";
  if (found == type) return;
  std::fprintf(stderr, "cupola: message '%s' of type %s: the receiver's class says %s\n", name, type.c_str(),
               found.c_str());
  std::abort();
}

Result<const Metal*> Metal::open() {
  static const auto* const opened = new Result<std::unique_ptr<const Metal>>([] {
#if defined(__APPLE__)
    if (settings().metal_library.empty())
      return open({.metal = "/System/Library/Frameworks/Metal.framework/Metal",
                   .objc = "/usr/lib/libobjc.A.dylib",
                   .dispatch = "/usr/lib/libSystem.B.dylib"});
#endif
    const std::string ours = folder_of_code(reinterpret_cast<const void*>(&plain)) + "/cupola/" + kSoftwareMetalLibrary;
    const std::string& path = settings().metal_library.empty() ? ours : settings().metal_library;
    return open({path, path, path});
  }());
  if (!*opened) return fail(opened->error());
  return opened->value().get();
}

Result<std::unique_ptr<const Metal>> Metal::open(const Files& files) {
  const auto no_device = [](const Error& error) {
    return fail(ErrorCode::NoDevice,
                "the metal device needs Metal of a Mac, or the software Metal that Cupola's tests build "
                "(CUPOLA_METAL_LIBRARY): {}",
                error.message);
  };
  const Result<DynLib> framework = DynLib::open(files.metal), library = DynLib::open(files.objc),
                       dispatch = DynLib::open(files.dispatch);
  for (const Result<DynLib>* each : {&framework, &library, &dispatch})
    if (!*each) return no_device(each->error());
  ObjcRuntime runtime;
  CreateDevice* create = nullptr;
  CreateData* create_data = nullptr;
  const auto find_all = [&]() -> Result<> {
    TRY(find(*framework, "MTLCreateSystemDefaultDevice", create));
    TRY(find(*dispatch, "dispatch_data_create", create_data));
    TRY(find(*library, "objc_msgSend", runtime.send));
    TRY(find(*library, "sel_registerName", runtime.selector));
    TRY(find(*library, "objc_getClass", runtime.class_named));
    TRY(find(*library, "objc_autoreleasePoolPush", runtime.push_pool));
    TRY(find(*library, "objc_autoreleasePoolPop", runtime.pop_pool));
    TRY(find(*library, "object_getClass", runtime.class_of));
    TRY(find(*library, "class_getInstanceMethod", runtime.method_of));
    return find(*library, "method_getTypeEncoding", runtime.types_of);
  };
  if (const Result<> found = find_all(); !found) return no_device(found.error());
  runtime.checks_types = files.metal == files.objc;  // the software Metal is there to find such mistakes
  return std::unique_ptr<const Metal>(new Metal(runtime, create, create_data));
}

std::string Metal::text(Id string) const {
  const char* const bytes = string ? utf8(string) : nullptr;
  return bytes ? bytes : "";
}

}  // namespace cupola::metal
