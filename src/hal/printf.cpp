#include "hal/printf.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

namespace cupola::hal {
namespace {

class Arguments {
 public:
  explicit Arguments(const void* begin) : begin_(static_cast<const std::byte*>(begin)) {}

  template <typename T>
  T take() {
    offset_ = (offset_ + sizeof(T) - 1) / sizeof(T) * sizeof(T);
    T value;
    std::memcpy(&value, begin_ + offset_, sizeof(T));
    offset_ += sizeof(T);
    ++count_;
    return value;
  }
  int count() const { return count_; }

 private:
  const std::byte* begin_;
  size_t offset_ = 0;
  int count_ = 0;
};

struct Specifier {
  char flags[6] = "";
  bool has_width = false, star_width = false, has_precision = false, star_precision = false;
  int width = 0, precision = 0;
  int length = 0;  ///< -2 hh, -1 h, 0 none, 1 l, 2 ll, z, j or t
  char conversion = 0;
  const char* end = nullptr;  ///< one past the specifier
};

int read_number(const char*& at) {
  int number = 0;
  while (*at >= '0' && *at <= '9') {
    const int digit = *at++ - '0';
    if (number < 100'000'000) number = number * 10 + digit;
  }
  return number;
}

int read_length(const char*& at) {
  if (at[0] == 'h') return at[1] == 'h' ? (at += 2, -2) : (++at, -1);
  if (at[0] == 'l') return at[1] == 'l' ? (at += 2, 2) : (++at, 1);
  if (at[0] == 'z' || at[0] == 'j' || at[0] == 't') return ++at, 2;
  if (at[0] == 'L') ++at;  // a long double is a double on the device
  return 0;
}

/// Reads what follows a '%'; `conversion` is 0 at the end of the format.
Specifier read_specifier(const char* at) {
  Specifier result;
  size_t flags = 0;
  while (*at && std::strchr("-+ #0", *at)) {
    if (flags + 1 < sizeof result.flags && !std::strchr(result.flags, *at)) result.flags[flags++] = *at;
    ++at;
  }
  if (*at == '*')
    result.star_width = result.has_width = true, ++at;
  else if (*at >= '1' && *at <= '9')
    result.has_width = true, result.width = read_number(at);
  if (*at == '.') {
    result.has_precision = true;
    ++at;
    if (*at == '*')
      result.star_precision = true, ++at;
    else
      result.precision = read_number(at);
  }
  result.length = read_length(at);
  result.conversion = *at;
  result.end = *at ? at + 1 : at;
  return result;
}

class Printer {
 public:
  Printer(std::string& text, const void* arguments) : text_(text), arguments_(arguments) {}

  void print(const Specifier& specifier, const char* begin) {
    if (specifier.conversion == 0 || !std::strchr("diouxXcspfFeEgGaA", specifier.conversion)) {
      text_.append(begin, specifier.end);
      return;
    }
    width_ = specifier.star_width ? arguments_.take<int>() : specifier.width;
    precision_ = specifier.star_precision ? arguments_.take<int>() : specifier.precision;
    const bool wide = specifier.length > 0;
    switch (specifier.conversion) {
      case 'd':
      case 'i':
        return integer(specifier, wide ? arguments_.take<long long>() : narrow(specifier));
      case 'c':
        return with(specifier, "", arguments_.take<int>());
      case 's':
        return string(specifier, arguments_.take<const char*>());
      case 'p':
        return with(specifier, "", arguments_.take<void*>());
      case 'o':
      case 'u':
      case 'x':
      case 'X':
        return integer(specifier, static_cast<long long>(wide ? arguments_.take<unsigned long long>()
                                                              : narrow_unsigned(specifier)));
      default:
        return with(specifier, "", arguments_.take<double>());
    }
  }

  int count() const { return arguments_.count(); }

 private:
  long long narrow(const Specifier& specifier) {
    const int value = arguments_.take<int>();
    if (specifier.length == -1) return static_cast<short>(value);
    return specifier.length == -2 ? static_cast<signed char>(value) : value;
  }

  unsigned long long narrow_unsigned(const Specifier& specifier) {
    const unsigned value = arguments_.take<unsigned>();
    if (specifier.length == -1) return static_cast<unsigned short>(value);
    return specifier.length == -2 ? static_cast<unsigned char>(value) : value;
  }

  void integer(const Specifier& specifier, long long value) { with(specifier, "ll", value); }

  void string(const Specifier& specifier, const char* value) {
    if (!value) value = "(null)";
    // Looks at every byte that will be printed before anything is appended.
    const bool limited = specifier.has_precision && precision_ >= 0;
    const size_t length = limited ? strnlen(value, static_cast<size_t>(precision_)) : std::strlen(value);
    const bool left = std::strchr(specifier.flags, '-') || width_ < 0;
    const size_t width = static_cast<size_t>(width_ < 0 ? -static_cast<long long>(width_) : width_);
    const size_t padding = width > length ? width - length : 0;
    if (!left) text_.append(padding, ' ');
    text_.append(value, length);
    if (left) text_.append(padding, ' ');
  }

  /// Prints one value with the host's printf; width and precision always as numbers.
  template <typename T>
  void with(const Specifier& specifier, const char* length, T value) {
    char format[24];
    const bool precise = specifier.has_precision && precision_ >= 0;
    std::snprintf(format, sizeof format, "%%%s%s%s%s%c", specifier.flags, specifier.has_width ? "*" : "",
                  precise ? ".*" : "", length, specifier.conversion);
    const auto format_into = [&](char* out, size_t size) {
      if (specifier.has_width && precise) return std::snprintf(out, size, format, width_, precision_, value);
      if (specifier.has_width) return std::snprintf(out, size, format, width_, value);
      if (precise) return std::snprintf(out, size, format, precision_, value);
      return std::snprintf(out, size, format, value);
    };
    char small[256];
    const int needed = format_into(small, sizeof small);
    if (needed < 0) return;
    const auto size = static_cast<size_t>(needed);
    if (size < sizeof small) {
      text_.append(small, size);
      return;
    }
    const size_t before = text_.size();
    text_.resize(before + size + 1);
    format_into(text_.data() + before, size + 1);
    text_.resize(before + size);
  }

  std::string& text_;
  Arguments arguments_;
  int width_ = 0, precision_ = 0;
};

}  // namespace

int format_print(std::string& text, const char* format, const void* arguments) {
  Printer printer(text, arguments);
  while (*format) {
    const size_t plain = std::strcspn(format, "%");
    text.append(format, plain);
    format += plain;
    if (*format == '%') {
      if (format[1] == '%') {
        text += '%';
        format += 2;
        continue;
      }
      const Specifier specifier = read_specifier(format + 1);
      printer.print(specifier, format);
      format = specifier.end;
    }
  }
  return printer.count();
}

}  // namespace cupola::hal
