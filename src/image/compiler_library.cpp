#include "image/compiler_library.h"

#include "base/dynlib.h"
#include "base/library_names.h"
#include "base/settings.h"

namespace cupola::image {

Result<CompilerLibrary> CompilerLibrary::open(const std::string& path) {
  auto library = DynLib::open(path);
  if (!library)
    return fail(ErrorCode::JitCompilerNotFound,
                "{}: it compiles kernels; install it there or set CUPOLA_COMPILER to its path",
                library.error().message);
  TRY(void* compile, library->symbol("cupola_compile"));
  TRY(void* free, library->symbol("cupola_compile_free"));
  return CompilerLibrary(reinterpret_cast<Compile>(compile), reinterpret_cast<Free>(free));
}

Result<std::vector<std::byte>> CompilerLibrary::compile(std::span<const std::byte> request) const {
  void* output = nullptr;
  size_t output_bytes = 0;
  const int status = compile_(request.data(), request.size(), &output, &output_bytes);
  const auto* bytes = static_cast<const std::byte*>(output);
  std::vector<std::byte> result(bytes, bytes + output_bytes);
  if (output) free_(output);
  if (status == 0) return result;
  return fail(
      Error{static_cast<ErrorCode>(status), std::string(reinterpret_cast<const char*>(result.data()), result.size())});
}

Result<std::vector<std::byte>> CompilerLibrary::compile(const CompileRequest& request) const {
  return compile(serialize(request));
}

const Result<CompilerLibrary>& CompilerLibrary::ours() {
  static const auto* const library = new Result<CompilerLibrary>(open(compiler_path()));  // leaked: it stays open
  return *library;
}

std::string compiler_path() {
  if (!settings().compiler.empty()) return settings().compiler;
  return folder_of_code(reinterpret_cast<const void*>(&compiler_path)) + "/" + kCompilerLibrary;
}

}  // namespace cupola::image
