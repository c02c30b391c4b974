#pragma once

#include "ptx/lower/form_fixture.h"

namespace cupola::ptx {

/// One instruction on the bits of its operands, and the bits that it leaves in its destination.
struct FormCase {
  const char* form;
  std::vector<uint64_t> operands;
  uint64_t expected;
};

/// Declares a register for each operand, of the type that the instruction's row gives it.
inline std::string body_of(const FormCase& c, std::string& result_type) {
  FormTable table;
  const auto understood = table.understand(c.form, c.operands.size() + 1);
  if (!understood) return understood.error().message;
  const Form& form = **understood;
  const auto register_type = [&](size_t i) {
    const Type type = form.operand_type(form.row->specs[i], Type::B32);
    return type == Type::Pred ? std::string("pred") : "b" + std::to_string(std::max(bits_of(type), 16u));
  };
  result_type = register_type(0);
  std::string body, call = std::string(c.form) + " d";
  for (size_t i = 0; i < c.operands.size(); ++i) {
    const std::string name = "a" + std::to_string(i), type = register_type(i + 1);
    body += ".reg ." + type + " " + name + "; mov." + type + " " + name + ", " + std::to_string(c.operands[i]) + "; ";
    call += ", " + name;
  }
  return body + call + ";";
}

inline void expect_value(const FormCase& c) {
  std::string type;
  const std::string body = body_of(c, type);
  EXPECT_EQ(result_of(type, body), llvm::utohexstr(c.expected)) << c.form << ": " << body;
}

/// That spellings lower, whatever their value.
inline void expect_lowers(const char* form, size_t operands) {
  std::string type;
  const std::string body = body_of({form, std::vector<uint64_t>(operands), 0}, type);
  EXPECT_EQ(refusal(type, body), "") << body;
}

}  // namespace cupola::ptx
