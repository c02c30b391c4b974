#include "sweeps.h"

#include <bit>
#include <cmath>
#include <string_view>

#include "operands.h"

namespace cupola::ptxtest {
namespace {

using ptx::Type;

constexpr uint64_t kPoints = 1 << 16;
constexpr double kPi = 3.14159265358979323846;

/// kPoints numbers in a range, one at random in each of as many equal parts.
struct Sweep {
  std::string_view opcode;
  double from, to;
  bool by_bits;  ///< equal parts of the numbers' bits, not of the line
};
constexpr Sweep kSweeps[] = {
    {"sin", -2 * kPi, 2 * kPi, false},
    {"sin", -100 * kPi, 100 * kPi, false},
    {"sin", 0x1p-30, 1, true},
    {"cos", -2 * kPi, 2 * kPi, false},
    {"cos", -100 * kPi, 100 * kPi, false},
    {"lg2", 0.5, 2, false},
    {"lg2", 1 - 0x1p-10, 1 + 0x1p-9, true},
    {"lg2", 0x1p-149, 0x1p127, true},
    {"ex2", -150, 129, false},
    {"ex2", -1, 1, false},
    {"tanh", -10, 10, false},
    {"tanh", 0x1p-20, 16, true},
    {"rcp", 1, 2, true},
    {"sqrt", 1, 4, true},
    {"rsqrt", 1, 4, true},
};

uint64_t bits_of_number(Type type, double value) {
  return type == Type::F64 ? std::bit_cast<uint64_t>(value) : std::bit_cast<uint32_t>(static_cast<float>(value));
}

void add_sweep(const Sweep& sweep, Type type, std::vector<uint64_t>& into) {
  const uint64_t first = bits_of_number(type, sweep.from), last = bits_of_number(type, sweep.to);
  const uint64_t part = (last - first) / kPoints;
  for (uint64_t i = 0; i < kPoints; ++i) {
    const uint64_t random = mixed(first ^ mixed(i));
    const double place = (static_cast<double>(i) + static_cast<double>(random >> 11) * 0x1p-53) / kPoints;
    if (sweep.by_bits)
      into.push_back(first + i * part + (part ? random % part : 0));
    else
      into.push_back(bits_of_number(type, sweep.from + (sweep.to - sweep.from) * place));
  }
}

/// Where sine and cosine are zero or least accurate.
void add_quarter_turns(std::vector<uint64_t>& into) {
  for (int quarter = -200; quarter <= 200; ++quarter)
    for (int step = -3; step <= 3; ++step)
      into.push_back(std::bit_cast<uint32_t>(static_cast<float>(quarter * (kPi / 2))) + static_cast<uint32_t>(step));
}

/// Both operands with random mantissas: in [1, 2), then of any size.
void add_quotients(std::vector<uint64_t>& into) {
  for (uint64_t i = 0; i < 4 * kPoints; ++i) {
    const uint64_t random = mixed(mixed(i) + 1);
    const bool everywhere = i % 2 == 1;
    into.push_back(everywhere ? random & 0xffffffff : 0x3f800000 | (random & 0x7fffff));
  }
}

/// All values of a half; in a pair, another one beside it.
void add_halves(bool pairs, std::vector<uint64_t>& into) {
  for (uint64_t value = 0; value < kPoints; ++value)
    into.push_back(pairs ? value | (mixed(value) & 0xffff) << 16 : value);
}

}  // namespace

std::vector<uint64_t> sweep_of(const Case& of) {
  std::vector<uint64_t> sets;
  const Type type = of.outputs[0].type;
  const std::string_view opcode = std::string_view(of.form).substr(0, of.form.find('.'));
  if (type == Type::F16 || type == Type::BF16 || type == Type::F16x2 || type == Type::BF16x2) {
    add_halves(type == Type::F16x2 || type == Type::BF16x2, sets);
    return sets;
  }
  if (opcode == "div") add_quotients(sets);
  if (opcode == "sin" || opcode == "cos") add_quarter_turns(sets);
  for (const Sweep& sweep : kSweeps)
    if (sweep.opcode == opcode) add_sweep(sweep, type, sets);
  return sets;
}

}  // namespace cupola::ptxtest
