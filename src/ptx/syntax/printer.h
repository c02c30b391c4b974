#pragma once

#include <string>

#include "ptx/syntax/ast.h"

namespace cupola::ptx {

/// The module as PTX text. parse(print(m)) is m again: printing it once more gives the same text.
std::string print(const Module& module);

/// One instruction with its operands, without guard and semicolon, for messages: "ld.global.v4.f32 {%f1, ...}, [%rd1]".
std::string print(const Module& module, const Function& function, const Instruction& instruction);

}  // namespace cupola::ptx
