#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/dynlib.h"
#include "base/mutex.h"
#include "image/cache.h"
#include "runtime/code.h"

namespace cupola::runtime {

/// Compiled kernels by content: in memory, then on disk, then from libcupola-compiler, which is opened at the first
/// miss. Any thread; the same code is compiled once even if several threads ask.
class ProgramCache {
 public:
  using Image = std::shared_ptr<const std::vector<std::byte>>;

  ProgramCache();

  /// The serialised image of `code` for a target. Errors: JitCompilerNotFound, or what the compiler says.
  Result<Image> image(const Code& code, const std::string& target);

 private:
  struct Entry {
    Mutex mutex;  ///< held while the image is made
    Image image GUARDED_BY(mutex);
  };

  /// The compiler and the device library beside it, which it links into kernels: a change of either changes the keys.
  std::string compiler_identity() const;
  Result<std::vector<std::byte>> compile(const std::vector<std::byte>& request);

  const std::string compiler_path_;
  image::DiskCache disk_;
  Mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Entry>> entries_ GUARDED_BY(mutex_);
};

}  // namespace cupola::runtime
