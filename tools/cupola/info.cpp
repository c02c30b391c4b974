#include "cupola/info.h"

#include <cstdio>
#include <optional>

#include "base/settings.h"
#include "cupola/driver_library.h"
#include "cupolac/installation.h"
#include "image/cache.h"

namespace cupola::tool {
namespace {

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
}

std::string text_of(const std::string& value) {
  return value.empty() ? "(empty)" : value;
}
std::string text_of(const std::optional<std::string>& value) {
  return value ? formatted("'{}'", *value) : "";
}
std::string text_of(int64_t value) {
  return std::to_string(value);
}
std::string text_of(bool value) {
  return value ? "on" : "off";
}

void print_devices(const DriverLibrary& driver) {
  for (size_t i = 0; i < driver.devices().size(); ++i) {
    const DriverLibrary::Device& device = driver.devices()[i];
    print(formatted("\ndevice {}: {}\n  compute capability {}.{}, {} multiprocessors, {:.1f} GiB\n", i, device.name,
                    device.attribute("compute_capability_major"), device.attribute("compute_capability_minor"),
                    device.attribute("multiprocessor_count"), static_cast<double>(device.memory_bytes) / (1 << 30)));
    for (const auto& [name, value] : device.attributes) print(formatted("  {:<52} {}\n", name, value));
  }
}

void print_settings() {
  print("\nsettings (environment variables)\n");
  auto row = [](const char* variable, const std::string& value, const char* doc) {
    print(formatted("  {:<20} {:<12} {}\n", variable, value, doc));
  };
#define CUPOLA_SETTING(name, variable, type, fallback, words, doc) row(variable, text_of(settings().name), doc);
#include "base/settings.def"
#undef CUPOLA_SETTING
}

}  // namespace

int info(const std::filesystem::path& root) {
  const std::filesystem::path libraries = root / "lib";
  const auto clang = cupolac::find_clang();
  const std::string cache = image::cache_folder(settings());
  print(formatted("cupola {}\n  libraries  {}\n  headers    {}\n  clang      {}\n  cache      {}\n", CUPOLA_VERSION,
                  libraries.string(), (root / "include" / "cuda").string(),
                  clang ? clang->string() : clang.error().message, cache.empty() ? "off" : cache));
  const auto driver = DriverLibrary::open(libraries);
  if (driver) {
    print(formatted("  driver     {}, version {}.{}\n", (libraries / "libcuda.so.1").string(), driver->version() / 1000,
                    driver->version() % 1000 / 10));
    print_devices(*driver);
  } else {
    print(formatted("  driver     {}\n", driver.error().message));
  }
  print_settings();
  return driver ? 0 : 1;
}

}  // namespace cupola::tool
