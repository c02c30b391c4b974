#include "cupola/kernel_argument.h"

#include <charconv>
#include <cstring>
#include <type_traits>

namespace cupola::tool {
namespace {

template <typename T>
bool read(std::string_view text, T& value) {
  std::from_chars_result result{};
  if constexpr (std::is_integral_v<T>) {
    const bool hexadecimal = text.starts_with("0x");
    if (hexadecimal) text.remove_prefix(2);
    std::make_unsigned_t<T> bits = 0;  // 0xffffffff is an i32 too
    result = hexadecimal ? std::from_chars(text.data(), text.data() + text.size(), bits, 16)
                         : std::from_chars(text.data(), text.data() + text.size(), value);
    if (hexadecimal) value = static_cast<T>(bits);
  } else {
    result = std::from_chars(text.data(), text.data() + text.size(), value);
  }
  return result.ec == std::errc() && result.ptr == text.data() + text.size();
}

template <typename T>
bool append(std::string_view text, std::vector<std::byte>& bytes) {
  T value = 0;
  if (!read(text, value)) return false;
  const auto* from = reinterpret_cast<const std::byte*>(&value);
  bytes.insert(bytes.end(), from, from + sizeof value);
  return true;
}

template <typename T>
std::string print(const std::byte* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  if constexpr (sizeof value == 1)
    return formatted("{}", static_cast<int>(value));
  else
    return formatted("{}", value);
}

struct NumberType {
  const char* name;
  size_t size;
  bool (*append)(std::string_view, std::vector<std::byte>&);
  std::string (*print)(const std::byte*);
};

template <typename T>
constexpr NumberType row(const char* name) {
  return {name, sizeof(T), append<T>, print<T>};
}

constexpr NumberType kTypes[] = {
    row<int8_t>("i8"),    row<uint8_t>("u8"),  row<int16_t>("i16"),  row<uint16_t>("u16"), row<int32_t>("i32"),
    row<uint32_t>("u32"), row<int64_t>("i64"), row<uint64_t>("u64"), row<float>("f32"),    row<double>("f64"),
};

const NumberType* type_named(std::string_view name) {
  for (const NumberType& type : kTypes)
    if (name == type.name) return &type;
  return nullptr;
}

/// The text up to the next `separator`, which is taken off its front.
std::string_view take(std::string_view& text, char separator) {
  const size_t end = std::min(text.find(separator), text.size());
  const std::string_view head = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return head;
}

constexpr size_t kLargestBuffer = size_t{1} << 32;

}  // namespace

Result<KernelArgument> parse_argument(std::string_view text) {
  const std::string whole(text);
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::InvalidValue, "argument '{}': {}; i32:5, f32:1.5, in:f32:1,2,3 and out:u32:16 are examples",
                whole, why);
  };
  KernelArgument argument;
  std::string_view word = take(text, ':');
  const bool in = word == "in", out = word == "out", both = word == "inout";
  if (in || out || both) {
    argument.kind = KernelArgument::Kind::Buffer;
    argument.prints = !in;
    word = take(text, ':');
  }
  const NumberType* type = type_named(word);
  if (!type) return refuse("its type is none of i8, u8, i16, u16, i32, u32, i64, u64, f32, f64");
  argument.type = type->name;
  if (out) {
    uint64_t count = 0;
    if (!read(text, count) || count == 0 || count > kLargestBuffer / type->size)
      return refuse("the count is no number of elements");
    argument.bytes.resize(count * type->size);
    return argument;
  }
  if (text.empty()) return refuse("the value is missing");
  while (!text.empty()) {
    const std::string_view number = argument.kind == KernelArgument::Kind::Buffer ? take(text, ',') : take(text, '\0');
    if (!type->append(number, argument.bytes)) return refuse(formatted("'{}' is no {}", number, type->name));
  }
  return argument;
}

std::string text_of(const KernelArgument& argument) {
  const NumberType* type = type_named(argument.type);
  std::string text;
  for (size_t at = 0; at + type->size <= argument.bytes.size(); at += type->size)
    text += (at ? " " : "") + type->print(argument.bytes.data() + at);
  return text;
}

}  // namespace cupola::tool
