#include "runtime/program_cache.h"

#include <algorithm>
#include <chrono>

#include "base/log.h"
#include "base/settings.h"
#include "image/compile_request.h"
#include "image/compiler_library.h"
#include "image/kernel_image.h"
#include "image/metal_image.h"

namespace cupola::runtime {
namespace {

constexpr uint64_t kMostRecentBytes = 64 << 20;

Result<std::vector<std::byte>> compile_with_library(std::span<const std::byte> request) {
  TRY(const image::CompilerLibrary compiler, image::CompilerLibrary::ours());
  const auto begin = std::chrono::steady_clock::now();
  TRY(std::vector<std::byte> result, compiler.compile(request));
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  log::line(log::Topic::Compile, "{} bytes of kernel code became an image of {} bytes in {:.1f} ms", request.size(),
            result.size(), took.count());
  return result;
}

/// The compiler and the libraries beside it, which it links into kernels: a change of one changes the keys.
ProgramCache::Compiler library_compiler() {
  return {compile_with_library, [path = image::compiler_path()] {
            const std::string folder = path.substr(0, path.rfind('/') + 1);
            std::string identity = image::file_identity(path);
            if (identity.empty()) return identity;
            for (const char* library : {"device.bc", "metal.bc", "air.bc"})
              identity += "\n" + image::file_identity(folder + "cupola/" + library);
            return identity;
          }};
}

bool is_whole(std::span<const std::byte> image, const std::string& target) {
  if (target.starts_with(image::kMetalTarget)) return image::deserialize_metal(image).has_value();
  return image::deserialize(image).has_value();
}

/// A container of compiled kernels is for every metal device; the device says what is wrong with it.
bool is_for(std::span<const std::byte> image, const std::string& target) {
  if (image::is_metallib(image)) return target.starts_with(image::kMetalTarget);
  return image::target_of(image) == target && is_whole(image, target);
}

/// The image that was made for the target; damaged ones are as good as none.
const std::vector<std::byte>* image_for(const image::Code& code, const std::string& target) {
  const auto found = std::ranges::find_if(code.images, [&](const auto& image) { return is_for(image, target); });
  return found == code.images.end() ? nullptr : &*found;
}

std::unexpected<Error> no_code_for(const image::Code& code, const std::string& target) {
  if (std::ranges::any_of(code.images, image::is_metallib))
    return fail(ErrorCode::NoBinaryForGpu,
                "this is a .metallib, which only the metal device runs (CUPOLA_DEVICE=metal); this device is '{}'",
                target);
  return fail(ErrorCode::NoBinaryForGpu,
              "the kernel images are for other processors than '{}', and there is no code to compile", target);
}

}  // namespace

ProgramCache::ProgramCache()
    : ProgramCache(library_compiler(), image::cache_folder(settings()), image::cache_limits(settings()),
                   kMostRecentBytes) {}

ProgramCache::ProgramCache(Compiler compiler, std::string folder, image::CacheLimits limits, uint64_t most_recent_bytes)
    : compiler_(std::move(compiler)), disk_(std::move(folder), limits), most_recent_bytes_(most_recent_bytes) {}

Result<ProgramCache::Image> ProgramCache::image(const image::Code& code, const std::string& target) {
  if (const auto* ready = image_for(code, target)) return std::make_shared<const std::vector<std::byte>>(*ready);
  if (code.units.empty()) return no_code_for(code, target);
  return answer({target, settings().keep, code.units, {}});
}

Result<ProgramCache::Image> ProgramCache::later(std::span<const std::byte> unit, std::string_view code,
                                                const std::string& target, hal::Ask ask) {
  return answer(
      {target, settings().keep, {{image::CodeKind::KernelUnit, {unit.begin(), unit.end()}}}, std::string(code)}, ask);
}

std::string ProgramCache::key_of(const image::CompileRequest& request) {
  std::string identity;
  {
    Lock lock(mutex_);
    if (compiler_identity_.empty()) compiler_identity_ = compiler_.identity();
    identity = compiler_identity_;
  }
  return image::cache_key(request, identity);
}

Result<ProgramCache::Image> ProgramCache::answer(const image::CompileRequest& request, hal::Ask ask) {
  const std::string key = key_of(request);
  std::shared_ptr<Entry> entry;
  {
    Lock lock(mutex_);
    Place& place = places_[key];
    if (!place.entry) place.entry = std::make_shared<Entry>();
    if (ask == hal::Ask::Look && place.entry.use_count() > 1) return Image();  // somebody makes it
    entry = place.entry;
  }
  Result<Image> found = find_or_make(*entry, key, request, ask);
  entry.reset();
  Lock lock(mutex_);
  if (found && *found)
    remember(key, *found);
  else
    forget_if_dead(key);
  // Images that somebody held die without a word: a walk over all places finds them, once their number has doubled.
  if (places_.size() >= sweep_at_) forget_the_dead();
  return found;
}

Result<ProgramCache::Image> ProgramCache::find_or_make(Entry& entry, const std::string& key,
                                                       const image::CompileRequest& request, hal::Ask ask) {
  Lock lock(entry.mutex);
  if (Image image = entry.image.lock()) return image;
  auto bytes = settings().keep.empty() ? disk_.get(key) : std::nullopt;  // intermediate files are written by compiling
  log::line(log::Topic::Cache, "{} {}", key, bytes ? "found" : "not there");
  if (!bytes && ask == hal::Ask::Look) return Image();
  if (!bytes) {
    TRY(bytes, compiler_.compile(image::serialize(request)));
    disk_.put(key, *bytes);
  }
  auto image = std::make_shared<const std::vector<std::byte>>(std::move(*bytes));
  entry.image = image;
  return image;
}

void ProgramCache::remember(const std::string& key, const Image& image) {
  Place& place = places_.at(key);
  if (place.recent) {
    recent_.splice(recent_.begin(), recent_, *place.recent);
    return;
  }
  recent_.push_front({key, image});
  place.recent = recent_.begin();
  recent_bytes_ += image->size();
  while (recent_bytes_ > most_recent_bytes_) {
    const std::string last = std::move(recent_.back().key);
    recent_bytes_ -= recent_.back().image->size();
    recent_.pop_back();
    places_.at(last).recent.reset();
    forget_if_dead(last);
  }
}

/// Its image is gone, and nobody makes it or waits for it.
bool ProgramCache::is_dead(const Place& place) {
  if (place.entry.use_count() > 1) return false;  // and not more of them: that takes the cache's lock
  Lock lock(place.entry->mutex);
  return place.entry->image.expired();
}

void ProgramCache::forget_if_dead(const std::string& key) {
  const auto place = places_.find(key);
  if (place != places_.end() && is_dead(place->second)) places_.erase(place);
}

void ProgramCache::forget_the_dead() {
  constexpr size_t kLeast = 16;
  std::erase_if(places_, [](const auto& each) { return is_dead(each.second); });
  sweep_at_ = std::max(kLeast, 2 * places_.size());
}

size_t ProgramCache::size() {
  Lock lock(mutex_);
  return places_.size();
}

}  // namespace cupola::runtime
