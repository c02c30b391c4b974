#include "runtime/code.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <span>
#include <string_view>

#include "image/fatbin.h"
#include "runtime/bitcode.h"

namespace cupola::runtime {
namespace {

constexpr std::string_view kBitcode = "BC\xC0\xDE", kFatbin = "\x50\xED\x55\xBA", kWrapper = "\xB1\x43\x62\x46",
                           kElf =
                               "\x7F"
                               "ELF",
                           kImage = "cupimage";

/// True if the bytes begin so; reads no further than the first that differs.
bool begins(const std::byte* bytes, size_t limit, std::string_view magic) {
  for (size_t i = 0; i < magic.size(); ++i) {
    if (i >= limit || static_cast<char>(bytes[i]) != magic[i]) return false;
  }
  return true;
}

bool looks_like_ptx(const std::byte* bytes, size_t limit) {
  size_t at = 0;
  const auto character = [&] { return at < limit ? static_cast<char>(bytes[at]) : '\0'; };
  for (;;) {
    while (std::strchr(" \t\r\n", character()) && character()) ++at;
    if (!begins(bytes + at, limit - at, "//")) break;
    while (character() && character() != '\n') ++at;
  }
  return begins(bytes + at, limit - at, ".version") || begins(bytes + at, limit - at, "/*");
}

std::unexpected<Error> no_ptx() {
  return fail(ErrorCode::NotSupported, "this is PTX, which Cupola does not read yet: compile the source with cupolac");
}

std::unexpected<Error> no_elf() {
  return fail(ErrorCode::NoBinaryForGpu,
              "this is machine code for NVIDIA GPUs, which cannot run here: compile the source with cupolac");
}

Code copy_of(Code::Kind kind, std::span<const std::byte> bytes) {
  return {kind, {bytes.begin(), bytes.end()}};
}

Result<Code> read_fat_binary(const std::byte* bytes, size_t limit) {
  TRY(std::vector<image::FatbinEntry> entries, image::read_fatbin(bytes, limit));
  const auto entry = [&](image::FatbinKind kind) {
    auto found = std::ranges::find(entries, kind, &image::FatbinEntry::kind);
    return found == entries.end() ? nullptr : &*found;
  };
  for (const auto& [kind, code] : {std::pair{image::FatbinKind::KernelImage, Code::Kind::Image},
                                   std::pair{image::FatbinKind::Kir, Code::Kind::Kir}}) {
    const image::FatbinEntry* found = entry(kind);
    if (!found) continue;
    if (found->uncompressed_size)
      return fail(ErrorCode::NotSupported, "the fat binary's kernel code is compressed, which is not there yet");
    return copy_of(code, found->payload);
  }
  if (entry(image::FatbinKind::Ptx)) return no_ptx();
  if (!entries.empty()) return no_elf();
  return fail(ErrorCode::InvalidImage, "the fat binary is empty");
}

}  // namespace

Result<Code> read_code(const void* data, size_t limit) {
  const auto* bytes = static_cast<const std::byte*>(data);
  if (begins(bytes, limit, kFatbin)) return read_fat_binary(bytes, limit);
  if (begins(bytes, limit, kWrapper)) {
    constexpr size_t kWrapperBytes = 24, kPointerOffset = 8;
    if (limit != SIZE_MAX)
      return fail(ErrorCode::InvalidImage, "a fat binary's wrapper makes sense in memory only, not in a file");
    static_assert(kPointerOffset + sizeof(void*) <= kWrapperBytes);
    const std::byte* fatbin = nullptr;
    std::memcpy(&fatbin, bytes + kPointerOffset, sizeof fatbin);
    return read_fat_binary(fatbin, SIZE_MAX);
  }
  if (begins(bytes, limit, kBitcode)) {
    if (limit == SIZE_MAX) {
      TRY(limit, bitcode_size(bytes));
    }
    return copy_of(Code::Kind::Kir, {bytes, limit});
  }
  if (begins(bytes, limit, kImage)) {
    if (limit == SIZE_MAX)
      return fail(ErrorCode::InvalidImage, "a bare kernel image does not say how long it is: put it into a fat binary");
    return copy_of(Code::Kind::Image, {bytes, limit});
  }
  if (begins(bytes, limit, kElf)) return no_elf();
  if (looks_like_ptx(bytes, limit)) return no_ptx();
  return fail(ErrorCode::InvalidImage, "this is no fat binary, kir bitcode or kernel image");
}

Result<std::vector<std::byte>> read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorCode::FileNotFound, "cannot read '{}'", path);
  std::vector<char> text{std::istreambuf_iterator<char>(file), {}};
  const auto* bytes = reinterpret_cast<const std::byte*>(text.data());
  return std::vector<std::byte>(bytes, bytes + text.size());
}

}  // namespace cupola::runtime
