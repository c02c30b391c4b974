#include "backend/metal/metallib/function_tags.h"

namespace cupola::metallib {
namespace {

Result<> read_name(ByteReader& value, Function& function, FunctionPlace&) {
  TRY(function.name, value.text());
  if (function.name.empty()) return value.wrong("the function before {} has no name", value.offset());
  return {};
}

Result<> read_kind(ByteReader& value, Function& function, FunctionPlace&) {
  TRY(const uint8_t kind, value.number<uint8_t>());
  function.kind = static_cast<FunctionKind>(kind);
  return {};
}

Result<> read_hash(ByteReader& value, Function& function, FunctionPlace&) {
  TRY(function.hash, value.number<Sha256>());
  return {};
}

Result<> read_place(ByteReader& value, Function&, FunctionPlace& place) {
  TRY(place.public_metadata, value.number<uint64_t>());
  TRY(place.private_metadata, value.number<uint64_t>());
  TRY(place.module, value.number<uint64_t>());
  return {};
}

Result<> read_versions(ByteReader& value, Function& function, FunctionPlace&) {
  TRY(function.air, value.number<Version>());
  TRY(function.language, value.number<Version>());
  return {};
}

Result<> read_module_size(ByteReader& value, Function&, FunctionPlace& place) {
  TRY(place.module_bytes, value.number<uint64_t>());
  return {};
}

template <std::optional<uint64_t> Function::* member>
Result<> read_offset(ByteReader& value, Function& function, FunctionPlace&) {
  TRY(function.*member, value.number<uint64_t>());
  return {};
}

template <std::optional<uint64_t> Function::* member>
void write_offset(ByteWriter& value, const Function& function, const FunctionPlace&) {
  value.number((function.*member).value_or(0));
}

void write_name(ByteWriter& value, const Function& function, const FunctionPlace&) {
  value.text(function.name);
}

void write_kind(ByteWriter& value, const Function& function, const FunctionPlace&) {
  value.number(function.kind);
}

void write_hash(ByteWriter& value, const Function& function, const FunctionPlace&) {
  value.bytes(function.hash);
}

void write_place(ByteWriter& value, const Function&, const FunctionPlace& place) {
  value.number(place.public_metadata);
  value.number(place.private_metadata);
  value.number(place.module);
}

void write_versions(ByteWriter& value, const Function& function, const FunctionPlace&) {
  value.number(function.air);
  value.number(function.language);
}

void write_module_size(ByteWriter& value, const Function&, const FunctionPlace& place) {
  value.number(place.module_bytes);
}

constexpr FunctionTag kTags[] = {
    {"NAME", true, 0, read_name, write_name},
    {"TYPE", true, 1, read_kind, write_kind},
    {"HASH", true, 32, read_hash, write_hash},
    {"OFFT", true, 24, read_place, write_place},
    {"VERS", true, 8, read_versions, write_versions},
    {"MDSZ", true, 8, read_module_size, write_module_size},
    {"SOFF", false, 8, read_offset<&Function::source>, write_offset<&Function::source>},
    {"RFLT", false, 8, read_offset<&Function::reflection>, write_offset<&Function::reflection>},
};

}  // namespace

std::span<const FunctionTag> function_tags() {
  return kTags;
}

const FunctionTag* function_tag(TagName name) {
  for (const FunctionTag& row : kTags)
    if (row.name == name) return &row;
  return nullptr;
}

}  // namespace cupola::metallib
