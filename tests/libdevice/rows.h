#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// The rows of src/device/libdevice.def, and what the test needs to know of a row: how a kernel calls the function.

namespace cupola::libdevicetest {

enum class Family { Bits, Integer, Conversion, Rounded, Exact, Fast, Ulps };

/// Where the bound in ulps gives way to an absolute error.
enum class Where { nowhere, from8, everywhere, poles };

inline constexpr double none = -1;  ///< no bound is published

struct Row {
  std::string_view name, signature;
  Family family;
  std::string_view oracle;
  double cuda, ulps, absolute;
  Where where;
  double low, high;

  char result() const { return signature[0]; }
  std::string_view arguments() const { return signature.substr(2, signature.size() - 3); }
  /// Whether the function is one of float.
  bool single() const { return signature.find_first_of("fFp") != std::string_view::npos; }
};

std::span<const Row> rows();

/// A value in 64 bits: integers sign- or zero-extended, floating point by its bits.
using Slot = uint64_t;
inline constexpr unsigned kArraySlots = 8;  ///< an array argument: that many doubles, or floats in the first halves

/// The letters of a signature: v void; f d float double; i u l U int and long long; h unsigned short; c const char*;
/// I F D pointers to a result; p q an array of float, double.
bool is_result_pointer(char letter);
unsigned input_slots(const Row& row);
unsigned output_slots(const Row& row);
/// The types of the outputs in order: the result, then what pointers point at.
std::string output_letters(const Row& row);

/// A module with a kernel for each row, k_name(ptr in, ptr out, i32 count), thread i of which takes its inputs from
/// in + i * input_slots, and gives its outputs likewise. `flushes`: as a program compiled with -ftz=true.
std::string module_text(std::span<const Row* const> rows, bool flushes);

}  // namespace cupola::libdevicetest
