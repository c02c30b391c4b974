#include "cuda/nvrtc/libraries.h"

#include "base/dynlib.h"
#include "base/library_names.h"

namespace cupola::nvrtc {
namespace {

std::string folder() {
  return folder_of_code(reinterpret_cast<const void*>(&compile_source));
}

/// The entries of src/frontend/frontend.h.
struct Frontend {
  int (*compile)(const void* request, size_t request_bytes, void** output, size_t* output_bytes);
  void (*free)(void* output);
};

Result<Frontend> open_frontend() {
  const Result<DynLib> library = DynLib::open(folder() + "/" + kFrontendLibrary);
  if (!library)
    return fail(ErrorCode::JitCompilerNotFound, "{}: it compiles CUDA C++; install it there, and libclang-cpp 22",
                library.error().message);
  TRY(void* compile, library->symbol("cupola_frontend_compile"));
  TRY(void* free, library->symbol("cupola_frontend_free"));
  return Frontend{reinterpret_cast<decltype(Frontend::compile)>(compile),
                  reinterpret_cast<decltype(Frontend::free)>(free)};
}

const Result<Frontend>& frontend() {
  static const auto* const opened = new Result<Frontend>(open_frontend());
  return *opened;
}

}  // namespace

Result<image::SourceAnswer> compile_source(const image::SourceRequest& request) {
  TRY(const Frontend entries, frontend());
  const std::vector<std::byte> bytes = serialize(request);
  void* output = nullptr;
  size_t output_bytes = 0;
  const int status = entries.compile(bytes.data(), bytes.size(), &output, &output_bytes);
  const std::string answer(static_cast<const char*>(output), output_bytes);
  entries.free(output);
  if (status != 0) return fail(Error{static_cast<ErrorCode>(status), answer});
  return image::deserialize_source_answer(std::as_bytes(std::span(answer)));
}

Result<std::vector<std::byte>> compile_code(const image::CompileRequest& request) {
  TRY(const image::CompilerLibrary library, image::CompilerLibrary::ours());
  return library.compile(request);
}

}  // namespace cupola::nvrtc
