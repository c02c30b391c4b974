#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "backend/cpu/build/differential_memory.h"
#include "backend/cpu/build/random_kernel.h"
#include "backend/cpu/build/test_program.h"
#include "backend/cpu/run/cpu_device.h"
#include "metal/metal_kernels.h"

// Oracle: the cpu device's reference, a fibre a thread, of which everything that random kernels write must be the same.

namespace cupola::metal::testing {
namespace {

using cpu::build::testing::DifferentialMemory;
using cpu::build::testing::RandomKernel;

constexpr Dim3 kBlocks[] = {{32}, {64}, {96, 2}, {7, 5}, {33}, {1}, {16, 3, 3}, {8, 8}};
constexpr uint32_t kGrid = 2;

class Reference {
 public:
  Result<> load(const std::string& text) {
    llvm::LLVMContext context;
    TRY(image::KernelImage built,
        cpu::build::build(cpu::build::testing::parse(context, text), {.target = device_->properties().image_target}));
    built.kernels[0].wide_entries = {};
    TRY(executable_, device_->load(image::serialize(built)));
    return {};
  }

  void run(const Dim3& block, DifferentialMemory& memory) {
    hal::Launch launch{.executable = executable_, .grid = {kGrid}, .block = block};
    const DifferentialMemory::Parameters parameters = memory.parameters();
    launch.parameters.resize(sizeof parameters);
    std::memcpy(launch.parameters.data(), &parameters, sizeof parameters);
    const uint64_t last = queue_->submit(std::move(launch));
    if (const Result<> result = queue_->progress()->wait(last); !result) memory.failure = result.error().message;
  }

 private:
  std::unique_ptr<hal::Device> device_ = cpu::make_cpu_device();
  std::unique_ptr<hal::Queue> queue_ = device_->create_queue(0).value();
  std::shared_ptr<hal::Executable> executable_;
};

/// What else says what the kernel's barriers say: the same kernel with others in their places.
struct Barriers {
  const char* words;
  bool grid_wide;
};
constexpr Barriers kBarriers[] = {
    {"call void @cupola.barrier(i32 0, i32 0)", false},
    {"call void @cupola.grid.sync()", true},
    {"call void @cupola.barrier(i32 5, i32 0)", false},
};

std::string with_barriers(std::string text, const Barriers& barriers) {
  const std::string plain = kBarriers[0].words;
  for (size_t at = 0; (at = text.find(plain, at)) != std::string::npos; at += strlen(barriers.words))
    text.replace(at, plain.size(), barriers.words);
  return barriers.grid_wide ? text + "declare void @cupola.grid.sync() convergent\n" : text;
}

void run(MetalKernels& kernels, const Dim3& block, DifferentialMemory& memory, bool cooperative) {
  const DifferentialMemory::Parameters parameters = memory.parameters(kArena);
  const MetalKernels::Outcome outcome =
      kernels.run(0, {kGrid}, block, std::as_bytes(std::span(&parameters, 1)), 0, cooperative);
  if (!outcome.result) memory.failure = outcome.result.error().message;
  if (outcome.fault.kind != 0) memory.failure = formatted("fault {}", outcome.fault.kind);
}

/// False: refused, with a reason that it printed.
bool compare(Form form, uint64_t seed, const Barriers& barriers) {
  const std::string plain = RandomKernel(seed).text(), text = with_barriers(plain, barriers);
  const char* file = getenv("CUPOLA_SEED_FILE");
  if (file) std::ofstream(file) << text;
  llvm::LLVMContext context;
  Result<MetalKernels> kernels = MetalKernels::make(cpu::build::testing::parse(context, text), form);
  if (!kernels) {
    EXPECT_EQ(kernels.error().code, ErrorCode::NotSupported) << "seed " << seed << ": " << kernels.error().message;
    printf("seed %" PRIu64 ": %s\n", seed, kernels.error().message.c_str());
    return false;
  }
  if (file && form == Form::Msl) std::ofstream(std::string(file) + ".metal") << kernels->text();
  static Reference reference;
  EXPECT_TRUE(reference.load(plain));
  for (const Dim3& block : kBlocks) {
    DifferentialMemory expected(kGrid * block.count()), found(kGrid * block.count());
    reference.run(block, expected);
    run(*kernels, block, found, barriers.grid_wide);
    EXPECT_EQ(expected.compare(found), "")
        << "seed " << seed << ", block " << block.x << " x " << block.y << " x " << block.z << ", " << barriers.words;
  }
  return true;
}

/// CUPOLA_SEEDS=FIRST:COUNT runs others than the usual ones; CUPOLA_SEED_FILE=NAME keeps the last one's text and MSL.
void random_kernels_write_what_the_reference_does(Form form) {
  uint64_t first = 0, count = 12, refused = 0;
  if (const char* seeds = getenv("CUPOLA_SEEDS")) sscanf(seeds, "%" SCNu64 ":%" SCNu64, &first, &count);
  for (uint64_t seed = first; seed < first + count; ++seed)
    for (const Barriers& barriers : kBarriers) refused += !compare(form, seed, barriers);
  printf("%" PRIu64 " kernels with barriers of %zu kinds, %" PRIu64 " refused\n", count, std::size(kBarriers), refused);
}

TEST(MslDifferential, RandomKernelsWriteWhatTheReferenceDoes) {
  random_kernels_write_what_the_reference_does(Form::Msl);
}

TEST(AirDifferential, RandomKernelsWriteWhatTheReferenceDoes) {
  random_kernels_write_what_the_reference_does(Form::Air);
}

}  // namespace
}  // namespace cupola::metal::testing
