#include "image/source_request.h"

#include "image/kernel_image.h"
#include "image/wire.h"

namespace cupola::image {
namespace {

constexpr uint64_t kRequestMagic = 0x6372736575716370;  // "pcquesrc"
constexpr uint64_t kAnswerMagic = 0x637273736e617063;   // "cpanssrc"

void write_texts(wire::Writer& out, const std::vector<std::string>& texts) {
  out.count(texts.size());
  for (const std::string& text : texts) out.text(text);
}

Result<std::vector<std::string>> read_texts(wire::Reader& in, const char* field) {
  TRY(const uint32_t count, in.count(field, 8));
  std::vector<std::string> texts(count);
  for (std::string& text : texts) {
    TRY(text, in.text(field));
  }
  return texts;
}

Result<> check_header(wire::Reader& in, uint64_t expected) {
  TRY(const uint64_t magic, in.number<uint64_t>("magic"));
  if (magic != expected) return fail(ErrorCode::InvalidImage, "source request: magic is {:#x}", magic);
  TRY(const uint32_t version, in.number<uint32_t>("version"));
  if (version == kFormatVersion) return {};
  return fail(ErrorCode::InvalidImage,
              "source request: format version {}, but this libcupola-frontend speaks {}; install both from one build",
              version, kFormatVersion);
}

Result<> check_end(const wire::Reader& in) {
  if (in.left() == 0) return {};
  return fail(ErrorCode::InvalidImage, "source request: {} bytes follow the last field", in.left());
}

}  // namespace

std::vector<std::byte> serialize(const SourceRequest& request) {
  wire::Writer out;
  out.number(kRequestMagic);
  out.number(kFormatVersion);
  out.text(request.name);
  out.text(request.source);
  out.text(request.prologue);
  out.count(request.headers.size());
  for (const SourceHeader& header : request.headers) {
    out.text(header.name);
    out.text(header.text);
  }
  write_texts(out, request.include_folders);
  write_texts(out, request.name_expressions);
  out.text(request.architecture);
  out.text(request.standard);
  out.text(request.cache);
  out.number(request.flags);
  return out.take();
}

Result<SourceRequest> deserialize_source_request(std::span<const std::byte> bytes) {
  wire::Reader in(bytes);
  TRY(check_header(in, kRequestMagic));
  SourceRequest request;
  TRY(request.name, in.text("name"));
  TRY(request.source, in.text("source"));
  TRY(request.prologue, in.text("prologue"));
  TRY(const uint32_t headers, in.count("headers", 16));
  request.headers.resize(headers);
  for (SourceHeader& header : request.headers) {
    TRY(header.name, in.text("name of a header"));
    TRY(header.text, in.text("text of a header"));
  }
  TRY(request.include_folders, read_texts(in, "include folders"));
  TRY(request.name_expressions, read_texts(in, "name expressions"));
  TRY(request.architecture, in.text("architecture"));
  TRY(request.standard, in.text("standard"));
  TRY(request.cache, in.text("cache folder"));
  TRY(request.flags, in.number<uint32_t>("flags"));
  if (request.flags & ~kAllFlags)
    return fail(ErrorCode::InvalidImage, "source request: flags are {:#x}", request.flags);
  TRY(check_end(in));
  return request;
}

std::vector<std::byte> serialize(const SourceAnswer& answer) {
  wire::Writer out;
  out.number(kAnswerMagic);
  out.number(kFormatVersion);
  out.flag(answer.compiled);
  out.text(answer.log);
  out.blob(answer.kir);
  write_texts(out, answer.lowered_names);
  return out.take();
}

Result<SourceAnswer> deserialize_source_answer(std::span<const std::byte> bytes) {
  wire::Reader in(bytes);
  TRY(check_header(in, kAnswerMagic));
  SourceAnswer answer;
  TRY(answer.compiled, in.flag("whether it was compiled"));
  TRY(answer.log, in.text("log"));
  TRY(answer.kir, in.bytes("kir"));
  TRY(answer.lowered_names, read_texts(in, "lowered names"));
  TRY(check_end(in));
  return answer;
}

}  // namespace cupola::image
