#pragma once

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend/metal/air/bitcode.h"
#include "backend/metal/build/air/print_air.h"
#include "backend/metal/build/msl/print.h"
#include "backend/metal/build/raise/raise.h"
#include "base/file.h"
#include "doubles/air/air_program.h"
#include "doubles/msl/msl_program.h"
#include "image/metal_abi.h"

// Kernels from prepared kir to MSL or AIR, run by their doubles.

namespace cupola::metal::testing {

/// What is behind the host's addresses for the GPU: other addresses for the same memory, as far as arithmetic can tell.
inline constexpr uint64_t kArena = 0x5000'0000'0000;

enum class Form { Msl, Air };

class MetalKernels {
 public:
  static constexpr uint32_t kOutputBytes = 256;

  /// Error: what raising, printing or compiling said.
  static Result<MetalKernels> make(std::unique_ptr<llvm::Module> module, Form form = Form::Msl) {
    MetalKernels made;
    TRY(build::Raised raised, build::raise(std::move(module), library("metal.bc")));
    for (const build::RaisedKernel& kernel : raised.kernels) {
      made.infos_.push_back(kernel.info);
      made.entries_.push_back(kernel.entry);
      made.saved_bytes_.push_back(kernel.saved_bytes);
    }
    made.data_ = std::make_unique<std::vector<std::byte>>(raised.data.bytes);
    made.data_->resize(made.data_->size() + 256);
    for (const image::DataRelocation& word : raised.data.relocations) {
      const uint64_t address = made.host(made.data_->data()) + word.addend;
      std::memcpy(made.data_->data() + word.offset, &address, sizeof address);
    }
    TRY(form == Form::Msl ? made.make_msl(raised) : made.make_air(raised));
    return made;
  }

  const std::string& text() const { return text_; }  ///< MSL
  uint32_t version() const { return version_; }      ///< of MSL, or of the system that AIR is for

  /// What the program is told of an address of this process.
  static uint64_t host(const void* address) { return reinterpret_cast<uint64_t>(address) - kArena; }

  struct Outcome {
    Result<> result;
    image::metal::FaultRecord fault;
    std::vector<uint64_t> output;  ///< an OutputHeader, and records
  };

  Outcome run(size_t kernel, Dim3 grid, Dim3 block, std::span<const std::byte> parameters,
              uint32_t dynamic_shared_bytes = 0, bool cooperative = false, uint64_t patience = 10'000'000) {
    using namespace image::metal;
    Outcome outcome{{}, {}, std::vector<uint64_t>(2 + kOutputBytes / 8)};
    reinterpret_cast<OutputHeader*>(outcome.output.data())->room = kOutputBytes;
    const uint32_t before = (infos_[kernel].static_shared_bytes + kSharedAlignment - 1) & ~(kSharedAlignment - 1);
    Launch launch{.arena = kArena,
                  .module_data = reinterpret_cast<uint64_t>(data_->data()),
                  .faults = reinterpret_cast<uint64_t>(&outcome.fault),
                  .locks = reinterpret_cast<uint64_t>(locks_->data()),
                  .output = reinterpret_cast<uint64_t>(outcome.output.data()),
                  .grid = 1,
                  .dynamic_shared = before,
                  .dynamic_shared_bytes = dynamic_shared_bytes,
                  .total_shared_bytes = before + dynamic_shared_bytes,
                  .cooperative = cooperative ? 1u : 0u,
                  .saved = 0,
                  .turn = 0,
                  .unused = 0};
    std::vector<uint64_t> saved;
    if (cooperative) {
      const uint64_t threads = grid.count() * block.count();
      saved.resize(2 + (grid.count() * launch.total_shared_bytes + threads * saved_bytes_[kernel]) / 8);
      launch.saved = reinterpret_cast<uint64_t>(saved.data());
    }
    std::vector<std::byte> block_of_parameters(parameters.begin(), parameters.end());
    const auto functions = program_->functions();
    const uint32_t i = static_cast<uint32_t>(
        std::ranges::find(functions, entries_[kernel], &doubles::MslFunction::name) - functions.begin());
    for (bool again = true; again; ++launch.turn) {
      if (cooperative) saved[0] = 0;
      outcome.result = program_->run({.function = i,
                                      .grid = grid,
                                      .block = block,
                                      .buffers = {block_of_parameters.data(), &launch},
                                      .threadgroup_bytes = {before + dynamic_shared_bytes, kWordsBytes},
                                      .patience = patience});
      again = cooperative && outcome.result && saved[0] != 0;
    }
    return outcome;
  }

 private:
  /// A file of lib/cupola.
  static std::span<const std::byte> library(const char* name) {
    static auto* const files = new std::map<std::string, std::string>;  // leaked: used after static destructors
    std::string& bytes = (*files)[name];
    if (bytes.empty()) bytes = read_file(std::string(CUPOLA_LIBRARIES "/") + name).value_or("");
    return std::as_bytes(std::span(bytes));
  }

  Result<> make_msl(build::Raised& raised) {
    build::MslSource source = build::print_msl(raised);
    TRY(build::all_are_made(raised));
    text_ = std::move(source.text);
    version_ = source.version;
    TRY(program_, doubles::MslProgram::compile(text_));
    return {};
  }

  Result<> make_air(build::Raised& raised) {
    TRY(const build::AirModules compiled, build::print_air(raised, library("air.bc")));
    TRY(build::all_are_made(raised));
    version_ = compiled.msl_version;
    std::vector<std::vector<std::byte>> modules;
    std::vector<doubles::AirFunction> functions;
    for (const build::AirKernel& kernel : compiled.kernels) {
      TRY(modules.emplace_back(), air::write_bitcode(*kernel.module));
      functions.push_back({kernel.entry, modules.back()});
    }
    TRY(program_, doubles::compile_air(functions));
    return {};
  }

  std::vector<KernelInfo> infos_;
  std::vector<uint32_t> saved_bytes_;
  std::vector<std::string> entries_;
  std::unique_ptr<std::vector<std::byte>> data_;
  std::unique_ptr<std::vector<uint32_t>> locks_ = std::make_unique<std::vector<uint32_t>>(image::metal::kLocks);
  std::string text_;
  uint32_t version_ = 0;
  std::shared_ptr<doubles::MslProgram> program_;
};

}  // namespace cupola::metal::testing
