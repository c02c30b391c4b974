#include "compile/pipeline.h"

#include <llvm/IR/LLVMContext.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <span>
#include <vector>

#include "array/expression.h"
#include "backend/cpu/build/build.h"
#include "backend/cpu/build/keep_file.h"
#include "backend/cpu/build/vector_report.h"
#include "backend/metal/build/msl/print.h"
#include "backend/metal/build/raise/raise.h"
#include "base/demangled.h"
#include "base/dynlib.h"
#include "base/file.h"
#include "base/log.h"
#include "compile/expression_kernel.h"
#include "compile/metal_kernels.h"
#include "compile/process_end.h"
#include "compile/ptx_text.h"
#include "compile/separate_units.h"
#include "image/block_class.h"
#include "image/kernel_image.h"
#include "image/metal_image.h"
#include "kir/kir.h"
#include "kir/nvvm_ir.h"
#include "kir/to_nvptx.h"
#include "ptx/lower/lower.h"
#include "ptx/syntax/parser.h"
#include "ptx/syntax/verify.h"

namespace cupola {
namespace {

constexpr std::string_view kPtxTarget = "ptx:", kSm = "sm_", kAllCode = "all";

std::string library_path(const char* name) {
  return folder_of_code(reinterpret_cast<const void*>(&library_path)) + "/cupola/" + name;
}

/// A part of the installation.
struct Library {
  explicit Library(const char* name) : path(library_path(name)), bytes(read_file(path).value_or("")) {}
  const std::string path, bytes;
};

/// Error: JitCompilerNotFound: without it the compiler is not all there.
Result<std::span<const std::byte>> contents_of(const Library& library) {
  if (library.bytes.empty())
    return fail(ErrorCode::JitCompilerNotFound,
                "compiler: the installation lacks {}: install Cupola again, or copy its folder 'cupola' there too",
                library.path);
  return std::as_bytes(std::span(library.bytes));
}

// Each is read once, and kept for the life of the process.

Result<std::span<const std::byte>> device_library() {
  static const auto* const library = new Library("device.bc");
  return contents_of(*library);
}

/// What the metal device computes doubles with.
Result<std::span<const std::byte>> metal_library() {
  static const auto* const library = new Library("metal.bc");
  return contents_of(*library);
}

/// What calls mean in AIR.
Result<std::span<const std::byte>> air_library() {
  static const auto* const library = new Library("air.bc");
  return contents_of(*library);
}

/// As device_library(); empty in a build without libclc, which makes PTX of kernels that need no C function.
std::span<const std::byte> c_library() {
  static const auto* const bytes = new std::string(read_file(library_path("c_library.bc")).value_or(""));
  return std::as_bytes(std::span(*bytes));
}

/// Where intermediate files go: the folder, a name and the start of the request's key. Empty when they are not wanted,
/// or when the folder cannot be made, which the log says once.
std::string keep_path(const image::CompileRequest& request, std::string_view name) {
  if (request.keep.empty()) return {};
  std::error_code error;
  std::filesystem::create_directories(request.keep, error);
  if (error) {
    log::line(log::Topic::Error, "CUPOLA_KEEP: the folder '{}' cannot be made: {}", request.keep, error.message());
    return {};
  }
  std::string file(name.substr(0, 80));
  std::ranges::replace(file, '/', '_');
  return request.keep + "/" + file + "-" + image::cache_key(request).substr(0, 8);
}

/// A module is called by its first kernel.
std::string name_of(llvm::Module& module) {
  const auto kernels = kir::kernels(module);
  return kernels.empty() ? "module" : kernels.front()->getName().str();
}

void keep_text(const std::string& path, const char* ending, const llvm::Module& module) {
  if (!path.empty()) cpu::build::keep_file(path + ending, kir::print(module));
}

Result<std::unique_ptr<llvm::Module>> read_unit(llvm::LLVMContext& context, const image::CodeUnit& unit,
                                                const image::CodeOptions& options) {
  switch (unit.kind) {
    case image::CodeKind::Kir: {
      TRY(std::unique_ptr<llvm::Module> module, kir::read(context, unit.bytes));
      unite_internal_names(*module);
      return module;
    }
    case image::CodeKind::Ptx: {
      TRY(const ptx::Module parsed, ptx::parse({reinterpret_cast<const char*>(unit.bytes.data()), unit.bytes.size()}));
      TRY(ptx::verify(parsed));
      return ptx::lower(parsed, context);
    }
    case image::CodeKind::Nvvm:
    case image::CodeKind::NvvmLibrary:
      return kir::read_nvvm(context, unit.bytes,
                            {.flush_denormals = options.flush_denormals,
                             .contract = options.contract,
                             .approximate_roots = options.approximate_roots,
                             .approximate_quotients = options.approximate_quotients,
                             .keep_inline = options.keep_inline});
    case image::CodeKind::Expression: {
      TRY(const array::Expression expression, array::deserialize_expression(unit.bytes));
      return expression_kernel(context, expression);
    }
    case image::CodeKind::KernelUnit:
      return fail(ErrorCode::InvalidImage,
                  "compiler: the unit of a kernel stands for itself, and for a class of blocks");
  }
  return fail(ErrorCode::InvalidImage, "compiler: code of an unknown kind");
}

/// All units, linked: separate compilation leaves one for each source file. Libraries come last, and after what calls
/// them.
Result<std::unique_ptr<llvm::Module>> read_units(llvm::LLVMContext& context, const image::CompileRequest& request) {
  const auto is_library = [](const image::CodeUnit& unit) { return unit.kind == image::CodeKind::NvvmLibrary; };
  std::unique_ptr<llvm::Module> whole;
  for (const bool libraries : {false, true})
    for (const image::CodeUnit& unit : request.units) {
      if (is_library(unit) != libraries) continue;
      TRY(std::unique_ptr<llvm::Module> part, read_unit(context, unit, request.options));
      if (!whole)
        whole = std::move(part);
      else
        TRY((libraries ? kir::link_needed : kir::link)(*whole, std::move(part)));
    }
  return whole;
}

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Result<std::vector<std::byte>> make_image(std::unique_ptr<llvm::Module> module, const image::CompileRequest& request) {
  if (!request.code.empty() && request.code != kAllCode)
    return fail(ErrorCode::InvalidImage, "compiler: the code '{}' is made of the unit of one kernel", request.code);
  const std::string keep = keep_path(request, name_of(*module));
  keep_text(keep, ".kir.ll", *module);
  TRY(const std::span<const std::byte> device, device_library());
  TRY(kir::prepare(*module,
                   {.device_library = device, .processor_flushes = true, .expand_inline_ptx = ptx::expand_inline_ptx}));
  keep_text(keep, ".prepared.ll", *module);
  const cpu::build::BuildOptions options{.target = request.target, .keep = keep, .later = request.code.empty()};
  TRY(const image::KernelImage image, cpu::build::build(std::move(module), options));
  return image::serialize(image);
}

/// The code that an image left for later.
Result<std::vector<std::byte>> make_kernel_code(const image::CompileRequest& request) {
  const auto blocks = image::blocks_requested(request.code);
  if (!blocks || request.units.size() != 1)
    return fail(ErrorCode::InvalidImage, "compiler: '{}' names no blocks for the unit of one kernel", request.code);
  llvm::LLVMContext context;
  TRY(cpu::build::KernelUnit unit, cpu::build::read_unit(context, request.units.front().bytes));
  const std::string keep = keep_path(request, unit.kernel.name);
  TRY(const image::KernelImage image, cpu::build::build_unit(std::move(unit), *blocks,
                                                             {.target = request.target,
                                                              .keep = keep.empty() ? keep : keep + "." + request.code,
                                                              .given_up = &Compiling::process_ends()}));
  return image::serialize(image);
}

constexpr char kAdvice[] =
    "  One by one is dear: threads beside each other in x should read and write places beside each other, or meet them "
    "in "
    "shared memory.\n";

/// Why a kernel cannot be launched with such blocks; empty: it can.
std::string why_no_launch(const KernelInfo& kernel, const Dim3& block) {
  const Dim3& required = kernel.required_block;
  if (required.x != 0 && required != block)
    return formatted("the kernel takes those of {} x {} x {} threads only", required.x, required.y, required.z);
  if (block.count() > kernel.max_threads_per_block)
    return formatted("the kernel takes {} threads at most", kernel.max_threads_per_block);
  return "";
}

/// How a kernel runs in such blocks, a line and more lines for details. `kernel`: has a unit.
Result<std::string> explain(const image::Kernel& kernel, const image::BlocksOfCode& blocks) {
  if (const std::string why = blocks.shape ? why_no_launch(kernel.info, *blocks.shape) : ""; !why.empty())
    return formatted("  blocks {}: no launch may have them: {}\n", words_of(blocks), why);
  llvm::LLVMContext context;
  std::string report;
  TRY(cpu::build::KernelUnit unit, cpu::build::read_unit(context, kernel.unit));
  TRY(const image::KernelImage code,
      cpu::build::build_unit(std::move(unit), blocks, {.target = "cpu:here", .report = &report}));
  const bool as_others = !blocks.shape && blocks.blocks != image::BlockClass::Any &&
                         code.kernels[0].wide_entries[image::BlockClass::Any].place != image::kNoEntry;
  return formatted("  blocks {}: {}", words_of(blocks), as_others ? "as those of all other shapes\n" : report);
}

/// How the cpu device runs each kernel, as text.
Result<std::vector<std::byte>> make_explanation(std::unique_ptr<llvm::Module> module,
                                                const image::CompileRequest& request) {
  const auto only = image::blocks_requested(request.code);
  if (!request.code.empty() && request.code != kAllCode && !only)
    return fail(ErrorCode::InvalidImage, "compiler: '{}' names no blocks to explain", request.code);
  TRY(const std::span<const std::byte> device, device_library());
  TRY(kir::prepare(*module, {.device_library = device, .expand_inline_ptx = ptx::expand_inline_ptx}));
  TRY(const image::KernelImage image, cpu::build::build(std::move(module), {.target = "cpu:here", .later = true}));
  std::vector<image::BlocksOfCode> wanted;
  if (only)
    wanted.push_back(*only);
  else
    for (const image::BlockClass blocks : image::kBlockClasses) wanted.push_back({blocks});
  std::string text;
  for (const image::Kernel& kernel : image.kernels) {
    std::string about = formatted("kernel {}\n", demangled(kernel.info.name));
    for (const image::BlocksOfCode& blocks : wanted) {
      TRY(const std::string text_of_blocks, explain(kernel, blocks));
      about += text_of_blocks;
    }
    if (about.contains(cpu::build::kOneByOne)) about += kAdvice;
    text += about;
  }
  return bytes_of(text);
}

Result<std::vector<std::byte>> make_ptx(std::unique_ptr<llvm::Module> module, const image::CompileRequest& request) {
  const std::string architecture = request.target.substr(kPtxTarget.size());
  if (!architecture.starts_with(kSm))
    return fail(ErrorCode::NoBinaryForGpu, "compiler: '{}' is no architecture for PTX; sm_89 is one", architecture);
  const auto number = static_cast<uint32_t>(std::atoi(architecture.c_str() + kSm.size()));
  TRY(const std::span<const std::byte> device, device_library());
  TRY(kir::to_nvptx(*module, {.architecture = number,
                              .device_library = device,
                              .c_library = c_library(),
                              .externs = request.options.externs,
                              .relocatable = request.options.relocatable}));
  TRY(const std::string text, ptx_text(std::move(module), architecture));
  return bytes_of(text);
}

/// The module's kernels for the metal device, as source in Metal's shading language.
Result<std::vector<std::byte>> make_msl(std::unique_ptr<llvm::Module> module, const image::CompileRequest&) {
  TRY(const std::span<const std::byte> device, device_library());
  TRY(kir::prepare(*module, {.device_library = device, .expand_inline_ptx = ptx::expand_inline_ptx}));
  TRY(const std::span<const std::byte> metal, metal_library());
  TRY(metal::build::Raised raised, metal::build::raise(std::move(module), metal));
  const metal::build::MslSource source = metal::build::print_msl(raised);
  TRY(metal::build::all_are_made(raised));
  return bytes_of(source.text);
}

Result<MetalLibraries> metal_libraries() {
  MetalLibraries libraries;
  TRY(libraries.doubles, metal_library());
  TRY(libraries.meanings, air_library());
  return libraries;
}

/// The same for the device: an image, or a container of compiled kernels.
Result<std::vector<std::byte>> make_metal(std::unique_ptr<llvm::Module> module, const image::CompileRequest& request) {
  const std::string keep = keep_path(request, name_of(*module));
  TRY(const std::span<const std::byte> device, device_library());
  TRY(kir::prepare(*module, {.device_library = device, .expand_inline_ptx = ptx::expand_inline_ptx}));
  keep_text(keep, ".prepared.ll", *module);
  TRY(const MetalLibraries libraries, metal_libraries());
  TRY(std::vector<std::byte> code, make_metal_code(*module, libraries, request.target));
  if (keep.empty()) return code;
  if (const Result<image::MetalImage> image = image::deserialize_metal(code))
    cpu::build::keep_file(keep + ".metal", image->source);
  else
    cpu::build::keep_file(keep + ".metallib", {reinterpret_cast<const char*>(code.data()), code.size()});
  return code;
}

/// All kernels as AIR, in Apple's container.
Result<std::vector<std::byte>> make_container(std::unique_ptr<llvm::Module> module, const image::CompileRequest&) {
  TRY(const std::span<const std::byte> device, device_library());
  TRY(kir::prepare(*module, {.device_library = device, .expand_inline_ptx = ptx::expand_inline_ptx}));
  TRY(const MetalLibraries libraries, metal_libraries());
  return make_metallib(std::move(module), libraries);
}

/// The module as it will be loaded. Error: InvalidImage for what is defined nowhere, InvalidPtx for inline PTX that is
/// none. What the cpu device cannot run is said when it is loaded: other devices may.
Result<std::vector<std::byte>> make_linked(std::unique_ptr<llvm::Module> module, const image::CompileRequest&) {
  drop_external_references(*module);
  const std::vector<std::byte> bitcode = kir::write(*module);
  const Result<> ptx = ptx::expand_inline_ptx(*module);
  if (!ptx && ptx.error().code == ErrorCode::InvalidPtx) return fail(ptx.error());
  TRY(const std::span<const std::byte> device, device_library());
  if (kir::is_closed(*module, device)) return bitcode;
  const Result<> whole = kir::prepare(*module, {.device_library = device, .expand_inline_ptx = ptx::expand_inline_ptx});
  if (!whole && whole.error().code == ErrorCode::InvalidImage) return fail(whole.error());
  return bitcode;
}

/// Nothing: that the units can be read and linked is all that was asked.
Result<std::vector<std::byte>> make_nothing(std::unique_ptr<llvm::Module>, const image::CompileRequest&) {
  return std::vector<std::byte>();
}

Result<std::vector<std::byte>> make_unit(std::unique_ptr<llvm::Module> module, const image::CompileRequest&) {
  return kir::write(*module);
}

Result<std::vector<std::byte>> make_text(std::unique_ptr<llvm::Module> module, const image::CompileRequest&) {
  TRY(ptx::expand_inline_ptx(*module));
  return bytes_of(kir::print(*module));
}

/// What code can be made for.
struct TargetRow {
  std::string_view name;  ///< all of the target; with a colon at its end, how it begins
  Result<std::vector<std::byte>> (*make)(std::unique_ptr<llvm::Module> module, const image::CompileRequest& request);
  Result<std::vector<std::byte>> (*make_of_kernel_unit)(const image::CompileRequest& request) = nullptr;
};
constexpr TargetRow kTargets[] = {
    {"cpu:", make_image, make_kernel_code},
    {image::kMetalTarget, make_metal},
    {kPtxTarget, make_ptx},
    {"kir", make_text},
    {"unit", make_unit},
    {"linked", make_linked},
    {"check", make_nothing},
    {"explain", make_explanation},
    {"msl", make_msl},
    {"metallib", make_container},
};

bool is_for(const TargetRow& row, std::string_view target) {
  return row.name.ends_with(':') ? target.starts_with(row.name) : target == row.name;
}

}  // namespace

Result<std::vector<std::byte>> compile(const image::CompileRequest& request) {
  const auto* row = std::ranges::find_if(kTargets, [&](const TargetRow& each) { return is_for(each, request.target); });
  if (row == std::end(kTargets))
    return fail(ErrorCode::NoBinaryForGpu, "compiler: target '{}' is not one that this build generates code for",
                request.target);
  if (row->make_of_kernel_unit && request.units.front().kind == image::CodeKind::KernelUnit)
    return row->make_of_kernel_unit(request);
  llvm::LLVMContext context;
  TRY(std::unique_ptr<llvm::Module> module, read_units(context, request));
  return row->make(std::move(module), request);
}

}  // namespace cupola
