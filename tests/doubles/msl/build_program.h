#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "doubles/msl/msl_program.h"

namespace cupola::doubles {

/// What clang makes a program of: text or bitcode, in which a function `caller` of each kernel calls it with arguments
/// from tables, as callers() in kernel_signatures.h writes it, and which has the variable `cupola_machine`.
struct ProgramSource {
  const char* name;   ///< of the file that clang reads
  std::string flags;  ///< besides those that keep a thread's place in the code apart from others
  std::span<const std::byte> contents;
  std::vector<MslFunction> functions;
  std::vector<std::string> callers;  ///< by function
};

/// Compiles it for this machine and opens it. Error: InvalidSource with clang's words.
Result<std::shared_ptr<MslProgram>> build_program(ProgramSource source);

}  // namespace cupola::doubles
