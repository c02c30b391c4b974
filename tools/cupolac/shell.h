#pragma once

#include <string>

namespace cupola::cupolac {

struct ShellOutput {
  int status;  ///< exit status, 128 + signal, or 127
  std::string text;
};

/// Runs a shell command and takes what it prints, standard error included.
ShellOutput run_shell(const std::string& command);

}  // namespace cupola::cupolac
