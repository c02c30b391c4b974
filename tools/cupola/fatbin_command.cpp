#include "cupola/fatbin_command.h"

#include <cstdio>
#include <filesystem>

#include "base/file.h"
#include "cupola/code_file.h"
#include "cupola/fatbin_scan.h"

namespace cupola::tool {
namespace {

namespace fs = std::filesystem;
using image::FatbinEntry;
using image::FatbinKind;

struct KindName {
  FatbinKind kind;
  const char* name;
  const char* extension;
};

constexpr KindName kKinds[] = {
    {FatbinKind::Ptx, "ptx", "ptx"},
    {FatbinKind::Elf, "elf", "cubin"},
    {FatbinKind::LtoIr, "lto-ir", "ltoir"},
    {FatbinKind::Kir, "kir", "kir.bc"},
    {FatbinKind::KernelImage, "image", "image"},
};

KindName name_of(FatbinKind kind) {
  for (const KindName& row : kKinds)
    if (row.kind == kind) return row;
  return {kind, "unknown", "bin"};
}

std::string compression(const FatbinEntry& entry) {
  if (!entry.is_compressed()) return "";
  return formatted(", {} of {}", entry.flags & image::kFlagZstd ? "zstd" : "lz4", entry.uncompressed_size);
}

void print(const FatbinEntry& entry, size_t number) {
  const std::string line =
      formatted("  {:<3} {:<8} sm_{:<4} {:>9} bytes, flags {:#x}{}\n", number, name_of(entry.kind).name, entry.sm,
                entry.payload.size(), entry.flags, compression(entry));
  std::fputs(line.c_str(), stdout);
}

Result<> write(const FatbinEntry& entry, const fs::path& path) {
  TRY(std::vector<std::byte> bytes, image::contents(entry));
  if (entry.kind == FatbinKind::Ptx)
    while (!bytes.empty() && bytes.back() == std::byte{0}) bytes.pop_back();
  return write_file(path, bytes);
}

}  // namespace

Result<> fatbin_command(const std::string& path, const std::string& extract_to) {
  TRY(const std::string bytes, read_all(path));
  const auto fatbins = find_fatbins(std::as_bytes(std::span(bytes)));
  if (!fatbins) return fail(fatbins.error().code, "'{}': {}", path, fatbins.error().message);
  if (!extract_to.empty()) {
    std::error_code error;
    fs::create_directories(extract_to, error);
    if (error) return fail(ErrorCode::OperatingSystem, "folder '{}' cannot be made: {}", extract_to, error.message());
  }
  const std::string stem = path == "-" ? "stdin" : fs::path(path).stem().string();
  for (size_t i = 0; i < fatbins->size(); ++i) {
    const Fatbin& fatbin = (*fatbins)[i];
    std::fputs(formatted("fat binary {} at {:#x}: {} entries\n", i + 1, fatbin.offset, fatbin.entries.size()).c_str(),
               stdout);
    for (size_t k = 0; k < fatbin.entries.size(); ++k) {
      const FatbinEntry& entry = fatbin.entries[k];
      print(entry, k + 1);
      if (extract_to.empty()) continue;
      const std::string name =
          formatted("{}.{}.{}.sm_{}.{}", stem, i + 1, k + 1, entry.sm, name_of(entry.kind).extension);
      TRY(write(entry, fs::path(extract_to) / name));
    }
  }
  return {};
}

}  // namespace cupola::tool
