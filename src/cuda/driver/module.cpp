// Modules. "CUDA Driver API, Module Management".

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "cuda/driver/api.h"
#include "cuda/driver/jit_options.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

Result<> load(CUmodule* module, Result<image::Code> code) {
  TRY(image::Code ready, std::move(code));
  TRY(std::shared_ptr<Context> context, current_context());
  TRY(std::shared_ptr<Module> loaded, load_module(*context, std::make_shared<const image::Code>(std::move(ready))));
  *module = handle_of<CUmodule>(loaded.get());
  return {};
}

}  // namespace

CUresult cuModuleLoad(CUmodule* module, const char* fname) {
  return api_call([&]() -> Result<> {
    TRY(given(module, "module"));
    TRY(given(fname, "fname"));
    TRY(current_context());
    TRY(const std::string bytes, read_file(fname));
    return load(module, image::read_code(bytes.data(), bytes.size()));
  });
}

CUresult cuModuleLoadData(CUmodule* module, const void* image) {
  return api_call([&]() -> Result<> {
    TRY(given(module, "module"));
    TRY(given(image, "image"));
    TRY(current_context());
    return load(module, image::read_code(image, SIZE_MAX));
  });
}

CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned int numOptions, CUjit_option* options,
                            void** optionValues) {
  return api_call([&]() -> Result<> {
    TRY(given(module, "module"));
    TRY(given(image, "image"));
    TRY(current_context());
    TRY(const JitOptions jit, JitOptions::read(numOptions, options, optionValues));
    return jit.answer(load(module, image::read_code(image, SIZE_MAX)));
  });
}

CUresult cuModuleLoadFatBinary(CUmodule* module, const void* fatCubin) {
  return forwarded([&] { return cuModuleLoadData(module, fatCubin); });
}

CUresult cuModuleUnload(CUmodule hmod) {
  return api_call([&]() -> Result<> { return unload_module(hmod); });
}

// Code is compiled at the first use of a module.
CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode* mode) {
  return api_call([&]() -> Result<> {
    TRY(given(mode, "mode"));
    *mode = CU_MODULE_LAZY_LOADING;
    return {};
  });
}

CUresult cuModuleGetFunction(CUfunction* hfunc, CUmodule hmod, const char* name) {
  return api_call([&]() -> Result<> {
    TRY(given(hfunc, "hfunc"));
    TRY(given(name, "name"));
    TRY(std::shared_ptr<Module> module, Runtime::get().module(hmod));
    TRY(std::shared_ptr<Function> function, module->function(name));
    *hfunc = handle_of<CUfunction>(function.get());
    return {};
  });
}

CUresult cuModuleGetFunctionCount(unsigned int* count, CUmodule mod) {
  return api_call([&]() -> Result<> {
    TRY(given(count, "count"));
    TRY(given(mod, "mod"));
    TRY(std::shared_ptr<Module> module, Runtime::get().module(mod));
    TRY(*count, module->function_count());
    return {};
  });
}

CUresult cuModuleEnumerateFunctions(CUfunction* functions, unsigned int numFunctions, CUmodule mod) {
  return api_call([&]() -> Result<> {
    TRY(given(functions, "functions"));
    TRY(given(mod, "mod"));
    TRY(std::shared_ptr<Module> module, Runtime::get().module(mod));
    TRY(auto all, module->functions());
    for (size_t i = 0; i < std::min<size_t>(numFunctions, all.size()); ++i)
      functions[i] = handle_of<CUfunction>(all[i].get());
    return {};
  });
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr* dptr, size_t* bytes, CUmodule hmod, const char* name) {
  return api_call([&]() -> Result<> {
    TRY(given(name, "name"));
    if (!dptr && !bytes) return fail(ErrorCode::InvalidValue, "dptr and bytes are both null");
    TRY(std::shared_ptr<Module> module, Runtime::get().module(hmod));
    TRY(hal::SymbolInfo symbol, module->symbol(name));
    if (dptr) *dptr = symbol.address;
    if (bytes) *bytes = symbol.size;
    return {};
  });
}

// ---- libraries: "CUDA Driver API, Library Management" ----

namespace {

Result<> load_library(CUlibrary* library, Result<image::Code> code) {
  TRY(image::Code ready, std::move(code));
  if (ready.compile_at_load) {  // for the first device; the module of a context finds the image in memory
    TRY(Device * device, Runtime::get().device(0));
    TRY(Runtime::get().programs.image(ready, device->hal().properties().image_target));
  }
  auto made = std::make_shared<Library>(std::make_shared<const image::Code>(std::move(ready)));
  *library = handle_of<CUlibrary>(Runtime::get().libraries.add(std::move(made)));
  return {};
}

}  // namespace

CUresult cuLibraryLoadData(CUlibrary* library, const void* code, CUjit_option* jitOptions, void** jitOptionsValues,
                           unsigned int numJitOptions, CUlibraryOption* libraryOptions, void**,
                           unsigned int numLibraryOptions) {
  return api_call([&]() -> Result<> {
    TRY(given(library, "library"));
    TRY(given(code, "code"));
    TRY(check_library_options(numLibraryOptions, libraryOptions, true));
    TRY(const JitOptions jit, JitOptions::read(numJitOptions, jitOptions, jitOptionsValues));
    return jit.answer(load_library(library, image::read_code(code, SIZE_MAX)));
  });
}

CUresult cuLibraryLoadFromFile(CUlibrary* library, const char* fileName, CUjit_option* jitOptions,
                               void** jitOptionsValues, unsigned int numJitOptions, CUlibraryOption* libraryOptions,
                               void**, unsigned int numLibraryOptions) {
  return api_call([&]() -> Result<> {
    TRY(given(library, "library"));
    TRY(given(fileName, "fileName"));
    TRY(check_library_options(numLibraryOptions, libraryOptions, false));
    TRY(const JitOptions jit, JitOptions::read(numJitOptions, jitOptions, jitOptionsValues));
    return jit.answer([&]() -> Result<> {
      TRY(const std::string bytes, read_file(fileName));
      return load_library(library, image::read_code(bytes.data(), bytes.size()));
    }());
  });
}

CUresult cuLibraryUnload(CUlibrary library) {
  return api_call([&]() -> Result<> { return unload_library(library); });
}

CUresult cuLibraryGetKernel(CUkernel* pKernel, CUlibrary library, const char* name) {
  return api_call([&]() -> Result<> {
    TRY(given(pKernel, "pKernel"));
    TRY(given(name, "name"));
    TRY(std::shared_ptr<Library> found, Runtime::get().library(library));
    TRY(std::shared_ptr<Context> context, current_context());
    TRY(std::shared_ptr<Kernel> kernel, found->kernel(*context, name));
    *pKernel = handle_of<CUkernel>(kernel.get());
    return {};
  });
}

namespace {

Result<std::shared_ptr<Module>> module_of(CUlibrary library) {
  TRY(std::shared_ptr<Library> found, Runtime::get().library(library));
  TRY(std::shared_ptr<Context> context, current_context());
  return found->module(*context);
}

}  // namespace

CUresult cuLibraryGetKernelCount(unsigned int* count, CUlibrary lib) {
  return api_call([&]() -> Result<> {
    TRY(given(count, "count"));
    TRY(given(lib, "lib"));
    TRY(std::shared_ptr<Module> module, module_of(lib));
    TRY(*count, module->function_count());
    return {};
  });
}

CUresult cuLibraryEnumerateKernels(CUkernel* kernels, unsigned int numKernels, CUlibrary lib) {
  return api_call([&]() -> Result<> {
    TRY(given(kernels, "kernels"));
    TRY(given(lib, "lib"));
    TRY(std::shared_ptr<Module> module, module_of(lib));
    TRY(std::shared_ptr<Library> library, Runtime::get().library(lib));
    TRY(auto all, module->functions());
    for (size_t i = 0; i < std::min<size_t>(numKernels, all.size()); ++i) {
      TRY(std::shared_ptr<Kernel> kernel, library->kernel(module->context(), all[i]->info().name));
      kernels[i] = handle_of<CUkernel>(kernel.get());
    }
    return {};
  });
}

CUresult cuLibraryGetModule(CUmodule* pMod, CUlibrary library) {
  return api_call([&]() -> Result<> {
    TRY(given(pMod, "pMod"));
    TRY(std::shared_ptr<Module> module, module_of(library));
    *pMod = handle_of<CUmodule>(module.get());
    return {};
  });
}

CUresult cuLibraryGetGlobal(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name) {
  return api_call([&]() -> Result<> {
    TRY(given(name, "name"));
    if (!dptr && !bytes) return fail(ErrorCode::InvalidValue, "dptr and bytes are both null");
    TRY(std::shared_ptr<Module> module, module_of(library));
    TRY(hal::SymbolInfo symbol, module->symbol(name));
    if (dptr) *dptr = symbol.address;
    if (bytes) *bytes = symbol.size;
    return {};
  });
}

CUresult cuKernelGetFunction(CUfunction* pFunc, CUkernel kernel) {
  return api_call([&]() -> Result<> {
    TRY(given(pFunc, "pFunc"));
    TRY(std::shared_ptr<Kernel> found, Runtime::get().kernel(kernel));
    TRY(std::shared_ptr<Context> context, current_context());
    TRY(std::shared_ptr<Function> function, found->function(*context));
    *pFunc = handle_of<CUfunction>(function.get());
    return {};
  });
}

CUresult cuKernelGetLibrary(CUlibrary* pLib, CUkernel kernel) {
  return api_call([&]() -> Result<> {
    TRY(given(pLib, "pLib"));
    TRY(std::shared_ptr<Kernel> found, Runtime::get().kernel(kernel));
    *pLib = handle_of<CUlibrary>(found->library());
    return {};
  });
}

CUresult cuKernelGetName(const char** name, CUkernel hfunc) {
  return api_call([&]() -> Result<> {
    TRY(given(name, "name"));
    TRY(given(hfunc, "hfunc"));
    TRY(std::shared_ptr<Kernel> found, Runtime::get().kernel(hfunc));
    *name = found->name().c_str();
    return {};
  });
}
