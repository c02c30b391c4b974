#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

// What a .metallib is made of: numbers (little-endian), strings that end in a zero byte, and tags: a name of four
// characters, a length, a value. Tags stand in groups, which ENDT ends.

namespace cupola::metallib {

using Bytes = std::span<const std::byte>;

/// Four characters.
struct TagName {
  char text[4] = {};
  constexpr TagName() = default;
  consteval TagName(const char (&name)[5]) { std::copy_n(name, 4, text); }
  friend auto operator<=>(const TagName&, const TagName&) = default;
};

/// Bytes of a file for a line of text: all but printable ASCII as \xHH.
std::string printable(std::string_view bytes);
std::string text_of(TagName name);

struct Tag {
  TagName name;
  Bytes value;
};

/// What the size in front of a group counts: its tags, with or without itself.
enum class GroupSize { WithItself, WithoutItself };

/// Reads a part of a file from its start to its end. Nothing is read outside; an error names the part and the offset in
/// the file, as InvalidImage.
class ByteReader {
 public:
  /// Bytes [start, end) of `file`; the caller knows that they are there. `part` outlives the reader.
  ByteReader(Bytes file, uint64_t start, uint64_t end, std::string_view part)
      : file_(file), at_(start), end_(end), part_(part) {}

  uint64_t offset() const { return at_; }  ///< in the file
  bool at_end() const { return at_ == end_; }
  std::string_view part() const { return part_; }

  Result<Bytes> take(uint64_t count);
  template <typename T>
  Result<T> number() {
    TRY(const Bytes bytes, take(sizeof(T)));
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  Result<std::string> text();  ///< up to the zero byte, which is taken too

  Result<std::vector<Tag>> tags();  ///< up to ENDT, which is taken too
  Result<std::vector<Tag>> group(GroupSize counts);
  Result<> expect_end() const;

  /// InvalidImage, with the part in front: "metallib: function list: ...".
  template <typename... Args>
  std::unexpected<Error> wrong(fmt::format_string<Args...> text, Args&&... args) const {
    return fail(ErrorCode::InvalidImage, "metallib: {}: {}", part_, formatted(text, std::forward<Args>(args)...));
  }

 private:
  Bytes file_;
  uint64_t at_, end_;
  std::string_view part_;
};

/// Bytes in the making.
class ByteWriter {
 public:
  uint64_t size() const { return bytes_.size(); }
  void bytes(Bytes value) { bytes_.insert(bytes_.end(), value.begin(), value.end()); }
  void text(std::string_view value);  ///< and the zero byte
  template <typename T>
  void number(T value) {
    bytes(std::as_bytes(std::span(&value, 1)));
  }
  /// Replaces a number that was written at `offset`.
  template <typename T>
  void set(uint64_t offset, T value) {
    std::memcpy(bytes_.data() + offset, &value, sizeof value);
  }
  /// Error: InvalidValue for a value that is longer than its length field can say.
  Result<> tag(TagName name, Bytes value);
  Result<> tags(std::span<const Tag> tags);  ///< and ENDT
  Result<> group(std::span<const Tag> tags, GroupSize counts);

  std::vector<std::byte> finish() && { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace cupola::metallib
