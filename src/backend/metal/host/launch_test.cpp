#include <dlfcn.h>

#include "backend/metal/host/device_fixture.h"
#include "backend/metal/metallib/sample_module.h"

// Oracles: image/metal_abi.h says what a kernel is given; command_buffer_errors.def which error each end of a command
// buffer is; the numbers that kernels leave are worked out by hand.

namespace cupola::metal {
namespace {

class MetalLaunch : public DeviceFixture {};

void expect_failure(const Result<>& result, ErrorCode code, const std::string& words) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, code) << result.error().message;
  EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().message;
}

TEST_F(MetalLaunch, TheGpusAddressesAreNotTheHosts) {
  auto buffer = make_buffer(16);
  auto* const out = reinterpret_cast<uint64_t*>(buffer->address());
  ASSERT_TRUE(run(launch_of(
      image_of("const ulong p = *(constant ulong*)parameters; *(device ulong*)(p + launch.arena) = launch.arena;"),
      buffer->address())));
  EXPECT_NE(out[0], 0u);
}

TEST_F(MetalLaunch, PointersInMemoryAndInModuleDataAreTheHosts) {
  image::MetalImage image = image_of(R"(
    const ulong p = *(constant ulong*)parameters;
    device ulong* data = (device ulong*)launch.module_data;
    device uint* value = (device uint*)(data[1] + launch.arena);
    *(device uint*)(p + launch.arena) = *value + 1;
    *value = 7;)");
  image.data.resize(24);
  image.data[16] = std::byte{41};
  image.relocations = {{8, image::DataRelocation::Kind::DataAddress, 16}};
  image.symbols = {{"value", 16, 4, false}};
  auto buffer = make_buffer(16);
  const hal::Launch launch = launch_of(image, buffer->address());
  ASSERT_TRUE(run(launch));
  EXPECT_EQ(*reinterpret_cast<uint32_t*>(buffer->address()), 42u);
  EXPECT_EQ(*reinterpret_cast<uint32_t*>(launch.executable->find_symbol("value")->address), 7u);
}

TEST_F(MetalLaunch, SharedMemoryIsStaticThenDynamic) {
  image::MetalImage image = image_of(R"(
    const ulong p = *(constant ulong*)parameters;
    device uint* out = (device uint*)(p + launch.arena);
    out[0] = launch.dynamic_shared;
    out[1] = launch.dynamic_shared_bytes;
    out[2] = launch.total_shared_bytes;
    shared[launch.dynamic_shared + launch.dynamic_shared_bytes - 1] = 9;
    out[3] = shared[launch.dynamic_shared + launch.dynamic_shared_bytes - 1];)");
  image.kernels[0].info.static_shared_bytes = 20;
  auto buffer = make_buffer(16);
  hal::Launch launch = launch_of(image, buffer->address());
  launch.dynamic_shared_bytes = 100;
  ASSERT_TRUE(run(launch));
  const auto* const out = reinterpret_cast<uint32_t*>(buffer->address());
  EXPECT_EQ(out[0], 32u);
  EXPECT_EQ(out[1], 100u);
  EXPECT_EQ(out[2], 144u);
  EXPECT_EQ(out[3], 9u);
}

TEST_F(MetalLaunch, ParametersMayBeMoreThanAnEncoderTakesInPlace) {
  struct Large {
    uint64_t out;
    uint32_t values[2000];
  } large{};
  auto buffer = make_buffer(16);
  large.out = buffer->address();
  large.values[1999] = 12345;
  const auto image = image_of(
      "const ulong p = *(constant ulong*)parameters; *(device uint*)(p + launch.arena) = ((constant uint*)(parameters "
      "+ 8))[1999];",
      sizeof large);
  ASSERT_TRUE(run(launch_of(image, large)));
  EXPECT_EQ(*reinterpret_cast<uint32_t*>(buffer->address()), 12345u);
  large.values[1999] = 54321;
  ASSERT_TRUE(run(launch_of(image, large)));
  EXPECT_EQ(*reinterpret_cast<uint32_t*>(buffer->address()), 54321u);
}

TEST_F(MetalLaunch, EachGridHasItsNumber) {
  auto buffer = make_buffer(16);
  const hal::Launch launch = launch_of(
      image_of("const ulong p = *(constant ulong*)parameters; *(device ulong*)(p + launch.arena) = launch.grid;"),
      buffer->address());
  const auto* const out = reinterpret_cast<uint64_t*>(buffer->address());
  ASSERT_TRUE(run(launch));
  const uint64_t first = *out;
  ASSERT_TRUE(run(launch));
  EXPECT_EQ(*out, first + 1);
}

// Each thread counts the turns where it keeps its 16 bytes, behind the header and a block's 32 of shared memory; after
// three the grid has what it came for.
TEST_F(MetalLaunch, AGridThatMeetsIsLaunchedUntilNobodyWaits) {
  image::MetalImage image = image_of(R"(
    device uint* mine = (device uint*)(launch.saved + 16 + 2 * launch.total_shared_bytes) + 4 * (ctaid.x * 4 + t);
    if (*mine != launch.turn) return;
    *mine = launch.turn + 1;
    if (launch.turn < 3) *(device uint*)launch.saved = 1;
    device ulong* out = (device ulong*)(*(constant ulong*)parameters + launch.arena);
    if (launch.turn == 3) out[ctaid.x * 4 + t] = *mine + launch.grid;)");
  image.kernels[0].saved_bytes = 16;
  image.kernels[0].info.static_shared_bytes = 32;
  const auto memory = make_buffer(4096);
  const auto* out = reinterpret_cast<const uint64_t*>(memory->address());
  hal::Launch launch = launch_of(image, memory->address());
  launch.grid = {2};
  launch.block = {4};
  launch.cooperative = true;
  for (uint64_t number : {1, 2}) {  // of the grid, however often it is launched; what it keeps is zero at first
    ASSERT_TRUE(run(launch));
    for (int i = 0; i < 8; ++i) EXPECT_EQ(out[i], 4 + number);
  }
}

TEST_F(MetalLaunch, AFaultRecordNamesKernelBlockAndThread) {
  const auto record = [this](int kind, int detail) {
    image::MetalImage image =
        image_of(formatted("if (t != 3 || ctaid.x != 1) return;\n"
                           "device uint* words = (device uint*)launch.faults;\n"
                           "words[0] = {}; words[1] = ctaid.x; words[4] = t; words[7] = {};",
                           kind, detail));
    image.kernels[0].info.name = "_Z5scalePf";
    return image;
  };
  struct Case {
    int kind;
    ErrorCode code;
    const char* words;
  };
  for (const Case& each :
       {Case{1, ErrorCode::LaunchFailed, "kernel scale(float*), block (1,0,0), thread (3,0,0): trap"},
        Case{2, ErrorCode::Assert, "kernel scale(float*), block (1,0,0), thread (3,0,0): ?:6: assertion `?` failed"},
        Case{4, ErrorCode::LaunchFailed,
             "kernel scale(float*), block (1,0,0), thread (3,0,0): a grid-wide barrier needs a cooperative launch"},
        Case{5, ErrorCode::LaunchFailed,
             "kernel scale(float*), block (1,0,0): deadlock: every thread waits at a barrier"},
        Case{3, ErrorCode::InvalidPc,
             "kernel scale(float*), block (1,0,0), thread (3,0,0): a call through 0x0, which is no function"}}) {
    hal::Launch launch = launch_of(record(each.kind, 6), uint64_t{0});
    launch.grid = {2};
    launch.block = {4};
    expect_failure(run(launch), each.code, each.words);
    device->clear_fault();
  }
  EXPECT_TRUE(run(launch_of(image_of(""), uint64_t{0})));  // the record is clear again
}

TEST_F(MetalLaunch, AnAssertionTellsItsWords) {
  image::MetalImage image = image_of(R"(
    device uint* words = (device uint*)launch.faults;
    device ulong* texts = (device ulong*)(launch.faults + 32);
    const ulong data = launch.module_data - launch.arena;
    words[0] = 2; words[7] = 12;
    texts[0] = data; texts[1] = data + 8; texts[2] = data + 16;)");
  image.data.resize(24);
  std::memcpy(image.data.data(), "x < 3\0\0\0a.cu\0\0\0\0void f()", 24);
  image.data.push_back(std::byte{0});
  testing::internal::CaptureStderr();
  const Result<> result = run(launch_of(image, uint64_t{0}));
  EXPECT_EQ(testing::internal::GetCapturedStderr(),
            "a.cu:12: void f(): block: [0,0,0], thread: [0,0,0] Assertion `x < 3` failed.\n");
  expect_failure(result, ErrorCode::Assert,
                 "kernel k, block (0,0,0), thread (0,0,0): a.cu:12: assertion `x < 3` failed");
}

TEST_F(MetalLaunch, WhatKernelsPrintComesOutWhenItIsFlushed) {
  image::MetalImage image = image_of(R"(
    device ulong* record = (device ulong*)(launch.output + 16 + 24 * t);
    record[0] = launch.module_data - launch.arena;
    record[1] = 4;
    record[2] = t + 7;
    *(device uint*)launch.output = 48;)");
  const char format[] = "n = %d\n";
  for (const char c : format) image.data.push_back(static_cast<std::byte>(c));
  hal::Launch launch = launch_of(image, uint64_t{0});
  launch.block = {2};
  testing::internal::CaptureStdout();
  EXPECT_TRUE(run(launch));
  EXPECT_TRUE(run(launch));  // the buffer is empty again
  device->flush_output();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "n = 7\nn = 8\nn = 7\nn = 8\n");
}

TEST_F(MetalLaunch, EveryLaunchGetsTheSameLocks) {
  auto buffer = make_buffer(16);
  const auto image = image_of(
      "const ulong p = *(constant ulong*)parameters; device uint* locks = (device uint*)launch.locks; *(device "
      "uint*)(p "
      "+ launch.arena) = ++locks[1023];");
  const auto other = device->create_queue(0).value();
  const auto* const out = reinterpret_cast<uint32_t*>(buffer->address());
  EXPECT_TRUE(run(launch_of(image, buffer->address())));
  EXPECT_EQ(*out, 1u);
  EXPECT_TRUE(other->progress()->wait(other->submit(launch_of(image, buffer->address()))));
  EXPECT_EQ(*out, 2u);
}

TEST_F(MetalLaunch, EndsOfCommandBuffersAreCudasErrors) {
  void* const library = dlopen(CUPOLA_SOFTWARE_METAL, RTLD_NOW | RTLD_LOCAL);
  auto* const fail_next = reinterpret_cast<void (*)(long)>(dlsym(library, "software_metal_fail_next"));
  ASSERT_TRUE(fail_next);
  const hal::Launch launch = launch_of(image_of(""), uint64_t{0});
  struct Case {
    long number;
    ErrorCode code;
    const char* words;
  };
  for (const Case& each :
       {Case{1, ErrorCode::LaunchFailed, "an internal error"}, Case{2, ErrorCode::LaunchTimeout, "it ran for too long"},
        Case{3, ErrorCode::IllegalAddress, "illegal memory access"},
        Case{4, ErrorCode::DevicesUnavailable, "took the GPU away"}, Case{7, ErrorCode::NotPermitted, "not permitted"},
        Case{8, ErrorCode::OutOfMemory, "out of memory"}, Case{9, ErrorCode::LaunchFailed, "an invalid resource"},
        Case{11, ErrorCode::DevicesUnavailable, "the GPU was removed"},
        Case{12, ErrorCode::HardwareStackError, "stack overflow"}, Case{99, ErrorCode::LaunchFailed, "it failed"}}) {
    fail_next(each.number);
    const Result<> result = run(launch);
    expect_failure(result, each.code, each.words);
    EXPECT_TRUE(result.error().message.starts_with("kernel k: ")) << result.error().message;
    expect_failure(result, each.code, formatted("Metal: software Metal: a test asked for error {}", each.number));
    device->clear_fault();
    EXPECT_TRUE(run(launch));
  }
}

TEST_F(MetalLaunch, LimitsAreToldBeforehandWithTheKernelsName) {
  const image::MetalImage image = image_of("");
  const auto refusal = [&](auto change) {
    hal::Launch launch = launch_of(image, uint64_t{0});
    change(launch);
    const Result<> result = run(launch);
    device->clear_fault();
    return result ? Error{} : result.error();
  };
  const Error threads = refusal([](hal::Launch& launch) { launch.block = {1025}; });
  EXPECT_EQ(threads.message, "kernel k: a block of 1025 threads; Metal's limit is 1024");
  const Error shared = refusal([](hal::Launch& launch) { launch.dynamic_shared_bytes = 32753; });
  EXPECT_EQ(shared.message, "kernel k: 32768 bytes of shared memory; the most on Metal is 32752");
  const Error grid = refusal([](hal::Launch& launch) { launch.grid = {1 << 30}, launch.block = {4}; });
  EXPECT_EQ(grid.message, "kernel k: 1073741824 blocks of 4 threads in x are more than 2^32 threads");
  const Error parameters = refusal([](hal::Launch& launch) { launch.parameters.resize(4); });
  EXPECT_EQ(parameters.message, "kernel k: 4 bytes of parameters; it takes 8");
}

TEST_F(MetalLaunch, AllOfTheSharedMemoryCanBeUsed) {
  hal::Launch launch = launch_of(image_of("shared[launch.dynamic_shared_bytes - 1] = 1;"), uint64_t{0});
  launch.dynamic_shared_bytes = device->properties().shared_bytes_per_block;
  EXPECT_TRUE(run(launch));
}

// 4 bytes of static shared memory take 16, and so the 32752 of a block leave 32736, although 32748 are free.
TEST_F(MetalLaunch, WhatIsLeftBesideStaticSharedMemoryIsSaidBeforehand) {
  image::MetalImage image = image_of("shared[launch.dynamic_shared + launch.dynamic_shared_bytes - 1] = 1;");
  image.kernels[0].info.static_shared_bytes = 4;
  hal::Launch launch = launch_of(image, uint64_t{0});
  const hal::DeviceProperties& properties = device->properties();
  const uint32_t most = properties.dynamic_shared_beside(launch.executable->kernels()[0], 32752);
  EXPECT_EQ(most, 32736u);
  for (const uint32_t bytes : {most, most + 1, 32748u}) {
    launch.dynamic_shared_bytes = bytes;
    const bool fits = bytes <= most;
    EXPECT_EQ(device->occupancy(*launch.executable, 0, 32, bytes) > 0, fits) << bytes;
    EXPECT_EQ(run(launch).has_value(), fits) << bytes;
    device->clear_fault();
  }
}

class MetalLoad : public DeviceFixture {};

TEST_F(MetalLoad, AnImageForAnotherDeviceIsRefused) {
  image::MetalImage image = image_of("");
  image.target = "metal:msl99";
  const auto loaded = load(image);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::NoBinaryForGpu);
  EXPECT_EQ(loaded.error().message,
            "the kernel image is for 'metal:msl99'; this device is '" + device->properties().image_target + "'");
}

TEST_F(MetalLoad, AnImageForANewerMetalIsRefused) {
  image::MetalImage image = image_of("");
  image.msl_version = 99;
  const auto loaded = load(image);
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::NoBinaryForGpu);
  EXPECT_NE(loaded.error().message.find("needs MSL 9.9"), std::string::npos) << loaded.error().message;
}

TEST_F(MetalLoad, TheCompilersWordsAreTold) {
  const auto loaded = load(image_of("nonsense = 1;"));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::InvalidSource);
  EXPECT_NE(loaded.error().message.find("module of kernel k"), std::string::npos) << loaded.error().message;
  EXPECT_NE(loaded.error().message.find("nonsense"), std::string::npos) << loaded.error().message;
}

TEST_F(MetalLoad, AKernelThatMetalCannotHaveKeepsNoOtherFromRunning) {
  image::MetalImage image = image_of("");
  image.kernels.push_back({{.name = "r"}, {}, "metal: function 'r' calls itself"});
  hal::Launch launch = launch_of(image, uint64_t{0});
  EXPECT_TRUE(run(launch));
  EXPECT_FALSE(launch.executable->has_code(1));
  const Result<> prepared = launch.executable->prepare(1, {32});
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().code, ErrorCode::NotSupported);
  EXPECT_EQ(prepared.error().message, "kernel r: metal: function 'r' calls itself");
}

TEST_F(MetalLoad, AnEntryThatIsNotThereIsNamed) {
  image::MetalImage image = image_of("");
  image.kernels[0].entry = "other";
  auto loaded = load(image);
  ASSERT_TRUE(loaded);
  const Result<> prepared = (*loaded)->prepare(0, {32});
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().message, "kernel k: its image has no function other");
}

/// A container with the empty kernel `name`, and an image's note.
std::vector<std::byte> container(const std::string& name, const std::vector<std::byte>& note) {
  const std::vector<std::byte> module =
      metallib::sample_module({.function = name, .note = {reinterpret_cast<const char*>(note.data()), note.size()}});
  const metallib::FunctionSource functions[] = {{name, metallib::FunctionKind::Kernel, module, {}, {}}};
  return metallib::build(functions).value();
}

std::vector<std::byte> note_of(image::MetalImage image) {
  image.target = "metal:metallib";
  image.source.clear();
  return image::serialize(image);
}

TEST_F(MetalLoad, AContainerOfCompiledKernelsIsLaunched) {
  image::MetalImage image = image_of("");
  image.data.resize(8);
  image.symbols = {{"value", 0, 8, false}};
  auto loaded = device->load(container("kernel_k", note_of(image)));
  ASSERT_TRUE(loaded) << loaded.error().message;
  EXPECT_EQ((*loaded)->kernels()[0].parameter_bytes, 8u);
  EXPECT_EQ((*loaded)->find_symbol("value")->size, 8u);
  hal::Launch launch{.executable = *loaded, .grid = {1}, .block = {32}};
  launch.parameters.resize(8);
  EXPECT_TRUE(run(std::move(launch)));
}

TEST_F(MetalLoad, AContainerMustSayWhatItsKernelsAre) {
  const auto silent = device->load(container("kernel_k", {}));
  ASSERT_FALSE(silent);
  EXPECT_EQ(silent.error().code, ErrorCode::InvalidImage);
  EXPECT_NE(silent.error().message.find("does not say what its kernels' parameters are"), std::string::npos);
  std::vector<std::byte> note = note_of(image_of(""));
  note[8] ^= std::byte{0xff};
  const auto newer = device->load(container("kernel_k", note));
  ASSERT_FALSE(newer);
  EXPECT_NE(newer.error().message.find("another version of Cupola"), std::string::npos) << newer.error().message;
}

TEST_F(MetalLoad, AContainerForANewerMetalIsRefused) {
  image::MetalImage image = image_of("");
  image.msl_version = 99;
  const auto loaded = device->load(container("kernel_k", note_of(image)));
  ASSERT_FALSE(loaded);
  EXPECT_EQ(loaded.error().code, ErrorCode::NoBinaryForGpu);
}

TEST_F(MetalLoad, ADamagedContainerIsAnErrorAndNeverLoadedAsIfItWereWhole) {
  std::vector<std::byte> bytes = container("kernel_k", note_of(image_of("")));
  for (size_t size = 0; size < bytes.size(); size += 7) {
    const auto cut = device->load(std::span(bytes).first(size));
    ASSERT_FALSE(cut) << size;
    EXPECT_EQ(cut.error().code, ErrorCode::InvalidImage);
    EXPECT_FALSE(cut.error().message.contains('\n'));
  }
  const size_t modules = bytes.size() - metallib::read(bytes)->functions[0].module.size();
  for (size_t at = modules; at < bytes.size(); at += 3) {
    bytes[at] ^= std::byte{4};
    const auto changed = device->load(bytes);
    ASSERT_FALSE(changed) << at;
    EXPECT_EQ(changed.error().code, ErrorCode::InvalidImage);
    EXPECT_NE(changed.error().message.find("damaged"), std::string::npos) << changed.error().message;
    bytes[at] ^= std::byte{4};
  }
}

TEST_F(MetalLoad, AContainerWithoutAKernelOfItsNoteNamesIt) {
  const auto loaded = device->load(container("no_kernel", note_of(image_of(""))));
  ASSERT_TRUE(loaded) << loaded.error().message;
  const Result<> prepared = (*loaded)->prepare(0, {32});
  ASSERT_FALSE(prepared);
  EXPECT_EQ(prepared.error().message, "kernel k: its image has no function kernel_k");
}

}  // namespace
}  // namespace cupola::metal
