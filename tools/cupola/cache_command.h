#pragma once

#include <cstdint>
#include <optional>

namespace cupola::tool {

enum class CacheAction { Path, List, Stat, Verify, Clear, Trim };

struct CacheOptions {
  std::optional<int64_t> mebibytes, days;  ///< for Trim, in place of the settings'
};

/// `cupola cache ACTION` on the settings' cache folder, to standard output. Returns the exit status: 1 when there is no
/// cache, or Verify found damaged entries.
int cache_command(CacheAction action, const CacheOptions& options);

}  // namespace cupola::tool
