// That the double ends the process for what Metal forbids: each program below would be a defect of the host half.

#include <sys/mman.h>

#include <thread>

#include "backend/metal/host/device_fixture.h"
#include "backend/metal/host/metal.h"

namespace cupola::metal {
namespace {

class SoftwareMetal : public testing::Test {
 protected:
  SoftwareMetal() { GTEST_FLAG_SET(death_test_style, "threadsafe"); }

  Id function() {
    const Object options(metal, metal.alloc_init(metal.class_named("MTLCompileOptions")));
    metal.set_math_mode(options.id(), kMathModeSafe);
    Id error = nullptr;
    const Id library =
        metal.new_library(device.id(),
                          metal.string("#include <metal_stdlib>\nusing namespace metal;\nkernel void "
                                       "f(constant uchar* p [[buffer(0)]], threadgroup uchar* s "
                                       "[[threadgroup(0)]]) { *(device uint*)*(constant ulong*)p = 1; }\n"),
                          options.id(), &error);
    return metal.new_function(library, metal.string("f"));
  }

  Id pipeline(Unsigned options, Id* error) {
    const Object descriptor(metal, metal.alloc_init(metal.class_named("MTLComputePipelineDescriptor")));
    metal.set_function(descriptor.id(), function());
    return metal.new_pipeline_with(device.id(), descriptor.id(), options, nullptr, error);
  }

  /// Runs `f` with these steps left out or changed.
  struct Steps {
    bool pipeline = true, parameters = true, threadgroup = true, resident = true, end = true;
    Unsigned threadgroup_bytes = 16, threads = 1;
    Unsigned times_committed = 1;
  };
  Unsigned run(const Steps& steps) {
    void* const mapped = mmap(nullptr, 2 * kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    void* const memory = reinterpret_cast<void*>((reinterpret_cast<uintptr_t>(mapped) | (kBytes - 1)) + 1);
    const Id buffer = metal.new_buffer(device.id(), memory, kBytes, kStorageShared, nullptr);
    const Id buffers = metal.command_buffer(metal.new_queue(device.id()));
    const Id encoder = metal.compute_encoder(buffers);
    Id error = nullptr;
    if (steps.pipeline) metal.set_pipeline(encoder, pipeline(0, &error));
    const uint64_t address = metal.gpu_address(buffer);
    if (steps.parameters) metal.set_bytes(encoder, &address, sizeof address, 0);
    if (steps.threadgroup) metal.set_threadgroup_memory(encoder, steps.threadgroup_bytes, 0);
    if (steps.resident) metal.use_resource(encoder, buffer, kUsageReadWrite);
    metal.dispatch(encoder, {1, 1, 1}, {steps.threads, 1, 1});
    if (steps.end) metal.end_encoding(encoder);
    for (Unsigned i = 0; i < steps.times_committed; ++i) metal.commit(buffers);
    metal.wait(buffers);
    if (metal.status(buffers) == kStatusCompleted) EXPECT_EQ(*static_cast<uint32_t*>(memory), 1u);
    return metal.status(buffers);
  }

  static constexpr size_t kBytes = 65536;
  const Metal& metal = *Metal::open().value();
  const Metal::Pool pool{metal};
  const Object device{metal, metal.create_device()};
};

TEST_F(SoftwareMetal, RunsWhatMetalAllows) {
  EXPECT_EQ(run({}), kStatusCompleted);
}

TEST_F(SoftwareMetal, ABufferThatIsNotResidentCannotBeTouched) {
  EXPECT_NE(run({.resident = false}), kStatusCompleted);
}

TEST_F(SoftwareMetal, EndsProgramsThatEncodeWrongly) {
  EXPECT_DEATH(run({.pipeline = false}), "there is no pipeline");
  EXPECT_DEATH(run({.parameters = false}), "f has no buffer at index 0");
  EXPECT_DEATH(run({.threadgroup = false}), "f has no threadgroup memory at index 0");
  EXPECT_DEATH(run({.threadgroup_bytes = 24}), "setThreadgroupMemoryLength: 24 bytes");
  EXPECT_DEATH(run({.threadgroup_bytes = 32784}), "setThreadgroupMemoryLength: 32784 bytes");
  EXPECT_DEATH(run({.threads = 1025}), "1025 threads a threadgroup");
  EXPECT_DEATH(run({.threads = 0}), "1 threadgroups of 0 threads");
  EXPECT_DEATH(run({.end = false}), "commit: an encoder has not ended");
  EXPECT_DEATH(run({.times_committed = 0}), "the command buffer was not committed");
  EXPECT_DEATH(run({.times_committed = 2}), "the command buffer is committed");
}

TEST_F(SoftwareMetal, EndsProgramsThatKeepNoRules) {
  EXPECT_DEATH(
      {
        const Id queue = metal.new_queue(device.id());
        metal.release(queue);
        metal.command_buffer(queue);
      },
      "the object was released before");
  EXPECT_DEATH(metal.command_buffer(device.id()), "message 'commandBuffer' of type @@:: .*no such method");
  EXPECT_DEATH(metal.new_buffer(device.id(), reinterpret_cast<void*>(64), kBytes, kStorageShared, nullptr),
               "are no whole pages");
  EXPECT_DEATH(std::thread([&] { metal.string("x"); }).join(), "autoreleased on a thread without a pool");
}

TEST_F(SoftwareMetal, ArchivesAreStrict) {
  Id error = nullptr;
  EXPECT_EQ(pipeline(kFailOnArchiveMiss, &error), nullptr);
  EXPECT_EQ(metal.words(error), "no archive has the pipeline");
  const Object none(metal, metal.alloc_init(metal.class_named("MTLBinaryArchiveDescriptor")));
  const Object archive(metal, metal.new_archive(device.id(), none.id(), &error));
  ASSERT_TRUE(archive);
  const Id url = metal.file_url(metal.class_named("NSURL"), metal.string("/nowhere/at all"));
  EXPECT_FALSE(metal.write_archive(archive.id(), url, &error));
  EXPECT_EQ(metal.words(error), "nothing to serialize");
  metal.set_url(none.id(), url);
  EXPECT_EQ(metal.new_archive(device.id(), none.id(), &error), nullptr);
  EXPECT_EQ(metal.words(error), "the file is no archive of this system");
  const Object empty(metal, metal.alloc_init(metal.class_named("MTLComputePipelineDescriptor")));
  EXPECT_FALSE(metal.add_pipeline(archive.id(), empty.id(), &error));
  EXPECT_DEATH(metal.new_pipeline_with(device.id(), empty.id(), 0, nullptr, &error), "there is no function");
  EXPECT_DEATH(pipeline(1, &error), "options 1");
  EXPECT_DEATH(metal.set_function(empty.id(), url), "the argument is of class NSURL");
  const Id others = metal.array_of(metal.class_named("NSArray"), url);
  EXPECT_DEATH(metal.set_archives(empty.id(), others), "the argument is of class NSURL");
}

TEST_F(SoftwareMetal, MessagesOfAnotherTypeAreFound) {
  DynLib library = DynLib::open(CUPOLA_SOFTWARE_METAL).value();
  ObjcRuntime runtime;
  const auto find = [&](const char* name, auto& place) {
    place = reinterpret_cast<std::remove_reference_t<decltype(place)>>(library.symbol(name).value());
  };
  find("objc_msgSend", runtime.send);
  find("sel_registerName", runtime.selector);
  find("object_getClass", runtime.class_of);
  find("class_getInstanceMethod", runtime.method_of);
  find("method_getTypeEncoding", runtime.types_of);
  runtime.checks_types = true;
  const Method<Id(Unsigned)> wrong(runtime, "newCommandQueue");
  EXPECT_DEATH(wrong(device.id(), 1), "'newCommandQueue' of type @@:Q: the receiver's class says @@:");
  const Method<Id()> right(runtime, "newCommandQueue");
  EXPECT_TRUE(right(device.id()));
}

TEST_F(SoftwareMetal, AMessageToNothingGivesNothing) {
  EXPECT_EQ(metal.command_buffer(nullptr), nullptr);
}

}  // namespace
}  // namespace cupola::metal
