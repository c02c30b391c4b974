#include "image/code.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "base/settings.h"
#include "image/bitcode.h"
#include "image/device_unit.h"
#include "image/expression_frame.h"
#include "image/fatbin.h"
#include "image/lto_code.h"
#include "image/object_file.h"

namespace cupola::image {
namespace {

constexpr std::string_view kBitcode = "BC\xC0\xDE", kFatbin = "\x50\xED\x55\xBA", kWrapper = "\xB1\x43\x62\x46",
                           kElf =
                               "\x7F"
                               "ELF",
                           kImage = "cupimage", kMetallib = "MTLB";

/// Where objects hold code: units of separate compilation, and what cupolac compiled whole.
constexpr std::string_view kUnitSection = ".llvm.offloading", kFatbinSection = ".nv_fatbin";

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

CodeUnit unit_of(CodeKind kind, std::span<const std::byte> bytes) {
  return {kind, {bytes.begin(), bytes.end()}};
}

/// The PTX to compile: the newest up to the device's architecture, or else the oldest.
const FatbinEntry* best_ptx(std::span<const FatbinEntry> entries) {
  const FatbinEntry* best = nullptr;
  for (const FatbinEntry& entry : entries) {
    if (entry.kind != FatbinKind::Ptx) continue;
    const bool fits = entry.sm <= kArchitecture;
    const bool best_fits = best && best->sm <= kArchitecture;
    if (!best || (fits && (!best_fits || entry.sm > best->sm)) || (!fits && !best_fits && entry.sm < best->sm))
      best = &entry;
  }
  return best;
}

/// A container of compiled kernels says in its header how long it is; the device reads the rest.
Result<std::span<const std::byte>> metallib_at(const std::byte* bytes, size_t limit) {
  constexpr size_t kSizeAt = 16, kHeaderBytes = 88;
  uint64_t size = 0;
  if (limit >= kHeaderBytes) std::memcpy(&size, bytes + kSizeAt, sizeof size);
  if (size < kHeaderBytes || size > limit)
    return fail(ErrorCode::InvalidImage, "this .metallib is cut: {}",
                limit < kHeaderBytes ? formatted("{} bytes are less than a header", limit)
                                     : formatted("its header says {} bytes, there are {}", size, limit));
  return std::span(bytes, size);
}

/// Adds what one fat binary holds.
Result<> add_fat_binary(Code& code, const std::byte* bytes, size_t limit) {
  TRY(std::vector<FatbinEntry> entries, read_fatbin(bytes, limit));
  for (const FatbinEntry& entry : entries) {
    if (entry.kind != FatbinKind::KernelImage) continue;
    TRY(std::vector<std::byte> image, contents(entry));
    code.images.push_back(std::move(image));
  }
  const auto kir = std::ranges::find(entries, FatbinKind::Kir, &FatbinEntry::kind);
  const FatbinEntry* chosen = best_ptx(entries);
  if (kir != entries.end() && (!chosen || settings().code != "ptx")) chosen = &*kir;
  if (chosen) {
    TRY(std::vector<std::byte> text, contents(*chosen));
    code.units.push_back({chosen->kind == FatbinKind::Kir ? CodeKind::Kir : CodeKind::Ptx, std::move(text)});
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

Result<> add_object(Code& code, std::string_view object) {
  TRY(const std::vector<DeviceUnit> units, read_units(std::as_bytes(std::span(section_of(object, kUnitSection)))));
  for (const DeviceUnit& unit : units) TRY(add_fat_binary(code, unit.fatbin.data(), unit.fatbin.size()));
  if (!units.empty()) return {};
  const std::string_view whole = section_of(object, kFatbinSection);
  if (whole.empty()) return no_elf(0);
  return add_fat_binary(code, reinterpret_cast<const std::byte*>(whole.data()), whole.size());
}

/// What the members hold; those without device code are the host's.
Result<> add_archive(Code& code, std::string_view archive) {
  TRY(const std::vector<ArchiveMember> members, members_of(archive));
  for (const ArchiveMember& member : members)
    if (const Result<> added = add_object(code, member.bytes);
        !added && added.error().code != ErrorCode::NoBinaryForGpu)
      return fail(added.error().code, "{}: {}", member.name, added.error().message);
  if (code.units.empty())
    return fail(ErrorCode::NoBinaryForGpu, "none of the archive's {} members holds device code that cupolac made",
                members.size());
  return {};
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
    code.units.push_back(unit_of(CodeKind::Kir, {bytes, limit}));
    code.compile_at_load = true;
    return code;
  }
  if (begins(bytes, limit, kImage)) {
    if (limit == SIZE_MAX)
      return fail(ErrorCode::InvalidImage, "a bare kernel image does not say how long it is: put it into a fat binary");
    code.images.emplace_back(bytes, bytes + limit);
    return code;
  }
  if (begins(bytes, limit, kExpressionMagic)) {
    TRY(const std::span<const std::byte> expression, expression_at(bytes, limit));
    code.units.push_back(unit_of(CodeKind::Expression, expression));
    code.compile_at_load = true;
    return code;
  }
  if (begins(bytes, limit, kMetallib)) {
    TRY(const std::span<const std::byte> library, metallib_at(bytes, limit));
    code.images.emplace_back(library.begin(), library.end());
    code.compile_at_load = true;
    return code;
  }
  if (limit != SIZE_MAX) {
    const std::string_view text(reinterpret_cast<const char*>(bytes), limit);
    if (is_lto({bytes, limit})) {
      TRY(const std::span<const std::byte> kir, read_lto({bytes, limit}));
      code.units.push_back(unit_of(CodeKind::Kir, kir));
      code.compile_at_load = true;
      return code;
    }
    if (begins(bytes, limit, kElf)) {
      TRY(add_object(code, text));
      return code;
    }
    if (is_archive(text)) {
      TRY(add_archive(code, text));
      return code;
    }
  }
  if (begins(bytes, limit, kElf)) return no_elf(0);
  if (looks_like_ptx(bytes, limit)) {
    const size_t length = strnlen(reinterpret_cast<const char*>(bytes), limit);
    code.units.push_back(unit_of(CodeKind::Ptx, {bytes, length}));
    code.compile_at_load = true;
    return code;
  }
  return fail(ErrorCode::InvalidImage,
              "this is no fat binary, PTX text, kir bitcode, kernel image, expression or .metallib");
}

}  // namespace cupola::image
