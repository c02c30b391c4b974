#pragma once

#include <span>
#include <string>

#include "base/result.h"
#include "image/compile_request.h"

namespace cupola::nvvm {

/// What the options of nvvmCompileProgram ask for.
struct Command {
  std::string architecture = "sm_75";  ///< libNVVM's default, in the words of CompileRequest::target
  bool lto = false;                    ///< code for nvJitLink instead of PTX
  image::CodeOptions code{.relocatable = true};
};

/// Error: InvalidValue for what options.def does not hold.
Result<Command> read_command(std::span<const char* const> options);

}  // namespace cupola::nvvm
