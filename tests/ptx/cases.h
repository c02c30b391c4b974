#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/syntax/isa.h"

// The cases of the PTX referee. A case is one spelling of an instruction in a kernel that, for each index, loads raw
// operand bits, executes the instruction and stores the raw bits of all that it wrote. The same kernels ran on an
// NVIDIA GPU once (golden.tsv) and run on Cupola in each test.

namespace cupola::ptxtest {

/// How outputs are compared with the reference's.
enum class Comparison : uint8_t {
  Bits,    ///< all bits
  AnyNan,  ///< all bits, but one NaN is as good as another
  Bound,   ///< an approximation: within the documented error of the true value
};

/// A value that a kernel loads or stores: its type says how operand sets are drawn and where NaNs may sit.
struct Slot {
  ptx::Type type = ptx::Type::B32;
  unsigned bits = 32;             ///< of the register; a narrow type may sit in a wide one
  uint64_t range = ~uint64_t{0};  ///< only these bits are drawn, where PTX leaves larger operands open
};

struct Case {
  std::string name;  ///< the form, then what tells variants of it apart: "lop3.b32 #0x96"
  std::string form;
  std::string body;  ///< statements on the registers %a0, %a1 ... (inputs) and %d0, %d1 ... (outputs)
  std::vector<Slot> inputs, outputs;
  bool warp = false;      ///< all 32 lanes execute; 32 outputs are kept instead of 24
  bool division = false;  ///< operand 1 is never zero: PTX leaves the result open ("Division by zero yields an
                          ///< unspecified, machine-specific value")
  Comparison comparison = Comparison::Bits;

  unsigned kept() const { return warp ? 32 : 24; }
  unsigned count() const { return warp ? 32 + 10016 : 24 + 10000; }
};

/// All cases, in the order of isa.def. `census`: spellings that real programs use, of which none may be left out.
/// `refused`: case names that the reference refuses. Of a row with very many forms a subset is made in which every two
/// choices of words meet; `everything` makes all of them.
std::vector<Case> all_cases(std::span<const std::string> census, std::span<const std::string> refused, bool everything);

/// The cases of one spelling; none where no row takes it.
std::vector<Case> cases_of(const std::string& form);

/// Spellings near those of the rows which no row takes: another type, a word more or less. For finding gaps in isa.def.
std::vector<Case> strange_cases();

/// A module with a kernel k0, k1 ... for each case. Parameters: inputs, outputs, scratch (kScratchBytes a thread),
/// count, kConstants bytes. The module holds 64 constant bytes.
std::string module_text(std::span<const Case* const> cases);
constexpr unsigned kScratchBytes = 64;
constexpr unsigned kBlock = 128;
constexpr unsigned kConstants = 16;
/// Byte i of the constants.
constexpr uint8_t constant_byte(unsigned i) {
  return static_cast<uint8_t>((i * 37 + 129) ^ (i << 5));
}

// -- the families, each in its own file --
void add_value_cases(const ptx::Row& row, const std::string& form, const std::vector<ptx::Type>& types,
                     std::vector<Case>& into);
bool is_value_row(const ptx::Row& row);
bool is_memory_row(const ptx::Row& row);
void add_memory_cases(const ptx::Form& form, std::vector<Case>& into);
void add_warp_cases(std::vector<Case>& into);

/// The slot of an operand of this type, in the narrowest register that PTX has for it.
Slot slot_for(ptx::Type type);
/// ".b32", ".pred"
std::string register_type(const Slot& slot);

}  // namespace cupola::ptxtest
