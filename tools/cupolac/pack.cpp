#include "cupolac/pack.h"

#include <cstdio>
#include <fstream>
#include <iterator>

#include "cupolac/compiler_library.h"
#include "cupolac/installation.h"
#include "image/fatbin.h"

namespace cupola::cupolac {
namespace {

Result<std::string> make_ptx(std::span<const std::byte> kir, const Architecture& architecture) {
  const std::filesystem::path libraries = program_path().parent_path().parent_path() / "lib";
  return compile(libraries,
                 {.target = "ptx:" + architecture.sm(), .units = {{image::CodeKind::Kir, {kir.begin(), kir.end()}}}});
}

}  // namespace

Result<> pack(const Options& options) {
  if (options.inputs.size() != 1 || options.output.empty())
    return fail(ErrorCode::InvalidValue, "--pack-fatbin takes one file of kernel code and -o");
  const std::string& path = options.inputs[0].path;
  std::ifstream in(path, std::ios::binary);
  if (!in) return fail(ErrorCode::FileNotFound, "'{}' cannot be read", path);
  const std::vector<char> text(std::istreambuf_iterator<char>(in), {});
  const std::span<const std::byte> kir = std::as_bytes(std::span(text));
  const auto sm = static_cast<uint32_t>(options.architecture.number);
  std::vector<image::FatbinEntry> entries = {{.kind = image::FatbinKind::Kir, .sm = sm, .payload = kir}};
  const Result<std::string> ptx = make_ptx(kir, options.architecture);
  if (ptx)
    entries.push_back({.kind = image::FatbinKind::Ptx, .sm = sm, .payload = std::as_bytes(std::span(*ptx))});
  else if (options.verbose)
    std::fprintf(stderr, "cupolac: note: no PTX in '%s': %s\n", options.output.c_str(), ptx.error().message.c_str());
  const std::vector<std::byte> fatbin = image::write_fatbin(entries);
  std::ofstream out(options.output, std::ios::binary);
  out.write(reinterpret_cast<const char*>(fatbin.data()), static_cast<std::streamsize>(fatbin.size()));
  if (!out.flush()) return fail(ErrorCode::OperatingSystem, "'{}' cannot be written", options.output);
  return {};
}

}  // namespace cupola::cupolac
