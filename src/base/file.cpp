#include "base/file.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <memory>
#include <system_error>

namespace cupola {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

std::string reason() {
  return std::generic_category().message(errno);
}

}  // namespace

Result<std::string> read_file(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) return fail(ErrorCode::FileNotFound, "'{}' cannot be read: {}", path, reason());
  std::string bytes;
  std::array<char, 64 * 1024> chunk;
  while (const size_t count = std::fread(chunk.data(), 1, chunk.size(), file.get())) bytes.append(chunk.data(), count);
  if (std::ferror(file.get())) return fail(ErrorCode::FileNotFound, "'{}' cannot be read: {}", path, reason());
  return bytes;
}

Result<> write_file(const std::string& path, std::span<const std::byte> bytes) {
  File file(std::fopen(path.c_str(), "wb"));
  if (!file || std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size() ||
      std::fclose(file.release()) != 0)
    return fail(ErrorCode::OperatingSystem, "'{}' cannot be written: {}", path, reason());
  return {};
}

}  // namespace cupola
