#include "backend/metal/metallib/build.h"

#include <set>

#include "backend/metal/metallib/bitcode_wrapper.h"
#include "backend/metal/metallib/function_tags.h"

namespace cupola::metallib {
namespace {

constexpr ContainerVersion kFirstWithPlatform = {1, 2, 6};
constexpr size_t kUuidBytes = 16;

Result<> check(const FunctionSource& source, const Release& release, std::set<std::string>& names) {
  if (!names.insert(source.name).second)
    return fail(ErrorCode::InvalidValue, "metallib: function '{}' is given twice", printable(source.name));
  if (const Result<Bytes> bitcode = unwrapped(source.bitcode); !bitcode)
    return fail(ErrorCode::InvalidValue, "metallib: function '{}': {}", printable(source.name),
                bitcode.error().message);
  if (source.air > release.air || source.language > release.language)
    return fail(ErrorCode::InvalidValue, "metallib: function '{}' has AIR {} and MSL {}; macOS {} takes {} and {}",
                printable(source.name), text_of(source.air.value_or(release.air)),
                text_of(source.language.value_or(release.language)), release.macos, text_of(release.air),
                text_of(release.language));
  return {};
}

/// Apple's compiler takes random numbers; ours come from the modules, so that equal input gives equal files. The bits
/// that say "random" (RFC 9562) are set as they are in Apple's.
std::vector<std::byte> uuid_of(const std::vector<Function>& functions) {
  ByteWriter all;
  for (const Function& function : functions) {
    all.text(function.name);
    all.bytes(function.hash);
  }
  const Sha256 hash = sha256(std::move(all).finish());
  std::vector<std::byte> uuid(hash.begin(), hash.begin() + kUuidBytes);
  uuid[6] = (uuid[6] & std::byte{0x0F}) | std::byte{0x40};
  uuid[8] = (uuid[8] & std::byte{0x3F}) | std::byte{0x80};
  return uuid;
}

}  // namespace

std::vector<std::byte> wrapped(Bytes bitcode) {
  ByteWriter out;
  if (is_wrapped(bitcode)) {
    out.bytes(bitcode);
    return std::move(out).finish();
  }
  for (const uint32_t word : {kWrapperMagic, 0u, kWrapperBytes, static_cast<uint32_t>(bitcode.size()), kAnyProcessor})
    out.number(word);
  out.bytes(bitcode);
  while (out.size() % 16) out.number(uint8_t{0});
  return std::move(out).finish();
}

Result<std::vector<std::byte>> build(std::span<const FunctionSource> sources, const BuildTarget& target) {
  TRY(const Release release, release_of(target.macos.major));
  Library library;
  library.header.version = release.container;
  if (release.container >= kFirstWithPlatform) {
    library.header.platform = Platform::MacOs;
    library.header.is_64bit = true;
    library.header.os = target.macos;
  }
  std::set<std::string> names;
  std::vector<std::vector<std::byte>> modules;
  for (const FunctionSource& source : sources) {
    TRY(check(source, release, names));
    modules.push_back(wrapped(source.bitcode));
    Function function;
    function.name = source.name;
    function.kind = source.kind;
    function.module = modules.back();
    function.hash = sha256(function.module);
    function.air = source.air.value_or(release.air);
    function.language = source.language.value_or(release.language);
    for (const FunctionTag& row : function_tags())
      if (row.required) function.tags.push_back({row.name, {}});
    library.functions.push_back(std::move(function));
  }
  const std::vector<std::byte> uuid = uuid_of(library.functions);
  library.extension = {{"UUID", uuid}};
  return write(library);
}

}  // namespace cupola::metallib
