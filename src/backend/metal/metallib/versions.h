#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"

namespace cupola::metallib {

/// The version of AIR or MSL.
struct Version {
  uint16_t major = 0, minor = 0;
  friend auto operator<=>(const Version&, const Version&) = default;
};

/// The version of a container.
struct ContainerVersion {
  uint16_t major = 0, minor = 0, patch = 0;
  friend auto operator<=>(const ContainerVersion&, const ContainerVersion&) = default;
};

std::string text_of(Version version);           ///< "2.5"
std::string text_of(ContainerVersion version);  ///< "1.2.7"

/// What Apple's compiler writes for a release of macOS. A system takes what is as old as itself or older.
struct Release {
  uint16_t macos;
  ContainerVersion container;
  Version air, language;
};

/// Oldest first.
std::span<const Release> releases();

/// What Cupola writes unless told otherwise: macOS 13 is the first with MSL 3.0.
inline constexpr uint16_t kDefaultMacos = 13;

/// The row of `macos` (its major version), or the newest row before it. Error: NotSupported for releases before the
/// first row.
Result<Release> release_of(uint16_t macos);

}  // namespace cupola::metallib
