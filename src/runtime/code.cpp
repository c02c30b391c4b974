#include "runtime/code.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/settings.h"
#include "image/fatbin.h"
#include "runtime/bitcode.h"

namespace cupola::runtime {
namespace {

constexpr std::string_view kBitcode = "BC\xC0\xDE", kFatbin = "\x50\xED\x55\xBA", kWrapper = "\xB1\x43\x62\x46",
                           kElf =
                               "\x7F"
                               "ELF",
                           kImage = "cupimage";

constexpr uint32_t kArchitecture = 89;  // what devices report, in hal/types.h

/// True if the bytes begin so; reads no further than the first that differs.
bool begins(const std::byte* bytes, size_t limit, std::string_view magic) {
  for (size_t i = 0; i < magic.size(); ++i) {
    if (i >= limit || static_cast<char>(bytes[i]) != magic[i]) return false;
  }
  return true;
}

/// Comments and blanks, then ".version".
bool looks_like_ptx(const std::byte* bytes, size_t limit) {
  size_t at = 0;
  const auto character = [&] { return at < limit ? static_cast<char>(bytes[at]) : '\0'; };
  for (;;) {
    while (std::strchr(" \t\r\n", character()) && character()) ++at;
    if (!begins(bytes + at, limit - at, "//")) break;
    while (character() && character() != '\n') ++at;
  }
  return begins(bytes + at, limit - at, ".version") || begins(bytes + at, limit - at, ".target") ||
         begins(bytes + at, limit - at, "/*");
}

std::unexpected<Error> no_elf(uint32_t sm) {
  return fail(ErrorCode::NoBinaryForGpu,
              "this is machine code for NVIDIA GPUs{}, which cannot run here: build with PTX in it (nvcc -gencode "
              "arch=compute_80,code=compute_80), or compile the source with cupolac",
              sm ? formatted(" (sm_{})", sm) : "");
}

image::CodeUnit unit_of(image::CodeKind kind, std::span<const std::byte> bytes) {
  return {kind, {bytes.begin(), bytes.end()}};
}

/// The PTX to compile: the newest up to the device's architecture, or else the oldest.
const image::FatbinEntry* best_ptx(std::span<const image::FatbinEntry> entries) {
  const image::FatbinEntry* best = nullptr;
  for (const image::FatbinEntry& entry : entries) {
    if (entry.kind != image::FatbinKind::Ptx) continue;
    const bool fits = entry.sm <= kArchitecture;
    const bool best_fits = best && best->sm <= kArchitecture;
    if (!best || (fits && (!best_fits || entry.sm > best->sm)) || (!fits && !best_fits && entry.sm < best->sm))
      best = &entry;
  }
  return best;
}

/// Adds what one fat binary holds.
Result<> add_fat_binary(Code& code, const std::byte* bytes, size_t limit) {
  TRY(std::vector<image::FatbinEntry> entries, image::read_fatbin(bytes, limit));
  for (const image::FatbinEntry& entry : entries) {
    if (entry.kind != image::FatbinKind::KernelImage) continue;
    TRY(std::vector<std::byte> image, image::contents(entry));
    code.images.push_back(std::move(image));
  }
  const auto kir = std::ranges::find(entries, image::FatbinKind::Kir, &image::FatbinEntry::kind);
  const image::FatbinEntry* chosen = best_ptx(entries);
  if (kir != entries.end() && (!chosen || settings().code != "ptx")) chosen = &*kir;
  if (chosen) {
    TRY(std::vector<std::byte> text, image::contents(*chosen));
    code.units.push_back(
        {chosen->kind == image::FatbinKind::Kir ? image::CodeKind::Kir : image::CodeKind::Ptx, std::move(text)});
    return {};
  }
  if (!code.images.empty()) return {};
  if (!entries.empty()) return no_elf(entries.front().sm);
  return fail(ErrorCode::InvalidImage, "the fat binary is empty");
}

/// The wrapper that a program's registration hands over. Version 2, of separately compiled code, has a second pointer:
/// a list of fat binaries that ends with a null pointer.
Result<Code> read_wrapper(const std::byte* bytes) {
  struct Wrapper {
    uint32_t magic, version;
    const std::byte* fatbin;
    const std::byte* const* units;
  } wrapper;
  static_assert(sizeof wrapper == 24);
  std::memcpy(&wrapper, bytes, sizeof wrapper);
  Code code;
  if (wrapper.version == 2 && wrapper.units && *wrapper.units) {
    for (const std::byte* const* unit = wrapper.units; *unit; ++unit) TRY(add_fat_binary(code, *unit, SIZE_MAX));
    return code;
  }
  if (!wrapper.fatbin) return fail(ErrorCode::InvalidImage, "the wrapper of a fat binary points at nothing");
  TRY(add_fat_binary(code, wrapper.fatbin, SIZE_MAX));
  return code;
}

}  // namespace

Result<Code> read_code(const void* data, size_t limit) {
  const auto* bytes = static_cast<const std::byte*>(data);
  Code code;
  if (begins(bytes, limit, kFatbin)) {
    TRY(add_fat_binary(code, bytes, limit));
    return code;
  }
  if (begins(bytes, limit, kWrapper)) {
    if (limit != SIZE_MAX)
      return fail(ErrorCode::InvalidImage, "a fat binary's wrapper makes sense in memory only, not in a file");
    return read_wrapper(bytes);
  }
  if (begins(bytes, limit, kBitcode)) {
    if (limit == SIZE_MAX) {
      TRY(limit, bitcode_size(bytes));
    }
    code.units.push_back(unit_of(image::CodeKind::Kir, {bytes, limit}));
    code.compile_at_load = true;
    return code;
  }
  if (begins(bytes, limit, kImage)) {
    if (limit == SIZE_MAX)
      return fail(ErrorCode::InvalidImage, "a bare kernel image does not say how long it is: put it into a fat binary");
    code.images.emplace_back(bytes, bytes + limit);
    return code;
  }
  if (begins(bytes, limit, kElf)) return no_elf(0);
  if (looks_like_ptx(bytes, limit)) {
    const size_t length = strnlen(reinterpret_cast<const char*>(bytes), limit);
    code.units.push_back(unit_of(image::CodeKind::Ptx, {bytes, length}));
    code.compile_at_load = true;
    return code;
  }
  return fail(ErrorCode::InvalidImage, "this is no fat binary, PTX text, kir bitcode or kernel image");
}

}  // namespace cupola::runtime
