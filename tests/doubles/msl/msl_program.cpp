#include "doubles/msl/msl_program.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <regex>

#include "base/file.h"
#include "doubles/msl/build_program.h"
#include "doubles/msl/kernel_signatures.h"
#include "doubles/msl/simd_machine.h"

namespace cupola::doubles {
namespace {

constexpr std::string_view kMachine = R"(
#include <metal_stdlib>
namespace metal {
extern "C" {
Machine* cupola_machine;
const Gathered* cupola_gather(ulong value) { return cupola_machine->gather(__builtin_frame_address(0), value); }
void cupola_barrier() { cupola_machine->barrier(__builtin_frame_address(0)); }
}
}
)";

/// A folder of its own, removed with what is in it.
class Folder {
 public:
  Folder() {
    std::string path = (std::filesystem::temp_directory_path() / "msl-XXXXXX").string();
    if (mkdtemp(path.data())) path_ = path;
  }
  ~Folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// The code of the library that a variable belongs to.
CodeRange code_beside(const void* variable) {
  struct Search {
    uintptr_t variable;
    CodeRange found;
  } search{reinterpret_cast<uintptr_t>(variable), {}};
  dl_iterate_phdr(
      [](dl_phdr_info* library, size_t, void* argument) {
        auto& asked = *static_cast<Search*>(argument);
        CodeRange code;
        bool holds = false;
        for (int i = 0; i < library->dlpi_phnum; ++i) {
          const auto& part = library->dlpi_phdr[i];
          const uintptr_t begin = library->dlpi_addr + part.p_vaddr, end = begin + part.p_memsz;
          if (part.p_type != PT_LOAD) continue;
          holds |= asked.variable >= begin && asked.variable < end;
          if (part.p_flags & PF_X) code = {begin, end};
        }
        if (holds) asked.found = code;
        return holds ? 1 : 0;
      },
      &search);
  return search.found;
}

using Caller = void(const uint64_t* buffers, const uint64_t* threadgroups, const ThreadPlace* place);

class Program : public MslProgram {
 public:
  Program(void* library, std::vector<MslFunction> functions, std::span<const std::string> callers)
      : library_(library), functions_(std::move(functions)) {
    for (const std::string& caller : callers)
      callers_.push_back(reinterpret_cast<Caller*>(dlsym(library, caller.c_str())));
    void* const word = dlsym(library, "cupola_machine");
    *static_cast<Machine**>(word) = &machine;
    code_ = code_beside(word);
  }
  ~Program() override { dlclose(library_); }

  std::span<const MslFunction> functions() const override { return functions_; }

  Result<> run(const Launch& launch) override {
    std::vector<uint64_t> buffers;
    for (void* buffer : launch.buffers) buffers.push_back(reinterpret_cast<uint64_t>(buffer));
    Caller* const caller = callers_.at(launch.function);
    const Grid grid{.groups = launch.grid,
                    .threads = launch.block,
                    .threadgroup_bytes = launch.threadgroup_bytes,
                    .code = code_,
                    .patience = launch.patience};
    return run_grid(grid, [&](const ThreadPlace& place, const uint64_t* threadgroups) {
      caller(buffers.data(), threadgroups, &place);
    });
  }

 private:
  void* library_;
  CodeRange code_;
  std::vector<Caller*> callers_;
  std::vector<MslFunction> functions_;
};

std::string clang() {
  if (const char* named = std::getenv("CUPOLA_CLANG")) return named;
  return CUPOLA_CLANG_FOR_DOUBLES;
}

/// Warnings that would be errors of Metal's compiler are errors; those about what Metal knows and clang does not are
/// off.
constexpr std::string_view kMslFlags =
    " -x c++ -std=c++17 -Xclang -ffloat16-excess-precision=none -fno-strict-aliasing -fno-exceptions -fno-rtti -fwrapv"
    " -fconvergent-functions -Wno-unused-value -Werror=conversion-null -Werror=return-type -I " CUPOLA_MSL_HEADERS;

/// Every thread's place in the code is its own: calls are neither merged nor copied, and frames are chained.
constexpr std::string_view kFlags =
    " -O1 -march=native -ffp-contract=off -fPIC -shared -fno-omit-frame-pointer"
    " -mllvm -simplifycfg-hoist-common=false -mllvm -simplifycfg-sink-common=false -mllvm -disable-block-placement"
    " -mllvm -enable-tail-merge=0 -mllvm -disable-tail-duplicate -mllvm -disable-early-taildup";

}  // namespace

Result<std::shared_ptr<MslProgram>> build_program(ProgramSource source) {
  const Folder folder;
  TRY(write_file(folder.file(source.name), source.contents));
  const std::string command = clang() + std::string(kFlags) + source.flags + " -o " + folder.file("program.so") + " " +
                              folder.file(source.name) + " -lm 2> " + folder.file("messages");
  if (std::system(command.c_str()) != 0)
    return fail(ErrorCode::InvalidSource, "software Metal: {}",
                read_file(folder.file("messages")).value_or("no clang"));
  void* library = dlopen(folder.file("program.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library) return fail(ErrorCode::InvalidSource, "software Metal: {}", dlerror());
  return std::make_shared<Program>(library, std::move(source.functions), source.callers);
}

Result<std::shared_ptr<MslProgram>> MslProgram::compile(const std::string& source) {
  TRY(const std::vector<KernelSignature> kernels, kernel_signatures(source));
  static const std::regex attribute(R"(\[\[[^\]]*\]\])");  // clang would take threadgroup(0) for its address space
  const std::string text = std::string(kMachine) + "#line 1 \"program.metal\"\n" +
                           std::regex_replace(source, attribute, "") + callers(kernels);
  ProgramSource made{"program.cpp", std::string(kMslFlags), std::as_bytes(std::span(text)), {}, {}};
  for (const KernelSignature& kernel : kernels) {
    made.functions.push_back(kernel.function);
    made.callers.push_back("call_" + kernel.function.name);
  }
  return build_program(std::move(made));
}

}  // namespace cupola::doubles
