#include "backend/metal/host/pipeline_archive.h"

#include <dlfcn.h>

#include <filesystem>

#include "backend/metal/host/device_fixture.h"
#include "backend/metal/host/metal_executable.h"

// Oracle: what the double counts: pipelines that had to be compiled, archives that there are.

namespace cupola::metal {
namespace {

long of_double(const char* name) {
  return reinterpret_cast<long (*)()>(dlsym(dlopen(CUPOLA_SOFTWARE_METAL, RTLD_NOW | RTLD_LOCAL), name))();
}

/// Executables with a cache folder of the test's own.
class Archives : public DeviceFixture {
 protected:
  Archives() { std::filesystem::create_directory(folder_); }
  ~Archives() override { std::filesystem::remove_all(folder_); }

  MetalServices services(image::DiskCache& cache) {
    return {metal, metal_device.id(), device->properties(), 32, *arena, state, nullptr, output, cache};
  }

  /// As in a process of its own: how many pipelines are compiled for a kernel of this body.
  long compiled_for(const std::string& body) {
    const long before = of_double("software_metal_pipelines_compiled");
    image::DiskCache cache(folder_);
    const auto loaded = MetalExecutable::load(services(cache), image::serialize(image_of(body)));
    EXPECT_TRUE(loaded && (*loaded)->prepare(0, {1}) && (*loaded)->prepare(0, {2}));
    return of_double("software_metal_pipelines_compiled") - before;
  }

  std::vector<image::CacheEntry> entries() { return image::DiskCache(folder_).entries(); }

  const std::string folder_ = formatted("{}/pipelines-{}", testing::TempDir(), getpid());
  const Metal& metal = *Metal::open().value();
  const Object metal_device{metal, metal.create_device()};
  const std::unique_ptr<Arena> arena = Arena::make(metal, metal_device.id(), Arena::kAlignment).value();
  MetalState state{{.memory_bytes = 1}};
  hal::DeviceOutput output;
};

TEST_F(Archives, PipelinesAreCompiledOnce) {
  EXPECT_EQ(compiled_for("shared[0] = 1;"), 1);
  ASSERT_EQ(entries().size(), 1u);
  EXPECT_TRUE(entries()[0].key.starts_with("pipelines-"));
  EXPECT_EQ(compiled_for("shared[0] = 1;"), 0);
  EXPECT_EQ(entries().size(), 1u);
  EXPECT_EQ(compiled_for("shared[0] = 2;"), 1);
  EXPECT_EQ(entries().size(), 2u);
}

TEST_F(Archives, WhatMetalDoesNotTakeIsMadeAnew) {
  EXPECT_EQ(compiled_for(""), 1);
  ASSERT_EQ(entries().size(), 1u);
  const std::string key = entries()[0].key, foreign = "of another system";
  image::DiskCache(folder_).put(key, std::as_bytes(std::span(foreign)));
  EXPECT_EQ(compiled_for(""), 1);
  EXPECT_EQ(compiled_for(""), 0);
  ASSERT_EQ(truncate((folder_ + "/" + key + ".cupola").c_str(), 40), 0);
  EXPECT_EQ(compiled_for(""), 1);
  EXPECT_EQ(compiled_for(""), 0);
}

TEST_F(Archives, KernelsOfAnExecutableShareOne) {
  image::MetalImage image = image_of("");
  for (int i = 0; i < 4; ++i) {
    image.kernels.push_back(image.kernels[0]);
    image.kernels.back().entry = formatted("other_{}", i);
    image.source +=
        formatted("kernel void other_{}(threadgroup uchar* shared [[threadgroup(0)]]) {{ shared[0] = {}; }}\n", i, i);
  }
  for (const long compiled : {5, 0}) {
    const long before = of_double("software_metal_pipelines_compiled");
    image::DiskCache cache(folder_);
    const auto loaded = MetalExecutable::load(services(cache), image::serialize(image));
    ASSERT_TRUE(loaded) << loaded.error().message;
    for (uint32_t kernel = 0; kernel < 5; ++kernel) EXPECT_TRUE((*loaded)->prepare(kernel, {1}));
    EXPECT_EQ(of_double("software_metal_pipelines_compiled") - before, compiled);
  }
  EXPECT_EQ(entries().size(), 1u);
}

TEST_F(Archives, GoWithTheirExecutablesAndLeaveNoFiles) {
  const auto files = [] {
    long count = 0;
    for (const auto& each : std::filesystem::directory_iterator(std::filesystem::temp_directory_path()))
      count += each.path().filename().string().starts_with("cupola-pipelines-");
    return count;
  };
  setenv("TMPDIR", folder_.c_str(), 1);
  for (int i = 0; i < 2; ++i) {
    image::DiskCache cache(folder_);
    const auto loaded = MetalExecutable::load(services(cache), image::serialize(image_of("")));
    ASSERT_TRUE(loaded && (*loaded)->prepare(0, {1}));
    EXPECT_EQ(of_double("software_metal_archives"), 1);
    EXPECT_EQ(files(), 0) << "the process may end at any time";
  }
  EXPECT_EQ(of_double("software_metal_archives"), 0);
  EXPECT_EQ(files(), 0);
  unsetenv("TMPDIR");
}

TEST_F(Archives, WithoutACacheFolderThereAreNone) {
  image::DiskCache none{""};
  const PipelineArchive archive(services(none), {});
  EXPECT_EQ(of_double("software_metal_archives"), 0);
}

}  // namespace
}  // namespace cupola::metal
