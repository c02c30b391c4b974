// How long a hit of the disk cache takes, for images of the sizes that programs have. What the limit is about: a
// process whose kernels are cached must not notice the cache. The baseline is reading the file and nothing else.

#include "image/cache.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "measure.h"

using namespace cupola;

int main() {
  constexpr double kLimitSeconds = 1e-3;
  std::string folder = (std::filesystem::temp_directory_path() / "cupola-bench-cache-XXXXXX").string();
  if (!mkdtemp(folder.data())) return 1;
  {
    image::DiskCache cache(folder);
    for (int i = 0; i < 1000; ++i)  // a folder that is in use
      cache.put("other-" + std::to_string(i), std::vector<std::byte>(20'000, std::byte{1}));
    for (const size_t kibibytes : {16, 128, 1024}) {
      const std::string key = "image-" + std::to_string(kibibytes);
      cache.put(key, std::vector<std::byte>(kibibytes << 10, std::byte{2}));
      bool hit = true;
      const double seconds = bench::median_seconds([&] { hit = hit && cache.get(key).has_value(); }, 101);
      if (!hit) return 1;
      std::vector<char> bytes(kibibytes << 10);
      const double plain = bench::median_seconds(
          [&] {
            std::ifstream(folder + "/" + key + ".cupola", std::ios::binary).read(bytes.data(), std::ssize(bytes));
          },
          101);
      bench::report("cache-hit/" + std::to_string(kibibytes) + "KiB", seconds, kLimitSeconds, {{"read", plain}});
    }
    bench::report("cache-miss", bench::median_seconds([&] { (void)cache.get("absent"); }, 101), kLimitSeconds, {});
  }
  std::filesystem::remove_all(folder);
}
