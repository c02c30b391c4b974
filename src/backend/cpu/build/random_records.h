#pragma once

#include <array>
#include <string>
#include <vector>

#include "backend/cpu/build/random_memory.h"

// Random accesses to structures: a few fields of one, in any order, with or without something between them.

namespace cupola::cpu::build::testing {

class RandomRecords : public RandomMemory {
 protected:
  RandomRecords(uint64_t seed, bool meets, const Variety& variety)
      : RandomMemory(seed, meets, variety), fields_(2 + static_cast<uint32_t>(seed / 5 % 3)) {}

  /// Reads fields of one structure, and writes some of one of the thread's own.
  void use_records() {
    const bool is_own = chance(2);
    const std::string width = is_own ? one_of({"8", "16", "32", "64"}) : one_of({"8", "16", "32", "32", "64"});
    const std::string own = own_record(width), from = is_own ? own : input_record(width);
    for (uint32_t left = 1 + pick(4); left; --left) {
      read_field(from, width);
      if (chance(6)) between();
      if (is_own && chance(5)) write_field(own, width);
    }
    if (chance(3)) return;
    for (uint32_t left = 1 + pick(5); left; --left) {
      write_field(own, width);
      if (chance(8)) between();
    }
  }

 private:
  static const char* type_of(const std::string& width, bool is_real) {
    if (width == "8") return "i8";
    if (width == "16") return "i16";
    if (width == "32") return is_real ? "float" : "i32";
    return is_real ? "double" : "i64";
  }

  /// Of so many fields that those of all threads lie behind their cells, without a gap.
  std::string own_record(const std::string& width) {
    const std::string records = let("shl i32 %total, 4"), mine = let("mul i32 %me, {}", fields_);
    return element("i" + width, "%o" + width, let("add i32 {}, {}", records, mine));
  }

  /// One of the last of the input, which ends where the last one does.
  std::string input_record(const std::string& width) {
    const uint32_t elements = kInputs * 32 / static_cast<uint32_t>(std::stoi(width));
    const uint32_t count = chance(2) ? 32 : elements / 4;
    const std::string which = let("and i32 {}, {}", thread_number(), count - 1);
    const std::string index = let("add i32 {}, {}", let("mul i32 {}, {}", which, fields_), elements - count * fields_);
    return element("i" + width, "%in", index);
  }

  std::string field(const std::string& record, const std::string& width) {
    return let("getelementptr i{}, ptr {}, i64 {}", width, record, pick(fields_));
  }

  void read_field(const std::string& record, const std::string& width) {
    const bool is_real = chance(2);
    const std::string type = type_of(width, is_real), place = field(record, width);
    std::string value = let("load {}{}, ptr {}", chance(20) ? "volatile " : "", type, place);
    if (type[0] != 'i') value = sane(type, value);
    line("store {} {}, ptr {}", type, value, variable(type).name);
  }

  void write_field(const std::string& record, const std::string& width) {
    const std::string type = type_of(width, chance(2)), value = chance(2) ? load(variable(type)) : expression(type, 1);
    line("store {}{} {}, ptr {}", chance(20) ? "volatile " : "", type, value, field(record, width));
  }

  void between() {
    if (chance(2)) return add_up();
    store_cell(one_of({"i8", "i32", "i64", "float"}), "", chance(2) ? Place::Rows : Place::Records);
  }

  const uint32_t fields_;
};

}  // namespace cupola::cpu::build::testing
