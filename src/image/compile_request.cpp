#include "image/compile_request.h"

#include "image/content_hash.h"
#include "image/kernel_image.h"
#include "image/wire.h"

namespace cupola::image {
namespace {

constexpr uint64_t kMagic = 0x7473657571706375;  // "ucpquest"

}  // namespace

std::vector<std::byte> serialize(const CompileRequest& request) {
  wire::Writer out;
  out.number(kMagic);
  out.number(kFormatVersion);
  out.text(request.target);
  out.text(request.keep);
  out.blob(request.code);
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
  TRY(request.keep, in.text("keep"));
  TRY(request.code, in.bytes("code"));
  if (in.left() != 0) return fail(ErrorCode::InvalidImage, "compile request: {} bytes follow the code", in.left());
  return request;
}

std::string cache_key(const CompileRequest& request, std::string_view compiler) {
  wire::Writer out;
  out.number(kFormatVersion);
  out.text(compiler);
  out.text(request.target);
  out.blob(request.code);
  return content_hash(out.written()).hex();
}

}  // namespace cupola::image
