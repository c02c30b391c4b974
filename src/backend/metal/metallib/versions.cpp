#include "backend/metal/metallib/versions.h"

namespace cupola::metallib {
namespace {

constexpr Release kReleases[] = {
#define METALLIB_VERSION(macos, patch, air, language) {macos, {1, 2, patch}, Version air, Version language},
#include "backend/metal/metallib/versions.def"
#undef METALLIB_VERSION
};

}  // namespace

std::string text_of(Version version) {
  return formatted("{}.{}", version.major, version.minor);
}

std::string text_of(ContainerVersion version) {
  return formatted("{}.{}.{}", version.major, version.minor, version.patch);
}

std::span<const Release> releases() {
  return kReleases;
}

Result<Release> release_of(uint16_t macos) {
  const Release* found = nullptr;
  for (const Release& row : kReleases)
    if (row.macos <= macos) found = &row;
  if (!found)
    return fail(ErrorCode::NotSupported, "metallib: macOS {} is older than {}, the first whose files are known", macos,
                kReleases[0].macos);
  return *found;
}

}  // namespace cupola::metallib
