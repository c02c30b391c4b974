#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/result.h"

// How images and requests look as bytes: little-endian integers of fixed width; strings and blobs behind a 64-bit
// length; lists behind a 32-bit count. One value has one encoding, so that equal bytes and equal values are the same
// thing.

namespace cupola::image::wire {

/// Appends values, in the order in which a Reader is to take them. One thread at a time.
class Writer {
 public:
  template <typename T>
    requires std::is_unsigned_v<T>
  void number(T value) {
    for (size_t i = 0; i < sizeof(T); ++i) bytes_.push_back(static_cast<std::byte>(value >> (8 * i)));
  }
  void flag(bool value) { number<uint8_t>(value); }
  void blob(std::span<const std::byte> value) {
    number<uint64_t>(value.size());
    bytes_.insert(bytes_.end(), value.begin(), value.end());
  }
  void text(std::string_view value) { blob(std::as_bytes(std::span(value))); }
  void count(size_t items) { number(static_cast<uint32_t>(items)); }

  std::span<const std::byte> written() const { return bytes_; }
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

/// Takes values from the front of a byte range. Every error is InvalidImage and names the field and where it was;
/// nothing is allocated that the bytes still to come could not fill.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
    requires std::is_unsigned_v<T>
  Result<T> number(const char* field) {
    if (left() < sizeof(T)) return truncated(field);
    T value = 0;
    for (size_t i = 0; i < sizeof(T); ++i) value |= static_cast<T>(static_cast<T>(bytes_[at_ + i]) << (8 * i));
    at_ += sizeof(T);
    return value;
  }
  Result<bool> flag(const char* field) {
    TRY(uint8_t value, number<uint8_t>(field));
    if (value > 1) return fail(ErrorCode::InvalidImage, "image: {} is {}, not 0 or 1", field, value);
    return value == 1;
  }
  Result<std::span<const std::byte>> blob(const char* field) {
    TRY(uint64_t size, number<uint64_t>(field));
    if (size > left()) return truncated(field);
    std::span<const std::byte> value = bytes_.subspan(at_, size);
    at_ += size;
    return value;
  }
  Result<std::vector<std::byte>> bytes(const char* field) {
    TRY(std::span<const std::byte> value, blob(field));
    return std::vector<std::byte>(value.begin(), value.end());
  }
  Result<std::string> text(const char* field) {
    TRY(std::span<const std::byte> value, blob(field));
    return std::string(reinterpret_cast<const char*>(value.data()), value.size());
  }
  /// How many items follow, of which each takes `item_bytes` at least.
  Result<uint32_t> count(const char* field, size_t item_bytes) {
    TRY(uint32_t items, number<uint32_t>(field));
    if (items > left() / item_bytes) return truncated(field);
    return items;
  }

  size_t left() const { return bytes_.size() - at_; }

 private:
  std::unexpected<Error> truncated(const char* field) const {
    return fail(ErrorCode::InvalidImage, "image: {} at byte {} runs past the end, at {}", field, at_, bytes_.size());
  }

  std::span<const std::byte> bytes_;
  size_t at_ = 0;
};

}  // namespace cupola::image::wire
