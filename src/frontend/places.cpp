#include "frontend/places.h"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "base/dynlib.h"
#include "image/cache.h"
#include "image/content_hash.h"

namespace cupola::frontend {
namespace {

namespace fs = std::filesystem;

/// Path, size and time of change of every file in a folder.
void append_identities(const std::string& folder, std::vector<std::string>& identities) {
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
    if (entry->is_regular_file(error)) identities.push_back(image::file_identity(entry->path().string()));
}

std::string identity_of(const Places& places, const void* code) {
  std::vector<std::string> identities;
  append_identities(places.headers, identities);
  append_identities(places.resource, identities);
  Dl_info info;
  if (dladdr(code, &info) && info.dli_fname) identities.push_back(image::file_identity(info.dli_fname));
  std::ranges::sort(identities);
  std::string all;
  for (const std::string& identity : identities) all += identity + '\n';
  return image::content_hash(std::as_bytes(std::span(all))).hex();
}

Places find_places() {
  const auto* const code = reinterpret_cast<const void*>(&places);
  std::error_code error;
  const std::string named = folder_of_code(code);
  fs::path libraries = fs::canonical(named, error);
  if (error) libraries = named;
  Places found;
  found.headers = (libraries.parent_path() / "include" / "cuda").string();
  found.resource = (libraries / "cupola" / "clang").string();
  found.identity = identity_of(found, code);
  return found;
}

}  // namespace

const Places& places() {
  static const auto* const found = new Places(find_places());
  return *found;
}

}  // namespace cupola::frontend
