#include "runtime/program_cache.h"

#include <chrono>
#include <cstdlib>

#include "base/log.h"
#include "base/settings.h"
#include "image/compile_request.h"
#include "image/kernel_image.h"

namespace cupola::runtime {
namespace {

// The two entries of libcupola-compiler; src/compile/compile.h documents them.
using CompileEntry = int (*)(const void* request, size_t request_bytes, void** output, size_t* output_bytes);
using FreeEntry = void (*)(void* output);

struct Compiler {
  CompileEntry compile;
  FreeEntry free;
};

std::string default_compiler() {
  if (!settings().compiler.empty()) return settings().compiler;
  return folder_of_code(reinterpret_cast<const void*>(&default_compiler)) + "/libcupola-compiler.so";
}

Result<Compiler> open_compiler(const std::string& path) {
  auto library = DynLib::open(path);
  if (!library)
    return fail(ErrorCode::JitCompilerNotFound,
                "{}: it compiles kernels; install it there or set CUPOLA_COMPILER to its path",
                library.error().message);
  TRY(void* compile, library->symbol("cupola_compile"));
  TRY(void* free, library->symbol("cupola_compile_free"));
  return Compiler{reinterpret_cast<CompileEntry>(compile), reinterpret_cast<FreeEntry>(free)};
}

/// The image that was made for the target; damaged ones are as good as none.
const std::vector<std::byte>* image_for(const Code& code, const std::string& target) {
  for (const std::vector<std::byte>& bytes : code.images)
    if (const auto image = image::deserialize(bytes); image && image->target == target) return &bytes;
  return nullptr;
}

}  // namespace

ProgramCache::ProgramCache() : compiler_path_(default_compiler()), disk_(image::cache_folder(settings())) {}

Result<ProgramCache::Image> ProgramCache::image(const Code& code, const std::string& target) {
  if (const auto* ready = image_for(code, target)) return std::make_shared<const std::vector<std::byte>>(*ready);
  if (code.units.empty())
    return fail(ErrorCode::NoBinaryForGpu,
                "the kernel images are for other processors than '{}', and there is no code to compile", target);
  const image::CompileRequest request{target, settings().keep, code.units};
  const std::string key = image::cache_key(request, compiler_identity());
  std::shared_ptr<Entry> entry;
  {
    Lock lock(mutex_);
    std::shared_ptr<Entry>& place = entries_[key];
    if (!place) place = std::make_shared<Entry>();
    entry = place;
  }
  Lock lock(entry->mutex);
  if (entry->image) return entry->image;
  auto bytes = settings().keep.empty() ? disk_.get(key) : std::nullopt;  // intermediate files are written by compiling
  log::line(log::Topic::Cache, "{} {}", key, bytes ? "found" : "not there");
  if (!bytes) {
    TRY(bytes, compile(image::serialize(request)));
    disk_.put(key, *bytes);
  }
  entry->image = std::make_shared<const std::vector<std::byte>>(std::move(*bytes));
  return entry->image;
}

std::string ProgramCache::compiler_identity() const {
  const std::string folder = compiler_path_.substr(0, compiler_path_.rfind('/') + 1);
  return image::file_identity(compiler_path_) + "\n" + image::file_identity(folder + "cupola/device.bc");
}

Result<std::vector<std::byte>> ProgramCache::compile(const std::vector<std::byte>& request) {
  // Leaked: the library stays until the process ends.
  static const auto* const compiler = new Result<Compiler>(open_compiler(compiler_path_));
  if (!*compiler) return fail(compiler->error());
  const auto begin = std::chrono::steady_clock::now();
  void* output = nullptr;
  size_t output_bytes = 0;
  const int status = (*compiler)->compile(request.data(), request.size(), &output, &output_bytes);
  const auto* bytes = static_cast<const std::byte*>(output);
  std::vector<std::byte> result(bytes, bytes + output_bytes);
  if (output) (*compiler)->free(output);
  if (status != 0) {
    return fail(Error{static_cast<ErrorCode>(status),
                      std::string(reinterpret_cast<const char*>(result.data()), result.size())});
  }
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  log::line(log::Topic::Compile, "{} bytes of kernel code became an image of {} bytes in {:.1f} ms", request.size(),
            result.size(), took.count());
  return result;
}

}  // namespace cupola::runtime
