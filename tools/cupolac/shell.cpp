#include "cupolac/shell.h"

#include <sys/wait.h>

#include <cstdio>

namespace cupola::cupolac {

ShellOutput run_shell(const std::string& command) {
  ShellOutput output{127, ""};
  FILE* pipe = popen(("{ " + command + "\n} 2>&1").c_str(), "r");
  if (!pipe) return output;
  char buffer[4096];
  while (const size_t count = std::fread(buffer, 1, sizeof buffer, pipe)) output.text.append(buffer, count);
  const int status = pclose(pipe);
  output.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return output;
}

}  // namespace cupola::cupolac
