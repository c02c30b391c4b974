// Pipelines, and MTLBinaryArchive, which keeps them. Here an archive only knows of which functions it has pipelines: a
// file of one line each behind the first, which says whose it is.

#include <atomic>
#include <fstream>
#include <functional>
#include <set>
#include <sstream>

#include "doubles/software_metal/foundation.h"
#include "doubles/software_metal/library.h"

namespace cupola::software_metal {
namespace {

constexpr const char* kErrors = "MTLBinaryArchiveDomain";
constexpr const char* kFirstLine = "software Metal, archive 1";
constexpr long kInvalidFile = 1, kUnexpectedElement = 2;
constexpr unsigned long kFailOnArchiveMiss = 4;

std::atomic<long> compiled = 0, archives = 0;

struct Archive final : Object {
  Archive() { ++archives; }
  const Class& isa() const override;
  void dispose() override { --archives; }
  std::mutex mutex;
  std::set<std::string> functions;
};

struct ArchiveDescriptor final : Object {
  const Class& isa() const override;
  void dispose() override { url = Kept<Url>(); }
  Kept<Url> url;
};

struct PipelineDescriptor final : Object {
  const Class& isa() const override;
  void dispose() override {
    function = Kept<Function>();
    archives = Kept<Array>();
  }
  Kept<Function> function;
  Kept<Array> archives;
};

/// Null stays null; anything else must be a T.
template <typename T>
T* argument(Object* object, const char* message) {
  auto* const found = dynamic_cast<T*>(object);
  if (object && !found) refuse_with("{}: the argument is of class {}", message, object->isa().name);
  return found;
}

bool failed(Object** error, long code, const std::string& words) {
  if (error) *error = autorelease(new ErrorObject(kErrors, code, words));
  return false;
}

std::string name_of(Function& function) {
  return formatted("{:016x} {}", std::hash<std::string>()(function.library->code), function.signature().name);
}

// -- MTLComputePipelineDescriptor, MTLBinaryArchiveDescriptor --

Object* new_pipeline_descriptor(Object*, Selector) {
  return new PipelineDescriptor;
}
void set_function(PipelineDescriptor* self, Selector, Object* function) {
  self->function = Kept<Function>(argument<Function>(function, "setComputeFunction:"));
}
void set_archives(PipelineDescriptor* self, Selector, Object* array) {
  auto* const given = argument<Array>(array, "setBinaryArchives:");
  if (given) argument<Archive>(given->element.get(), "setBinaryArchives:");
  self->archives = Kept<Array>(given);
}
Object* new_archive_descriptor(Object*, Selector) {
  return new ArchiveDescriptor;
}
void set_url(ArchiveDescriptor* self, Selector, Object* url) {
  auto* const given = argument<Url>(url, "setUrl:");
  if (given) self->url = Kept<Url>(given);
}

// -- MTLBinaryArchive --

bool add(Archive* self, Selector, Object* descriptor, Object** error) {
  auto* const given = argument<PipelineDescriptor>(descriptor, "addComputePipelineFunctionsWithDescriptor:");
  if (!given || !given->function) return failed(error, kUnexpectedElement, "there is no function");
  const std::lock_guard lock(self->mutex);
  if (self->functions.insert(name_of(*given->function.get())).second) ++compiled;
  return true;
}

bool serialize(Archive* self, Selector, Object* url, Object** error) {
  auto* const given = argument<Url>(url, "serializeToURL:");
  if (!given) refuse("serializeToURL: there is no URL");
  const std::lock_guard lock(self->mutex);
  if (self->functions.empty()) return failed(error, kInvalidFile, "nothing to serialize");
  std::ofstream file(given->path, std::ios::trunc);
  file << kFirstLine << '\n';
  for (const std::string& each : self->functions) file << each << '\n';
  return file.good() || failed(error, kInvalidFile, "the file cannot be written");
}

const Method kPipelineDescriptor[] = {
    {"setComputeFunction:", "v@:@", code(set_function)},
    {"setBinaryArchives:", "v@:@", code(set_archives)},
};
const Method kPipelineDescriptorClass[] = {{"new", "@@:", code(new_pipeline_descriptor)}};
const Method kArchiveDescriptor[] = {{"setUrl:", "v@:@", code(set_url)}};
const Method kArchiveDescriptorClass[] = {{"new", "@@:", code(new_archive_descriptor)}};
const Method kArchive[] = {
    {"addComputePipelineFunctionsWithDescriptor:error:", "B@:@^@", code(add)},
    {"serializeToURL:error:", "B@:@^@", code(serialize)},
};
auto& pipeline_descriptor_class =
    *new Class("MTLComputePipelineDescriptor", kPipelineDescriptor, kPipelineDescriptorClass);
auto& archive_descriptor_class = *new Class("MTLBinaryArchiveDescriptor", kArchiveDescriptor, kArchiveDescriptorClass);
auto& archive_class = *new Class("MTLBinaryArchive", kArchive, {});

const Class& Archive::isa() const {
  return archive_class;
}
const Class& ArchiveDescriptor::isa() const {
  return archive_descriptor_class;
}
const Class& PipelineDescriptor::isa() const {
  return pipeline_descriptor_class;
}

bool has(PipelineDescriptor& descriptor, const std::string& name) {
  if (!descriptor.archives) return false;
  auto* const archive = static_cast<Archive*>(descriptor.archives->element.get());
  const std::lock_guard lock(archive->mutex);
  return archive->functions.contains(name);
}

}  // namespace

Object* new_archive(Object*, Selector, Object* descriptor, Object** error) {
  auto* const given = argument<ArchiveDescriptor>(descriptor, "newBinaryArchiveWithDescriptor:");
  if (!given) refuse("newBinaryArchiveWithDescriptor: there is no descriptor");
  Kept<Archive> archive(new Archive);
  release(archive.get());  // the one that Kept took is left
  if (given->url) {
    std::ifstream file(given->url->path);
    std::string line;
    if (!std::getline(file, line) || line != kFirstLine) {
      failed(error, kInvalidFile, "the file is no archive of this system");
      return nullptr;
    }
    while (std::getline(file, line)) archive->functions.insert(line);
  }
  return retain(archive.get());
}

Object* new_pipeline(Object*, Selector, Object* function, Object**) {
  auto* const of = argument<Function>(function, "newComputePipelineStateWithFunction:");
  if (!of) refuse("newComputePipelineStateWithFunction: there is no function");
  ++compiled;
  return new Pipeline(of);
}

Object* new_pipeline_with(Object*, Selector, Object* descriptor, unsigned long options, Object** reflection,
                          Object** error) {
  constexpr const char* kMessage = "newComputePipelineStateWithDescriptor:";
  auto* const given = argument<PipelineDescriptor>(descriptor, kMessage);
  if (!given || !given->function) refuse_with("{} there is no function", kMessage);
  if (reflection) refuse_with("{} this double has no reflection", kMessage);
  if ((options & ~kFailOnArchiveMiss) != 0) refuse_with("{} options {}", kMessage, options);
  if (!has(*given, name_of(*given->function.get()))) {
    if (options & kFailOnArchiveMiss) {
      failed(error, kUnexpectedElement, "no archive has the pipeline");
      return nullptr;
    }
    ++compiled;
  }
  return new Pipeline(given->function.get());
}

}  // namespace cupola::software_metal

/// For tests: how many pipelines were compiled, and how many archives there are.
extern "C" __attribute__((visibility("default"))) long software_metal_pipelines_compiled() {
  return cupola::software_metal::compiled;
}
extern "C" __attribute__((visibility("default"))) long software_metal_archives() {
  return cupola::software_metal::archives;
}
