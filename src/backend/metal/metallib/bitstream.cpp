#include "backend/metal/metallib/bitstream.h"

namespace cupola::metallib {
namespace {

enum AbbreviationId : uint64_t {
  kEndBlock = 0,
  kEnterBlock = 1,
  kDefineAbbreviation = 2,
  kUnabbreviated = 3,
  kFirstDefined = 4
};
constexpr uint32_t kBlockInfo = 0, kSetBlock = 1;
constexpr unsigned kOutermostWidth = 2, kMostWidth = 32;
constexpr std::string_view kChar6 = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._";

}  // namespace

std::string Record::text(size_t first) const {
  std::string text;
  for (size_t i = first; i < values.size(); ++i) text += static_cast<char>(values[i]);
  return text;
}

std::unexpected<Error> BitstreamReader::wrong(std::string_view what) const {
  return fail(ErrorCode::InvalidImage, "bitcode: {} before bit {}", what, bit_);
}

bool BitstreamReader::at_end() const {
  return bytes_.size() * 8 - bit_ < 32;
}

Result<uint64_t> BitstreamReader::fixed(uint64_t bits) {
  if (bits > 64) return wrong("a field is wider than 64 bits");
  if (bits > bytes_.size() * 8 - bit_) return wrong("it ends early");
  uint64_t value = 0;
  for (uint64_t done = 0; done < bits;) {
    const uint64_t in_byte = bit_ % 8, count = std::min(8 - in_byte, bits - done);
    const uint64_t part = std::to_integer<uint64_t>(bytes_[bit_ / 8]) >> in_byte & ((1u << count) - 1);
    value |= part << done;
    done += count;
    bit_ += count;
  }
  return value;
}

Result<uint64_t> BitstreamReader::vbr(uint64_t bits) {
  if (bits < 2 || bits > kMostWidth) return wrong("a variable field has chunks of a width that cannot be");
  const uint64_t more = uint64_t{1} << (bits - 1);
  uint64_t value = 0;
  for (uint64_t shift = 0; shift < 64; shift += bits - 1) {
    TRY(const uint64_t chunk, fixed(bits));
    value |= (chunk & (more - 1)) << shift;
    if (!(chunk & more)) return value;
  }
  return wrong("a variable field is wider than 64 bits");
}

Result<> BitstreamReader::align() {
  const uint64_t aligned = (bit_ + 31) / 32 * 32;
  if (aligned > bytes_.size() * 8) return wrong("it ends early");
  bit_ = aligned;
  return {};
}

Result<uint32_t> BitstreamReader::word() {
  TRY(const uint64_t value, fixed(32));
  return static_cast<uint32_t>(value);
}

Result<uint64_t> BitstreamReader::field(AbbreviationField field) {
  using enum AbbreviationField::Encoding;
  switch (field.encoding) {
    case Literal:
      return field.value;
    case Fixed:
      return fixed(field.value);
    case Vbr:
      return vbr(field.value);
    case Char6: {
      TRY(const uint64_t index, fixed(6));
      return static_cast<uint64_t>(kChar6[index]);
    }
    case Array:
    case Blob:
      break;
  }
  return wrong("an array or blob stands where a number must");
}

Result<std::shared_ptr<const Abbreviation>> BitstreamReader::abbreviation() {
  using enum AbbreviationField::Encoding;
  Abbreviation fields;
  TRY(const uint64_t count, vbr(5));
  for (uint64_t i = 0; i < count; ++i) {
    AbbreviationField field;
    TRY(const uint64_t literal, fixed(1));
    if (literal) {
      TRY(field.value, vbr(8));
    } else {
      TRY(const uint64_t encoding, fixed(3));
      if (encoding < 1 || encoding > 5) return wrong("an abbreviation has an encoding that there is not");
      field.encoding = static_cast<AbbreviationField::Encoding>(encoding);
      if (field.encoding == Fixed || field.encoding == Vbr) {
        TRY(field.value, vbr(5));
        if (field.value == 0) field = {};  // no bits: the literal 0
      }
    }
    fields.push_back(field);
  }
  // An array says what it holds in the last field; a blob is the last field itself.
  for (size_t i = 0; i < fields.size(); ++i) {
    const bool is_element = i > 0 && fields[i - 1].encoding == Array;
    const size_t last = fields[i].encoding == Array ? fields.size() - 2 : fields.size() - 1;
    const bool is_compound = fields[i].encoding == Array || fields[i].encoding == Blob;
    if (is_compound && (i != last || is_element)) return wrong("an array or blob is not an abbreviation's end");
    if (is_element && fields[i].encoding == Literal) return wrong("an array has elements of no bits");
  }
  if (fields.empty()) return wrong("an abbreviation has no fields");
  if (fields[0].encoding == Array || fields[0].encoding == Blob) return wrong("an abbreviation has no code");
  return std::make_shared<const Abbreviation>(std::move(fields));
}

Result<Record> BitstreamReader::unabbreviated_record() {
  Record record;
  TRY(const uint64_t code, vbr(6));
  TRY(const uint64_t count, vbr(6));
  record.code = static_cast<uint32_t>(code);
  for (uint64_t i = 0; i < count; ++i) {
    TRY(const uint64_t value, vbr(6));
    record.values.push_back(value);
  }
  return record;
}

Result<Record> BitstreamReader::abbreviated_record(const Abbreviation& abbreviation) {
  using enum AbbreviationField::Encoding;
  Record record;
  TRY(const uint64_t code, field(abbreviation[0]));
  record.code = static_cast<uint32_t>(code);
  for (size_t i = 1; i < abbreviation.size(); ++i) {
    if (abbreviation[i].encoding == Array) {
      TRY(const uint64_t count, vbr(6));
      for (uint64_t k = 0; k < count; ++k) {
        TRY(const uint64_t value, field(abbreviation[i + 1]));
        record.values.push_back(value);
      }
      break;
    }
    if (abbreviation[i].encoding == Blob) {
      TRY(const uint64_t count, vbr(6));
      TRY(align());
      if (count > bytes_.size() - bit_ / 8) return wrong("a blob ends behind the module");
      record.blob = bytes_.subspan(bit_ / 8, count);
      bit_ += count * 8;
      TRY(align());
      break;
    }
    TRY(const uint64_t value, field(abbreviation[i]));
    record.values.push_back(value);
  }
  return record;
}

Result<BitstreamReader::Item> BitstreamReader::next() {
  while (true) {
    if (scopes_.empty() && at_end()) return Item{};
    const unsigned width = scopes_.empty() ? kOutermostWidth : scopes_.back().width;
    TRY(const uint64_t id, fixed(width));
    if (id == kEnterBlock) {
      TRY(const uint64_t block, vbr(8));
      TRY(const uint64_t new_width, vbr(4));
      TRY(align());
      TRY(const uint32_t words, word());
      if (new_width < kOutermostWidth || new_width > kMostWidth)
        return wrong("a block has numbers of a width that cannot be");
      if (words > (bytes_.size() * 8 - bit_) / 32) return wrong("a block ends behind the module");
      next_block_ = static_cast<uint32_t>(block);
      next_width_ = static_cast<unsigned>(new_width);
      next_end_ = bit_ + uint64_t{words} * 32;
      if (block == kBlockInfo) {
        TRY(read_block_info());
        continue;
      }
      return Item{Item::Kind::Block, next_block_, {}};
    }
    if (scopes_.empty()) return wrong("something stands outside all blocks");
    if (id == kEndBlock) {
      TRY(align());
      scopes_.pop_back();
      return Item{};
    }
    Abbreviations& abbreviations = scopes_.back().abbreviations;
    if (id == kDefineAbbreviation) {
      TRY(auto defined, abbreviation());
      abbreviations.push_back(std::move(defined));
      continue;
    }
    Item item{Item::Kind::Record, scopes_.back().block, {}};
    if (id == kUnabbreviated) {
      TRY(item.record, unabbreviated_record());
    } else {
      if (id - kFirstDefined >= abbreviations.size()) return wrong("a record has an abbreviation that is not defined");
      TRY(item.record, abbreviated_record(*abbreviations[id - kFirstDefined]));
    }
    return item;
  }
}

Result<> BitstreamReader::enter() {
  if (scopes_.size() == kMostScopes) return wrong("blocks are nested too deeply");
  scopes_.push_back({next_block_, next_width_, block_info_[next_block_]});
  return {};
}

Result<> BitstreamReader::read_block_info() {
  std::optional<uint32_t> current;
  while (true) {
    TRY(const uint64_t id, fixed(next_width_));
    if (id == kEndBlock) return align();
    if (id == kDefineAbbreviation) {
      if (!current) return wrong("BLOCKINFO has an abbreviation for no block");
      TRY(auto defined, abbreviation());
      block_info_[*current].push_back(std::move(defined));
    } else if (id == kUnabbreviated) {
      TRY(const Record record, unabbreviated_record());
      if (record.code == kSetBlock && !record.values.empty()) current = static_cast<uint32_t>(record.values[0]);
    } else {
      return wrong("BLOCKINFO has something that cannot be there");
    }
  }
}

}  // namespace cupola::metallib
