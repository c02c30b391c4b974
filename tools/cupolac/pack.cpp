#include "cupolac/pack.h"

#include <cstdio>

#include "base/file.h"
#include "cupolac/compiler_library.h"
#include "cupolac/installation.h"
#include "image/code.h"
#include "image/device_unit.h"
#include "image/fatbin.h"

namespace cupola::cupolac {
namespace {

Result<std::string> compile_kir(const std::string& target, std::span<const std::byte> kir,
                                const image::CodeOptions& how = {}) {
  return compile(library_folder(),
                 {.target = target, .units = {{image::CodeKind::Kir, {kir.begin(), kir.end()}}}, .options = how});
}

Result<std::string> make_ptx(std::span<const std::byte> kir, const Options& options) {
  return compile_kir("ptx:" + options.architecture.sm(), kir, {.relocatable = options.relocatable});
}

image::FatbinEntry entry(image::FatbinKind kind, const Architecture& architecture, std::span<const std::byte> bytes) {
  return {.kind = kind, .sm = static_cast<uint32_t>(architecture.number), .payload = bytes};
}

Result<> write_unit_file(const Options& options, std::span<const std::byte> kir) {
  TRY(const std::string code, compile_kir("unit", kir));
  const image::FatbinEntry entries[] = {
      entry(image::FatbinKind::Kir, options.architecture, std::as_bytes(std::span(code)))};
  TRY(std::vector<std::byte> fatbin, image::write_fatbin(entries));
  return write_file(options.output, image::write_unit({options.unit, std::move(fatbin)}));
}

/// The units of a file of kernel code. LLVM's text is what nothing else is.
Result<std::vector<image::CodeUnit>> units_of(const std::string& path, std::span<const std::byte> bytes) {
  if (path.ends_with(".ll")) return std::vector<image::CodeUnit>{{image::CodeKind::Kir, {bytes.begin(), bytes.end()}}};
  Result<image::Code> code = image::read_code(bytes.data(), bytes.size());
  if (!code) return fail(code.error().code, "'{}': {}", path, code.error().message);
  if (code->units.empty()) return fail(ErrorCode::InvalidImage, "'{}' holds no kir and no PTX", path);
  return std::move(code->units);
}

}  // namespace

Result<> write_fatbin(const Options& options, std::span<const std::byte> kir, const std::string& path) {
  std::vector<image::FatbinEntry> entries = {entry(image::FatbinKind::Kir, options.architecture, kir)};
  const Result<std::string> ptx = make_ptx(kir, options);
  if (ptx)
    entries.push_back(entry(image::FatbinKind::Ptx, options.architecture, std::as_bytes(std::span(*ptx))));
  else if (options.verbose)
    std::fprintf(stderr, "cupolac: note: no PTX in '%s': %s\n", path.c_str(), ptx.error().message.c_str());
  TRY(const std::vector<std::byte> fatbin, image::write_fatbin(entries));
  return write_file(path, fatbin);
}

Result<> pack(const Options& options) {
  if (options.inputs.size() != 1 || options.output.empty())
    return fail(ErrorCode::InvalidValue, "the steps --pack-... take one file of kernel code and -o");
  const std::string& path = options.inputs[0].path;
  TRY(const std::string text, read_file(path));
  const std::span<const std::byte> kir = std::as_bytes(std::span(text));
  if (options.goal == Goal::PackUnit) return write_unit_file(options, kir);
  if (options.goal == Goal::Pack) {
    if (options.relocatable) return write_fatbin(options, kir, options.output);
    TRY(const std::string whole, compile_kir("linked", kir));
    return write_fatbin(options, std::as_bytes(std::span(whole)), options.output);
  }
  if (options.goal == Goal::PackMetallib) {
    TRY(std::vector<image::CodeUnit> units, units_of(path, kir));
    TRY(const std::string library, compile(library_folder(), {.target = "metallib", .units = std::move(units)}));
    return write_file(options.output, std::as_bytes(std::span(library)));
  }
  TRY(const std::string ptx, make_ptx(kir, options));
  return write_file(options.output, std::as_bytes(std::span(ptx)));
}

}  // namespace cupola::cupolac
