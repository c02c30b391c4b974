// Linking device code at run time. "CUDA Driver API, Module Management": cuLinkCreate and relatives. What is added is
// compiled and linked by cuLinkComplete, and comes out as a fat binary that holds the kernel image.

#include <algorithm>
#include <cstring>

#include "base/file.h"
#include "cuda/driver/api.h"
#include "cuda/driver/jit_options.h"
#include "image/fatbin.h"

using namespace cupola;
using namespace cupola::driver;

namespace {

struct LinkState {
  explicit LinkState(JitOptions given_options) : options(std::move(given_options)) {}

  const JitOptions options;
  Mutex mutex;
  image::Code code GUARDED_BY(mutex);
  std::vector<std::byte> output GUARDED_BY(mutex);  ///< the program's until the state is destroyed
};

Handles<LinkState>& states() {
  static auto* const instance = new Handles<LinkState>;  // leaked: used after static destructors
  return *instance;
}

Result<std::shared_ptr<LinkState>> live_state(CUlinkState handle) {
  if (auto state = states().find(handle)) return state;
  return fail(ErrorCode::InvalidHandle, "that is no live state of cuLinkCreate");
}

Result<> check_type(CUjitInputType type, bool is_ptx) {
  switch (type) {
    case CU_JIT_INPUT_PTX:
      if (is_ptx) return {};
      return fail(ErrorCode::InvalidPtx, "the input is said to be PTX, and is not");
    case CU_JIT_INPUT_FATBINARY:
    case CU_JIT_INPUT_OBJECT:
    case CU_JIT_INPUT_LIBRARY:
    case CU_JIT_INPUT_CUBIN:
      return {};  // what it really is, is looked at
    case CU_JIT_INPUT_NVVM:
      return fail(ErrorCode::NotSupported, "link-time code of NVIDIA's compiler cannot be read: add PTX");
    case CU_JIT_NUM_INPUT_TYPES:
      break;
  }
  return fail(ErrorCode::InvalidValue, "type is {}, which is no CUjitInputType", static_cast<int>(type));
}

Result<> add(CUlinkState handle, CUjitInputType type, const void* data, size_t size) {
  TRY(std::shared_ptr<LinkState> state, live_state(handle));
  TRY(check_type(type, true));
  TRY(image::Code code, image::read_code(data, size));
  const bool is_ptx = code.units.size() == 1 && code.units[0].kind == image::CodeKind::Ptx;
  TRY(check_type(type, is_ptx));
  if (code.units.empty())
    return fail(ErrorCode::NoBinaryForGpu, "a compiled kernel image cannot be linked with others: add PTX");
  Lock lock(state->mutex);
  std::ranges::move(code.units, std::back_inserter(state->code.units));
  return {};
}

}  // namespace

CUresult cuLinkCreate_v2(unsigned int numOptions, CUjit_option* options, void** optionValues, CUlinkState* stateOut) {
  return api_call([&]() -> Result<> {
    TRY(given(stateOut, "stateOut"));
    TRY(current_context());
    TRY(JitOptions jit, JitOptions::read(numOptions, options, optionValues));
    *stateOut = handle_of<CUlinkState>(states().add(std::make_shared<LinkState>(std::move(jit))));
    return {};
  });
}

CUresult cuLinkAddData_v2(CUlinkState state, CUjitInputType type, void* data, size_t size, const char*,
                          unsigned int numOptions, CUjit_option* options, void** optionValues) {
  return api_call([&]() -> Result<> {
    TRY(given(data, "data"));
    TRY(std::shared_ptr<LinkState> found, live_state(state));
    TRY(JitOptions::read(numOptions, options, optionValues));
    return found->options.answer(add(state, type, data, size));
  });
}

CUresult cuLinkAddFile_v2(CUlinkState state, CUjitInputType type, const char* path, unsigned int numOptions,
                          CUjit_option* options, void** optionValues) {
  return api_call([&]() -> Result<> {
    TRY(given(path, "path"));
    TRY(std::shared_ptr<LinkState> found, live_state(state));
    TRY(JitOptions::read(numOptions, options, optionValues));
    TRY(std::string bytes, read_file(path));
    return found->options.answer(add(state, type, bytes.data(), bytes.size()));
  });
}

CUresult cuLinkComplete(CUlinkState state, void** cubinOut, size_t* sizeOut) {
  return api_call([&]() -> Result<> {
    TRY(given(cubinOut, "cubinOut"));
    TRY(std::shared_ptr<LinkState> found, live_state(state));
    TRY(std::shared_ptr<Context> context, current_context());
    return found->options.answer([&]() -> Result<> {
      Lock lock(found->mutex);
      if (found->code.units.empty()) return fail(ErrorCode::InvalidValue, "nothing was added that could be linked");
      const auto image = Runtime::get().programs.image(found->code, context->device().properties().image_target);
      if (!image && image.error().code == ErrorCode::InvalidImage)  // what is defined nowhere; the code is an H200's
        return fail(ErrorCode::InvalidSource, "{}", image.error().message);
      if (!image) return fail(image.error());
      const image::FatbinEntry entry{image::FatbinKind::KernelImage, image::kArchitecture,
                                     image::kFlag64Bit | image::kFlagLinux, **image, 0};
      TRY(found->output, image::write_fatbin({&entry, 1}));
      *cubinOut = found->output.data();
      if (sizeOut) *sizeOut = found->output.size();
      return {};
    }());
  });
}

CUresult cuLinkDestroy(CUlinkState state) {
  return api_call([&]() -> Result<> {
    if (!states().remove(state)) return fail(ErrorCode::InvalidHandle, "that is no live state of cuLinkCreate");
    return {};
  });
}

CUresult cuLinkCreate(unsigned int numOptions, CUjit_option* options, void** optionValues, CUlinkState* stateOut) {
  return forwarded([&] { return cuLinkCreate_v2(numOptions, options, optionValues, stateOut); });
}

CUresult cuLinkAddData(CUlinkState state, CUjitInputType type, void* data, size_t size, const char* name,
                       unsigned int numOptions, CUjit_option* options, void** optionValues) {
  return forwarded([&] { return cuLinkAddData_v2(state, type, data, size, name, numOptions, options, optionValues); });
}

CUresult cuLinkAddFile(CUlinkState state, CUjitInputType type, const char* path, unsigned int numOptions,
                       CUjit_option* options, void** optionValues) {
  return forwarded([&] { return cuLinkAddFile_v2(state, type, path, numOptions, options, optionValues); });
}

// Managed variables are ordinary variables of device code here: the host reaches all of them.
CUresult cuLibraryGetManaged(CUdeviceptr* dptr, size_t* bytes, CUlibrary library, const char* name) {
  return forwarded([&] { return cuLibraryGetGlobal(dptr, bytes, library, name); });
}
