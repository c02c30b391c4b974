#include "cupola/cache_command.h"

#include <cstdio>
#include <ctime>

#include "backend/metal/host/container_note.h"
#include "base/settings.h"
#include "image/cache.h"
#include "image/kernel_image.h"
#include "image/metal_image.h"

namespace cupola::tool {
namespace {

using image::CacheEntry;
using image::CacheLimits;
using image::CacheLoss;
using image::DiskCache;

void print(const std::string& text) {
  std::fputs(text.c_str(), stdout);
}

std::string size_text(uint64_t bytes) {
  if (bytes < 10'000) return formatted("{} B", bytes);
  if (bytes < 10 << 20) return formatted("{:.1f} KiB", static_cast<double>(bytes) / (1 << 10));
  return formatted("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string time_text(std::chrono::system_clock::time_point time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  localtime_r(&seconds, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &parts)};
}

uint64_t total(const std::vector<CacheEntry>& entries) {
  uint64_t bytes = 0;
  for (const CacheEntry& entry : entries) bytes += entry.bytes;
  return bytes;
}

/// Which blocks a kernel's code is for, where the image holds it for one class of them only.
std::string blocks_text(const image::Kernel& kernel) {
  std::vector<std::string> texts;
  if (kernel.entry != image::kNoEntry) texts.push_back(" for any blocks, a thread at a time");
  for (const image::BlockClass blocks : image::kBlockClasses)
    if (kernel.wide_entries[blocks].place != image::kNoEntry)
      texts.push_back(formatted(" for blocks {}", name_of(blocks).words));
  return texts.size() == 1 ? texts.front() : "";
}

std::string list_text(const std::string& target, const std::vector<std::string>& kernels) {
  constexpr size_t kShown = 3;
  std::string text = target + ":";
  for (size_t i = 0; i < kernels.size() && i < kShown; ++i) text += " " + kernels[i];
  if (kernels.size() > kShown) text += formatted(" and {} more", kernels.size() - kShown);
  return text;
}

/// What the image is for, and its first kernels.
std::string contents_text(const DiskCache& cache, const std::string& key) {
  const auto bytes = cache.look(key);
  if (!bytes) return "damaged";
  if (key.starts_with(image::kPipelinesKey)) return "pipelines of the metal device";
  if (const auto metal =
          image::is_metallib(*bytes) ? metal::container_note(*bytes) : image::deserialize_metal(*bytes)) {
    std::vector<std::string> names;
    for (const image::MetalKernel& kernel : metal->kernels) names.push_back(kernel.info.name);
    return list_text(metal->target, names);
  }
  const auto image = image::deserialize(*bytes);
  if (!image) return "no kernel image";
  std::vector<std::string> names;
  for (const image::Kernel& kernel : image->kernels) names.push_back(kernel.info.name + blocks_text(kernel));
  return list_text(image->target, names);
}

void list(const DiskCache& cache) {
  for (const CacheEntry& entry : cache.entries())
    print(formatted("{}  {:>10}  {}  {}\n", entry.key, size_text(entry.bytes), time_text(entry.used),
                    contents_text(cache, entry.key)));
}

void stat(const DiskCache& cache) {
  const CacheLimits limits = image::cache_limits(settings());
  const std::vector<CacheEntry> entries = cache.entries();
  print(formatted("folder   {}\nentries  {}\nsize     {}{}\n", cache.folder(), entries.size(),
                  size_text(total(entries)), limits.bytes ? " of " + size_text(limits.bytes) : ", without a limit"));
  if (!entries.empty())
    print(formatted("used     {} to {}\n", time_text(entries.front().used), time_text(entries.back().used)));
  print(limits.unused.count() ? formatted("kept     {} days after the last use\n", limits.unused / std::chrono::days(1))
                              : "kept     for ever\n");
}

void print_loss(const CacheLoss& loss) {
  print(formatted("removed {} entries and {} unfinished ones, {}\n", loss.entries, loss.unfinished,
                  size_text(loss.bytes)));
}

void trim(DiskCache& cache, const CacheOptions& options) {
  Settings wanted = settings();
  if (options.mebibytes) wanted.cache_mib = *options.mebibytes;
  if (options.days) wanted.cache_days = *options.days;
  print_loss(cache.trim(image::cache_limits(wanted)));
}

int verify(DiskCache& cache) {
  const size_t all = cache.entries().size();
  const std::vector<CacheEntry> damaged = cache.verify();
  for (const CacheEntry& entry : damaged) print(formatted("removed  {}: damaged\n", entry.key));
  print(formatted("{} of {} entries are whole\n", all - damaged.size(), all));
  return damaged.empty() ? 0 : 1;
}

}  // namespace

int cache_command(CacheAction action, const CacheOptions& options) {
  const std::string folder = image::cache_folder(settings());
  if (folder.empty()) {
    std::fputs("cupola: the cache is off (CUPOLA_CACHE=0, or no home folder)\n", stderr);
    return 1;
  }
  DiskCache cache(folder, image::cache_limits(settings()));
  if (!cache.usable()) {
    std::fprintf(stderr, "cupola: the cache folder %s cannot be used; set CUPOLA_CACHE_DIR to a folder of your own\n",
                 folder.c_str());
    return 1;
  }
  switch (action) {
    case CacheAction::Path:
      return print(folder + "\n"), 0;
    case CacheAction::List:
      return list(cache), 0;
    case CacheAction::Stat:
      return stat(cache), 0;
    case CacheAction::Verify:
      return verify(cache);
    case CacheAction::Clear:
      return print_loss(cache.clear()), 0;
    case CacheAction::Trim:
      return trim(cache, options), 0;
  }
  return 1;
}

}  // namespace cupola::tool
