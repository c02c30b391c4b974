#include "image/compile_request.h"

#include "image/content_hash.h"
#include "image/kernel_image.h"
#include "image/wire.h"

namespace cupola::image {
namespace {

constexpr uint64_t kMagic = 0x7473657571706375;  // "ucpquest"

void write_units(wire::Writer& out, const CompileRequest& request) {
  out.count(request.units.size());
  for (const CodeUnit& unit : request.units) {
    out.number(static_cast<uint8_t>(unit.kind));
    out.blob(unit.bytes);
  }
}

constexpr uint8_t kFlush = 1, kContract = 2, kRelocatable = 4, kKeepInline = 8, kRoots = 16, kQuotients = 32,
                  kExterns = 64;

uint8_t bits_of(const CodeOptions& options) {
  return static_cast<uint8_t>((options.flush_denormals ? kFlush : 0) | (options.contract ? kContract : 0) |
                              (options.relocatable ? kRelocatable : 0) | (options.keep_inline ? kKeepInline : 0) |
                              (options.approximate_roots ? kRoots : 0) |
                              (options.approximate_quotients ? kQuotients : 0) | (options.externs ? kExterns : 0));
}

CodeOptions options_of(uint8_t bits) {
  return {.flush_denormals = (bits & kFlush) != 0,
          .contract = (bits & kContract) != 0,
          .relocatable = (bits & kRelocatable) != 0,
          .approximate_roots = (bits & kRoots) != 0,
          .approximate_quotients = (bits & kQuotients) != 0,
          .externs = (bits & kExterns) != 0,
          .keep_inline = (bits & kKeepInline) != 0};
}

}  // namespace

std::vector<std::byte> serialize(const CompileRequest& request) {
  wire::Writer out;
  out.number(kMagic);
  out.number(kFormatVersion);
  out.text(request.target);
  out.text(request.code);
  out.text(request.keep);
  out.number(bits_of(request.options));
  write_units(out, request);
  return out.take();
}

Result<CompileRequest> deserialize_request(std::span<const std::byte> bytes) {
  wire::Reader in(bytes);
  TRY(uint64_t magic, in.number<uint64_t>("magic"));
  if (magic != kMagic) return fail(ErrorCode::InvalidImage, "compile request: magic is {:#x}", magic);
  TRY(uint32_t version, in.number<uint32_t>("version"));
  if (version != kFormatVersion)
    return fail(
        ErrorCode::InvalidImage,
        "compile request: format version {}, but this libcupola-compiler speaks {}; install both from one build",
        version, kFormatVersion);
  CompileRequest request;
  TRY(request.target, in.text("target"));
  TRY(request.code, in.text("which code"));
  TRY(request.keep, in.text("keep"));
  TRY(const uint8_t options, in.number<uint8_t>("options"));
  if (bits_of(options_of(options)) != options)
    return fail(ErrorCode::InvalidImage, "compile request: options {:#x} are unknown", options);
  request.options = options_of(options);
  TRY(uint32_t units, in.number<uint32_t>("number of code units"));
  for (uint32_t i = 0; i < units; ++i) {
    CodeUnit unit;
    TRY(uint8_t kind, in.number<uint8_t>("kind of code"));
    if (kind > static_cast<uint8_t>(CodeKind::Expression))
      return fail(ErrorCode::InvalidImage, "compile request: code of unknown kind {}", kind);
    unit.kind = static_cast<CodeKind>(kind);
    TRY(unit.bytes, in.bytes("code"));
    request.units.push_back(std::move(unit));
  }
  if (request.units.empty()) return fail(ErrorCode::InvalidImage, "compile request: it holds no code");
  if (in.left() != 0) return fail(ErrorCode::InvalidImage, "compile request: {} bytes follow the code", in.left());
  return request;
}

std::string cache_key(const CompileRequest& request, std::string_view compiler) {
  wire::Writer out;
  out.number(kFormatVersion);
  out.text(compiler);
  out.text(request.target);
  out.text(request.code);
  out.number(bits_of(request.options));
  write_units(out, request);
  return content_hash(out.written()).hex();
}

}  // namespace cupola::image
