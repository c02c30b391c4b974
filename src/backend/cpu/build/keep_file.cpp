#include "backend/cpu/build/keep_file.h"

#include <atomic>
#include <span>

#include "base/file.h"
#include "base/log.h"

namespace cupola::cpu::build {

void keep_file(const std::string& path, std::string_view text) {
  static std::atomic<bool> failed = false;
  const Result<> written = write_file(path, std::as_bytes(std::span(text)));
  if (!written && !failed.exchange(true))
    log::line(log::Topic::Error, "CUPOLA_KEEP: {}; give a folder that can be written", written.error().message);
}

}  // namespace cupola::cpu::build
