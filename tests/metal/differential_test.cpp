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

void run(MetalKernels& kernels, const Dim3& block, DifferentialMemory& memory) {
  DifferentialMemory::Parameters parameters = memory.parameters();
  for (std::byte*& place : parameters.memory) place -= kArena;
  const MetalKernels::Outcome outcome = kernels.run(0, {kGrid}, block, std::as_bytes(std::span(&parameters, 1)));
  if (!outcome.result) memory.failure = outcome.result.error().message;
  if (outcome.fault.kind != 0) memory.failure = formatted("fault {}", outcome.fault.kind);
}

/// CUPOLA_SEEDS=FIRST:COUNT runs others than the usual ones; CUPOLA_SEED_FILE=NAME keeps the last one's text and MSL.
void random_kernels_write_what_the_reference_does(Form form) {
  uint64_t first = 0, count = 12, refused = 0;
  if (const char* seeds = getenv("CUPOLA_SEEDS")) sscanf(seeds, "%" SCNu64 ":%" SCNu64, &first, &count);
  Reference reference;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    const std::string text = RandomKernel(seed).text();
    const char* file = getenv("CUPOLA_SEED_FILE");
    if (file) std::ofstream(file) << text;
    llvm::LLVMContext context;
    Result<MetalKernels> kernels = MetalKernels::make(cpu::build::testing::parse(context, text), form);
    if (!kernels) {
      ++refused;
      EXPECT_EQ(kernels.error().code, ErrorCode::NotSupported) << "seed " << seed << ": " << kernels.error().message;
      printf("seed %" PRIu64 ": %s\n", seed, kernels.error().message.c_str());
      continue;
    }
    if (file && form == Form::Msl) std::ofstream(std::string(file) + ".metal") << kernels->text();
    ASSERT_TRUE(reference.load(text));
    for (const Dim3& block : kBlocks) {
      DifferentialMemory expected(kGrid * block.count()), found(kGrid * block.count());
      reference.run(block, expected);
      run(*kernels, block, found);
      EXPECT_EQ(expected.compare(found), "")
          << "seed " << seed << ", block " << block.x << " x " << block.y << " x " << block.z;
    }
  }
  printf("%" PRIu64 " kernels, %" PRIu64 " refused\n", count, refused);
}

TEST(MslDifferential, RandomKernelsWriteWhatTheReferenceDoes) {
  random_kernels_write_what_the_reference_does(Form::Msl);
}

TEST(AirDifferential, RandomKernelsWriteWhatTheReferenceDoes) {
  random_kernels_write_what_the_reference_does(Form::Air);
}

}  // namespace
}  // namespace cupola::metal::testing
