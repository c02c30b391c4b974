#include "backend/metal/host/pipeline_archive.h"

#include <unistd.h>

#include <bit>
#include <filesystem>

#include "base/file.h"
#include "base/log.h"
#include "image/content_hash.h"
#include "image/metal_image.h"

namespace cupola::metal {
namespace {

/// A file of ours alone, empty; "" when none can be made.
std::string new_file() {
  std::error_code error;
  std::string path = (std::filesystem::temp_directory_path(error) / "cupola-pipelines-XXXXXX").string();
  if (error) return {};
  const int file = mkstemp(path.data());
  if (file < 0) return {};
  close(file);
  return path;
}

void remove(const std::string& file) {
  if (!file.empty()) unlink(file.c_str());
}

/// What the archive is for: this code on this GPU and system.
std::string key_of(const MetalServices& services, std::span<const std::byte> code) {
  const Metal& metal = services.metal;
  const Metal::Pool pool(metal);
  const std::string machine = services.properties.name + '\n' +
                              metal.text(metal.system_version(metal.process_info(metal.class_named("NSProcessInfo"))));
  const uint64_t seed = image::content_hash(std::as_bytes(std::span(machine))).low;
  return std::string(image::kPipelinesKey) + image::content_hash(code, seed).hex();
}

}  // namespace

PipelineArchive::PipelineArchive(const MetalServices& services, std::span<const std::byte> code)
    : services_(services), key_(services.cache.usable() ? key_of(services, code) : "") {
  if (key_.empty()) return;
  const Metal& metal = services_.metal;
  const Metal::Pool pool(metal);
  if (const auto bytes = services_.cache.get(key_)) {
    const std::string file = new_file();
    if (!file.empty() && write_file(file, *bytes))
      archive_ = opened(metal.file_url(metal.class_named("NSURL"), metal.string(file)));
    remove(file);  // at once: a process need not come to the destructor
    if (!archive_) log::line(log::Topic::Cache, "{}: Metal does not take these pipelines; they are made anew", key_);
  }
  if (!archive_) archive_ = opened(nullptr);
}

PipelineArchive::~PipelineArchive() {
  if (added_ != kept_) keep();
}

/// A null url: an empty one.
Object PipelineArchive::opened(Id url) const {
  const Metal& metal = services_.metal;
  const Object descriptor(metal, metal.alloc_init(metal.class_named("MTLBinaryArchiveDescriptor")));
  metal.set_url(descriptor.id(), url);
  Id error = nullptr;
  Object archive(metal, metal.new_archive(services_.device, descriptor.id(), &error));
  if (!archive) log::line(log::Topic::Cache, "{}: {}", key_, metal.words(error));
  return archive;
}

Object PipelineArchive::made(Id descriptor, Unsigned options, Id* error) const {
  return {services_.metal, services_.metal.new_pipeline_with(services_.device, descriptor, options, nullptr, error)};
}

Object PipelineArchive::pipeline(Id function, Id* error) {
  const Metal& metal = services_.metal;
  if (!archive_) return {metal, metal.new_pipeline(services_.device, function, error)};
  const Object descriptor(metal, metal.alloc_init(metal.class_named("MTLComputePipelineDescriptor")));
  metal.set_function(descriptor.id(), function);
  metal.set_archives(descriptor.id(), metal.array_of(metal.class_named("NSArray"), archive_.id()));
  Id missing = nullptr;
  if (Object found = made(descriptor.id(), kFailOnArchiveMiss, &missing)) return found;
  add(descriptor.id());
  return made(descriptor.id(), 0, error);
}

/// And keeps all when there are twice as many as at the last time: a process need not come to the destructor.
void PipelineArchive::add(Id descriptor) {
  const Metal& metal = services_.metal;
  Id error = nullptr;
  if (!metal.add_pipeline(archive_.id(), descriptor, &error)) {
    log::line(log::Topic::Cache, "{}: a pipeline cannot be added: {}", key_, metal.words(error));
    return;
  }
  if (std::has_single_bit(++added_)) keep();
}

void PipelineArchive::keep() {
  const Metal& metal = services_.metal;
  const Metal::Pool pool(metal);
  kept_ = added_;
  const std::string file = new_file();
  Id error = nullptr;
  if (file.empty() ||
      !metal.write_archive(archive_.id(), metal.file_url(metal.class_named("NSURL"), metal.string(file)), &error))
    log::line(log::Topic::Cache, "{}: the pipelines cannot be written: {}", key_, metal.words(error));
  else if (const Result<std::string> bytes = read_file(file))
    services_.cache.put(key_, std::as_bytes(std::span(*bytes)));
  remove(file);
}

}  // namespace cupola::metal
