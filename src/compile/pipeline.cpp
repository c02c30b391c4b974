#include "compile/pipeline.h"

#include <llvm/IR/LLVMContext.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>

#include "backend/cpu/build/build.h"
#include "base/dynlib.h"
#include "kir/kir.h"
#include "ptx/lower/lower.h"
#include "ptx/syntax/parser.h"
#include "ptx/syntax/verify.h"

namespace cupola {
namespace {

constexpr std::string_view kCpuTarget = "cpu:";

std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// Read once; kept for the life of the process.
std::span<const std::byte> device_library() {
  static const auto* bytes = new std::vector<std::byte>(
      read_file(folder_of_code(reinterpret_cast<const void*>(&device_library)) + "/cupola/device.bc"));
  return *bytes;
}

/// Where intermediate files of this module go: the folder, its first kernel's name and the start of its key. Empty when
/// they are not wanted.
std::string keep_path(const image::CompileRequest& request, llvm::Module& module) {
  if (request.keep.empty()) return {};
  std::error_code ignored;
  std::filesystem::create_directories(request.keep, ignored);
  const auto kernels = kir::kernels(module);
  std::string name = kernels.empty() ? "module" : kernels.front()->getName().substr(0, 80).str();
  std::replace(name.begin(), name.end(), '/', '_');
  return request.keep + "/" + name + "-" + image::cache_key(request).substr(0, 8);
}

void keep_text(const std::string& path, const char* ending, const llvm::Module& module) {
  if (!path.empty()) std::ofstream(path + ending, std::ios::binary) << kir::print(module);
}

Result<std::unique_ptr<llvm::Module>> read_unit(llvm::LLVMContext& context, const image::CodeUnit& unit) {
  switch (unit.kind) {
    case image::CodeKind::Kir:
      return kir::read(context, unit.bytes);
    case image::CodeKind::Ptx: {
      TRY(const ptx::Module parsed, ptx::parse({reinterpret_cast<const char*>(unit.bytes.data()), unit.bytes.size()}));
      TRY(ptx::verify(parsed));
      return ptx::lower(parsed, context);
    }
  }
  return fail(ErrorCode::InvalidImage, "compiler: code of an unknown kind");
}

/// All units, linked: separate compilation leaves one for each source file.
Result<std::unique_ptr<llvm::Module>> read_units(llvm::LLVMContext& context, std::span<const image::CodeUnit> units) {
  TRY(std::unique_ptr<llvm::Module> whole, read_unit(context, units.front()));
  for (const image::CodeUnit& unit : units.subspan(1)) {
    TRY(std::unique_ptr<llvm::Module> part, read_unit(context, unit));
    TRY(kir::link(*whole, std::move(part)));
  }
  return whole;
}

}  // namespace

Result<image::KernelImage> compile(const image::CompileRequest& request) {
  if (!request.target.starts_with(kCpuTarget))
    return fail(ErrorCode::NoBinaryForGpu, "compiler: target '{}' is not one that this build generates code for",
                request.target);
  llvm::LLVMContext context;
  TRY(std::unique_ptr<llvm::Module> module, read_units(context, request.units));
  const std::string keep = keep_path(request, *module);
  keep_text(keep, ".kir.ll", *module);
  TRY(kir::prepare(*module, {.device_library = device_library()}));
  keep_text(keep, ".prepared.ll", *module);
  return cpu::build::build(std::move(module), {.target = request.target, .keep = keep});
}

}  // namespace cupola
