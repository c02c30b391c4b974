#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/format.h"

// What random kernels are written with: choices, instructions, labels and the memory that a thread may use.

namespace cupola::cpu::build::testing {

/// Cells and, behind those of all threads, a structure of up to kMostFields.
inline constexpr unsigned kCells = 16, kMostFields = 4;
inline constexpr unsigned kInputs = 1024, kSums = 256;
/// More rows than a block has threads, and more columns than a grid has blocks, wherever they put them.
inline constexpr unsigned kTableRows = 264, kTableColumns = 528;

class RandomText {
 protected:
  /// What kernels of seeds of their own have beside the others.
  struct Variety {
    bool spreads = false;    ///< grids may have two dimensions, and a warp may know what others do not
    bool is_latest = false;  ///< lanes look for those of the same digits by votes; loops go on by the block's width
    bool shifts = false;     ///< numbers are shifted by what threads share, by 32 and more as CUDA has it
  };

  RandomText(uint64_t seed, bool meets, const Variety& variety) : random_(seed), meets_(meets), variety_(variety) {}

  /// Who comes to a place together.
  enum class Level : uint8_t { Block, Warp, Lane };
  struct Context {
    Level level = Level::Block;
    int depth = 0;
    std::string out, again;  ///< labels of the loop that may be left here; empty: none
  };
  struct Variable {
    std::string name, type;
  };
  enum class Place : uint8_t { Rows, Records };

  // ---- choice and text ----

  uint32_t pick(uint32_t count) { return static_cast<uint32_t>(random_() % count); }
  bool chance(uint32_t one_in) { return pick(one_in) == 0; }
  template <size_t N>
  const char* one_of(const char* const (&list)[N]) {
    return list[pick(N)];
  }
  template <typename... A>
  void line(fmt::format_string<const A&...> format, const A&... arguments) {
    body_ += "  " + formatted(format, arguments...) + "\n";
  }
  template <typename... A>
  std::string let(fmt::format_string<const A&...> format, const A&... arguments) {
    std::string name = formatted("%t{}", next_++);
    body_ += "  " + name + " = " + formatted(format, arguments...) + "\n";
    return name;
  }
  /// A variable of the thread, in the entry block.
  std::string slot(const std::string& type) {
    std::string name = formatted("%t{}", next_++);
    slots_ += "  " + name + " = alloca " + type + "\n";
    return name;
  }
  std::string label() { return formatted("L{}", next_++); }
  void go(const std::string& to) { line("br label %{}", to); }
  void branch(const std::string& condition, const std::string& yes, const std::string& no) {
    line("br i1 {}, label %{}, label %{}", condition, yes, no);
  }
  void at(const std::string& label) { body_ += label + ":\n"; }
  std::string number() {
    static const char* const kNumbers[] = {"0",    "1",  "2",  "3",   "5",          "7",          "8",   "16",
                                           "31",   "32", "33", "64",  "100",        "255",        "256", "992",
                                           "1000", "-1", "-3", "-32", "2147483647", "-2147483648"};
    return chance(4) ? std::to_string(static_cast<int32_t>(random_())) : one_of(kNumbers);
  }
  std::string load(const Variable& one) { return let("load {}, ptr {}", one.type, one.name); }
  const Variable& variable(const std::string& type) {
    std::vector<const Variable*> found;
    for (const Variable& one : variables_)
      if (one.type == type) found.push_back(&one);
    return *found[pick(static_cast<uint32_t>(found.size()))];
  }
  std::string wide(const std::string& index) { return let("{} i32 {} to i64", one_of({"sext", "zext"}), index); }
  std::string element(const std::string& type, const std::string& base, const std::string& index) {
    return let("getelementptr {}, ptr {}, i64 {}", type, base, wide(index));
  }

  /// The thread's own: beside those of other threads, or beside its others.
  std::string cell(const std::string& type, Place place) {
    const std::string which = std::to_string(pick(8));
    std::string index;
    if (place == Place::Rows)
      index = let("add i32 {}, %me", let("mul i32 %total, {}", which));
    else
      index = let("add i32 {}, {}", let("shl i32 %me, 3"), let("add i32 {}, {}", let("shl i32 %total, 3"), which));
    const std::string base = type == "float" ? "32" : type == "double" ? "64" : type.substr(1);
    return element(type, "%o" + base, index);
  }

  std::string shared_cell(const char* name, const char* type, const std::string& index) {
    return let("getelementptr {}, ptr addrspace(3) @{}, i64 {}", type, name, wide(index));
  }
  void barrier() { line("call void @cupola.barrier(i32 0, i32 0)"); }

  std::mt19937_64 random_;
  const bool meets_;  ///< threads of a warp and of the block meet
  const Variety variety_;
  std::string slots_, body_;
  int next_ = 0;
  std::vector<Variable> variables_;
};

}  // namespace cupola::cpu::build::testing
