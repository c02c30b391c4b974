#pragma once

#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "hal/executable.h"
#include "image/cache.h"
#include "image/code.h"

namespace cupola::runtime {

/// Compiled kernels by content: in memory, then on disk, then from the compiler. In memory are the images that somebody
/// holds and, up to a limit, those asked for last; failures are not remembered. Any thread; the same code is compiled
/// once even if several threads ask.
class ProgramCache {
 public:
  using Image = std::shared_ptr<const std::vector<std::byte>>;

  struct Compiler {
    /// From a serialised image::CompileRequest to a serialised image::KernelImage.
    std::function<Result<std::vector<std::byte>>(std::span<const std::byte> request)> compile;
    /// Another one when it may answer otherwise: part of every key. Empty while there is no compiler; what it is once
    /// there is one holds for the cache's life.
    std::function<std::string()> identity;
  };

  /// With libcupola-compiler, which is opened at the first miss, and the disk cache of the settings.
  ProgramCache();
  ProgramCache(Compiler compiler, std::string folder, image::CacheLimits limits, uint64_t most_recent_bytes);

  /// The serialised image of `code` for a target. Errors: JitCompilerNotFound, or what the compiler says.
  Result<Image> image(const image::Code& code, const std::string& target);

  /// What an image for the target left for later, see hal::CodeSource. What is being made is not there yet. Errors: as
  /// image().
  Result<Image> later(std::span<const std::byte> unit, std::string_view code, const std::string& target,
                      hal::Ask ask = hal::Ask::Make);

  /// Keys in memory: of images that live, of those being made, and of at most about as many whose holders are gone.
  size_t size() EXCLUDES(mutex_);

 private:
  struct Entry {
    Mutex mutex;  ///< held while the image is made
    std::weak_ptr<const std::vector<std::byte>> image GUARDED_BY(mutex);
  };
  struct Recent {
    std::string key;
    Image image;
  };

  /// Of a key. In recent_, if an image is there.
  struct Place {
    std::shared_ptr<Entry> entry;
    std::optional<std::list<Recent>::iterator> recent;
  };

  static bool is_dead(const Place& place);
  std::string key_of(const image::CompileRequest& request) EXCLUDES(mutex_);
  Result<Image> answer(const image::CompileRequest& request, hal::Ask ask = hal::Ask::Make);
  Result<Image> find_or_make(Entry& entry, const std::string& key, const image::CompileRequest& request, hal::Ask ask);
  void remember(const std::string& key, const Image& image) REQUIRES(mutex_);
  void forget_if_dead(const std::string& key) REQUIRES(mutex_);
  void forget_the_dead() REQUIRES(mutex_);

  const Compiler compiler_;
  image::DiskCache disk_;
  const uint64_t most_recent_bytes_;
  Mutex mutex_;  ///< taken before an entry's
  std::string compiler_identity_ GUARDED_BY(mutex_);
  std::unordered_map<std::string, Place> places_ GUARDED_BY(mutex_);
  size_t sweep_at_ GUARDED_BY(mutex_) = 0;       ///< so many places: those are looked for whose image has died
  std::list<Recent> recent_ GUARDED_BY(mutex_);  ///< the latest first
  uint64_t recent_bytes_ GUARDED_BY(mutex_) = 0;
};

}  // namespace cupola::runtime
