#include "cupola/selftest/captured_output.h"

#include <unistd.h>

namespace cupola::tool::selftest {

CapturedOutput::CapturedOutput(int descriptor) : descriptor_(descriptor), file_(std::tmpfile()) {
  std::fflush(nullptr);
  if (!file_) return;
  kept_ = dup(descriptor);
  dup2(fileno(file_), descriptor);
}

CapturedOutput::~CapturedOutput() {
  std::fflush(nullptr);
  if (!file_) return;
  dup2(kept_, descriptor_);
  close(kept_);
  std::fclose(file_);
}

std::string CapturedOutput::text() const {
  std::fflush(nullptr);
  if (!file_) return "";
  std::string all;
  char part[4096];
  off_t at = 0;
  for (ssize_t count = 0; (count = pread(fileno(file_), part, sizeof part, at)) > 0; at += count)
    all.append(part, static_cast<size_t>(count));
  return all;
}

}  // namespace cupola::tool::selftest
