#include "arguments.h"

#include <bit>
#include <cmath>
#include <limits>
#include <random>

namespace cupola::libdevicetest {
namespace {

constexpr double kHalfPi = 1.57079632679489661923;

/// Magnitudes around which functions have special cases; what float cannot hold is infinite or zero there.
// clang-format off
constexpr double kSpecial[] = {
    0, 0x1p-1074, 0x1p-1022 - 0x1p-1074, 0x1p-1022, 0x1p-149, 0x1.fffffcp-127, 0x1p-126, 0x1p-54, 0x1p-27, 0x1p-13,
    0.25, 0.5, 0x1.fffffep-1, 0x1.fffffffffffffp-1, 1, 0x1.0000000000001p+0, 0x1.000002p+0, 1.5, 2, 2.5, 3, 3.5, 10,
    88.5, 104, 709.75, 745.25, 0x1p16, 0x1p23 - 0.5, 0x1p23 + 1, 0x1p24 + 2, 0x1p31 - 0.5, 0x1p31, 0x1p32,
    0x1p52 - 0.5, 0x1p53 - 1, 0x1p63, 0x1p64, 0x1.8p127, 0x1.fffffep+127, 0x1p500, 0x1.fffffffffffffp+1023,
    std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()};
// clang-format on
constexpr unsigned kSpecials = std::size(kSpecial) * 2;

// clang-format off
constexpr uint64_t kSpecialIntegers[] = {
    0, 1, 2, 3, 7, 8, 23, 24, 31, 32, 53, 63, 64, 127, 128, 149, 150, 1023, 1074, 0xffff, 0x7fffff, 0x800000,
    0xffffff, 0x1000001, 0x7fffffff, 0x80000000, 0xffffffff, 1ull << 32, 1ull << 53, (1ull << 53) + 1, ~0ull >> 1,
    1ull << 63, ~0ull << 10, 0x7fffffbfull, 0x7fffffc0ull};
// clang-format on
constexpr unsigned kSpecialsOfIntegers = std::size(kSpecialIntegers) * 2;

class Generator {
 public:
  Generator(const Row& row, uint64_t seed) : row_(row), random_(seed) {}

  Slot special(char letter, unsigned index) {
    if (letter == 'f' || letter == 'd') {
      const double value = kSpecial[index / 2 % std::size(kSpecial)];
      return slot(letter, index % 2 ? -value : value);
    }
    const uint64_t value = kSpecialIntegers[index / 2 % std::size(kSpecialIntegers)];
    if (is_order() && value > 200) return 2;
    return integer(letter, index % 2 ? 0 - value : value);
  }

  /// Another argument that stands in some relation to the first.
  Slot related(char letter, Slot first) { return bounded(letter, relative(letter, first)); }
  Slot any(char letter) { return bounded(letter, any_word(letter)); }

  uint64_t next() { return random_(); }

 private:
  static Slot bounded(char letter, Slot word) { return letter == 'f' ? word & 0xffffffffu : integer(letter, word); }
  Slot relative(char letter, Slot first) {
    if (letter != 'f' && letter != 'd') return first + random_() % 5 - 2;
    const double x = letter == 'f' ? std::bit_cast<float>(static_cast<uint32_t>(first)) : std::bit_cast<double>(first);
    switch (random_() % 4) {
      case 0:
        return slot(letter, -x);
      case 1:
        return slot(letter, x * std::ldexp(mantissa(), static_cast<int>(random_() % 60) - 30));
      case 2:  // powers of all magnitudes
        return slot(letter, (in_unit() * 2 - 1) * (letter == 'f' ? 150 : 1080) / std::log2(std::fabs(x)));
      default:
        return first + random_() % 9 - 4;
    }
  }

  Slot any_word(char letter) {
    if (letter != 'f' && letter != 'd') return any_integer(letter);
    switch (random_() % 8) {
      case 0:
        return letter == 'f' ? random_() & 0xffffffffu : random_();
      case 1:
      case 2:
        return slot(letter, in_range());
      case 3:
        return slot(letter, signed_power(60) * mantissa());
      case 4:
        return slot(letter, static_cast<double>(static_cast<int>(random_() % 512) - 256) / 2);
      case 5:
        return slot(letter, std::ldexp(static_cast<double>(random_() % (1u << 20)), large_exponent(letter)) * kHalfPi);
      case 6:
        return slot(letter, 1 + signed_power(-1) * mantissa() * std::ldexp(1, -static_cast<int>(random_() % 30)));
      default:
        return special(letter, static_cast<unsigned>(random_() % kSpecials)) + random_() % 7 - 3;
    }
  }

  static Slot slot(char letter, double value) {
    return letter == 'f' ? std::bit_cast<uint32_t>(static_cast<float>(value)) : std::bit_cast<uint64_t>(value);
  }
  static Slot integer(char letter, uint64_t value) {
    if (letter == 'i') return static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(value)));
    if (letter == 'u') return value & 0xffffffffu;
    return letter == 'h' ? value & 0xffffu : value;
  }
  /// Of a Bessel function: time grows with it.
  bool is_order() const { return row_.oracle == "jn" || row_.oracle == "yn"; }
  Slot any_integer(char letter) {
    if (is_order()) return integer(letter, random_() % 64 ? random_() % (random_() % 4 ? 12 : 140) : 0 - random_() % 9);
    if (row_.oracle == "powi") return integer(letter, random_() % 600 - 300);
    if (row_.family != Family::Integer && row_.arguments().size() > 1) return integer(letter, random_() % 4500 - 2250);
    const uint64_t bits = random_();
    return integer(letter, random_() % 2 ? bits : bits >> random_() % 64);
  }
  double in_unit() { return std::ldexp(static_cast<double>(random_() >> 11), -53); }
  double mantissa() { return 1 + in_unit(); }
  double signed_power(int most) {
    const int exponent = static_cast<int>(random_() % 60) - 60 + (most > 0 ? most / 2 : most);
    return std::ldexp(random_() % 2 ? 1 : -1, exponent);
  }
  double in_range() {
    const bool given = row_.low < row_.high;
    const double low = given ? row_.low : -8, high = given ? row_.high : 8;
    return low + (high - low) * in_unit();
  }
  int large_exponent(char letter) {
    return random_() % 2 ? 0 : static_cast<int>(random_() % (letter == 'f' ? 105 : 1000));
  }

  const Row& row_;
  std::mt19937_64 random_;
};

/// The special values of each letter, one letter running fastest.
void add_special(Generator& make, std::string_view letters, std::vector<Slot>& slots) {
  const auto count_of = [](char letter) { return letter == 'f' || letter == 'd' ? kSpecials : kSpecialsOfIntegers; };
  uint64_t all = 1;
  for (const char letter : letters) all *= count_of(letter);
  const uint64_t step = letters.size() > 2 ? all / 20000 + 1 : 1;
  for (uint64_t place = 0; place < all; place += step) {
    uint64_t rest = place;
    for (const char letter : letters) {
      slots.push_back(make.special(letter, static_cast<unsigned>(rest % count_of(letter))));
      rest /= count_of(letter);
    }
  }
}

/// A count, and an array.
void add_array(Generator& make, char letter, std::vector<Slot>& slots) {
  const char element = letter == 'p' ? 'f' : 'd';
  slots.push_back(make.next() % (kArraySlots + 1));
  const bool wild = make.next() % 4 == 0;
  for (unsigned i = 0; i < kArraySlots; ++i) {
    const Slot value = wild || i == 0 ? make.any(element) : make.related(element, slots.back());
    slots.push_back(element == 'f' ? value | make.any('f') << 32 : value);
  }
}

}  // namespace

std::vector<Slot> arguments_of(const Row& row, unsigned count, uint64_t seed) {
  Generator make(row, seed);
  std::string letters;
  for (const char letter : row.arguments())
    if (!is_result_pointer(letter)) letters += letter;
  std::vector<Slot> slots;
  if (letters == "c") return std::vector<Slot>(1);
  if (letters == "h") {
    for (Slot pattern = 0; pattern < 0x10000; ++pattern) slots.push_back(pattern);
    return slots;
  }
  const bool array = letters.back() == 'p' || letters.back() == 'q';
  if (!array) add_special(make, letters, slots);
  const unsigned inputs = input_slots(row);
  for (unsigned i = 0; i < count; ++i) {
    if (array) {
      add_array(make, letters.back(), slots);
      continue;
    }
    for (size_t k = 0; k < letters.size(); ++k) {
      const bool same_type = k > 0 && letters[k] == letters[k - 1];
      slots.push_back(same_type && make.next() % 3 == 0 ? make.related(letters[k], slots.back())
                                                        : make.any(letters[k]));
    }
  }
  slots.resize(slots.size() / inputs * inputs);
  return slots;
}

}  // namespace cupola::libdevicetest
