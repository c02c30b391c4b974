#include "cupola/doctor.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "base/dynlib.h"
#include "base/settings.h"
#include "cupola/driver_library.h"
#include "cupola/kernel_run.h"
#include "cupolac/installation.h"
#include "cupolac/lists.h"
#include "cupolac/run.h"
#include "cupolac/shell.h"
#include "image/cache.h"

namespace cupola::tool {
namespace {

namespace fs = std::filesystem;
using cupolac::run_shell;
using cupolac::shell_word;

/// What a check found: one line, and for a problem what to do.
struct Finding {
  bool good;
  std::string line;
  std::string remedy;
};

Finding good(std::string line) {
  return {true, std::move(line), ""};
}
Finding problem(std::string line, std::string remedy) {
  return {false, std::move(line), std::move(remedy)};
}

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

Finding check_host() {
  utsname name{};
  uname(&name);
  if (const auto obstacle = obstacle_to_kernels(name.sysname, name.machine))
    return problem("host: " + *obstacle, "compile here if you like, and run programs on an x86-64 Linux machine");
  return good(formatted("host: {} on {}, where kernels can run", name.sysname, name.machine));
}

Finding check_clang() {
  const auto clang = cupolac::find_clang();
  if (!clang) return problem("clang: " + clang.error().message, "run ./demo once, which installs it");
  const std::string version = first_line(run_shell(shell_word(clang->string()) + " --version").text);
  if (!version.contains("clang version 22."))
    return problem(formatted("clang: {} is '{}', not version 22", clang->string(), version),
                   "install clang-22 or set CUPOLA_CLANG to its clang++");
  return good(formatted("clang: {}, {}", clang->string(), version));
}

Finding check_headers(const fs::path& root) {
  const fs::path headers = root / "include" / "cuda";
  for (const char* name : {"cuda_runtime.h", "cuda.h", "cupola/driver.def", "cupola/runtime.def"}) {
    std::error_code error;
    if (!fs::exists(headers / name, error))
      return problem(formatted("headers: {} is missing", (headers / name).string()),
                     "build Cupola again (scripts/build)");
  }
  return good("headers: " + headers.string());
}

Finding check_library(const fs::path& path) {
  if (auto library = DynLib::open(path.string()); !library)
    return problem(formatted("library: {} does not load: {}", path.string(), library.error().message),
                   "build Cupola again (scripts/build)");
  return good("library: " + path.string());
}

Finding check_device_library(const fs::path& root) {
  const fs::path path = root / "lib" / "cupola" / "device.bc";
  std::error_code error;
  if (!fs::exists(path, error))
    return problem("device library: " + path.string() + " is missing", "build Cupola again (scripts/build)");
  return good("device library: " + path.string());
}

/// The first library of this name in the folders of LD_LIBRARY_PATH.
fs::path in_environment(const std::string& soname) {
  const char* path = std::getenv("LD_LIBRARY_PATH");
  std::error_code error;
  for (const std::string& folder : cupolac::split_at_colons(path ? path : ""))
    if (fs::exists(fs::path(folder) / soname, error)) return fs::path(folder) / soname;
  return {};
}

/// The one that the loader's own list has.
fs::path in_system(const std::string& soname) {
  const std::string text = run_shell("PATH=$PATH:/sbin:/usr/sbin ldconfig -p").text;
  const size_t at = text.find("\t" + soname + " ");
  const size_t arrow = at == text.npos ? at : text.find("=> ", at);
  return arrow == text.npos ? fs::path() : fs::path(first_line(text.substr(arrow + 3)));
}

/// Programs made by cupolac name Cupola's folder themselves, which comes behind LD_LIBRARY_PATH and before the
/// system's.
Finding check_loader(const fs::path& root, const std::string& soname) {
  std::error_code error;
  const fs::path ours = root / "lib" / soname;
  auto another = [&](const fs::path& path) { return !path.empty() && !fs::equivalent(path, ours, error); };
  if (const fs::path first = in_environment(soname); another(first))
    return problem(formatted("loader: LD_LIBRARY_PATH leads to another {}, {}", soname, first.string()),
                   "take its folder out of LD_LIBRARY_PATH, or start programs with 'cupola run'");
  if (const fs::path other = in_system(soname); another(other))
    return good(formatted("loader: {}; a program not made by cupolac finds {} unless 'cupola run' starts it",
                          ours.string(), other.string()));
  return good(formatted("loader: {}, and no other in its folders", ours.string()));
}

Finding check_device(const fs::path& root) {
  const auto driver = DriverLibrary::open(root / "lib");
  if (!driver) return problem("device: " + driver.error().message, "CUPOLA_LOG=all shows what happened");
  if (driver->devices().empty()) return problem("device: none", "unset CUPOLA_DEVICE");
  return good(formatted("device: {}, and {} in all", driver->devices()[0].name, driver->devices().size()));
}

Finding check_cache() {
  const std::string folder = image::cache_folder(settings());
  if (folder.empty()) return good("cache: off");
  const std::string remedy = "set CUPOLA_CACHE_DIR to a folder of your own (mode 0700), or CUPOLA_CACHE=0";
  if (!image::DiskCache(folder).usable()) return problem("cache: " + folder + " cannot be used", remedy);
  const std::string probe = folder + "/doctor." + std::to_string(getpid());
  const bool written = static_cast<bool>(std::ofstream(probe) << "probe" << std::flush);
  std::error_code error;
  fs::remove(probe, error);
  if (!written) return problem("cache: " + folder + " cannot be written", remedy);
  return good("cache: " + folder);
}

/// Compiles and runs a kernel whose result the host program computes too.
constexpr const char* kProbe = R"(
#include <cstdio>
__global__ void probe(int* v) { v[threadIdx.x] = 3 * threadIdx.x + 1; }
int main() {
  int host[64], *device;
  cudaMalloc(&device, sizeof host);
  probe<<<1, 64>>>(device);
  cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
  cudaError_t status = cudaGetLastError();
  if (status != cudaSuccess) return std::printf("%s\n", cudaGetErrorString(status)), 1;
  for (int i = 0; i < 64; ++i)
    if (host[i] != 3 * i + 1) return std::printf("value %d is %d\n", i, host[i]), 1;
}
)";

Finding check_kernel(const fs::path& root) {
  const auto scratch = cupolac::Scratch::temporary();
  if (!scratch) return problem("kernel: " + scratch.error().message, "set TMPDIR to a folder that can be written");
  const std::string source = scratch->path() + "/probe.cu", program = scratch->path() + "/probe";
  std::ofstream(source) << kProbe;
  const std::string compiler = (root / "bin" / "cupolac").string();
  const auto begin = std::chrono::steady_clock::now();
  const auto compiled = run_shell(shell_word(compiler) + " " + shell_word(source) + " -o " + shell_word(program));
  if (compiled.status != 0)
    return problem("kernel: a small program does not compile: " + first_line(compiled.text), "see the lines above");
  const auto ran = run_shell(shell_word(program));
  if (ran.status != 0)
    return problem(formatted("kernel: a small program ended with status {}: {}", ran.status, first_line(ran.text)),
                   "CUPOLA_LOG=all shows what happened");
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  return good(formatted("kernel: a small program compiled and ran with the right result in {:.1f} s", time.count()));
}

/// The same of PTX, where there is no cupolac, as in a Python wheel.
constexpr std::string_view kPtxProbe = R"(
.version 8.0
.target sm_80
.address_size 64
.visible .entry probe(.param .u64 values)
{
  .reg .b32 %r<3>;
  .reg .b64 %rd<3>;
  ld.param.u64 %rd1, [values];
  mov.u32 %r1, %tid.x;
  mad.lo.u32 %r2, %r1, 3, 1;
  mul.wide.u32 %rd2, %r1, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %r2;
  ret;
}
)";

Finding check_ptx_kernel(const fs::path& root) {
  auto argument = parse_argument("out:u32:4");
  if (!argument) return problem("kernel: " + argument.error().message, "CUPOLA_LOG=all shows what happened");
  KernelRun run{.kernel = "probe", .block = {4, 1, 1}, .arguments = {std::move(*argument)}};
  const auto begin = std::chrono::steady_clock::now();
  const std::string image(kPtxProbe);
  const auto ran = run_kernel(root / "lib", std::as_bytes(std::span(image.c_str(), image.size() + 1)), run);
  if (!ran) return problem("kernel: " + ran.error().message, "CUPOLA_LOG=all shows what happened");
  if (const std::string values = text_of(run.arguments[0]); values != "1 4 7 10")
    return problem("kernel: a small program's result is " + values + ", not 1 4 7 10", "CUPOLA_LOG=all shows more");
  const std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  return good(formatted("kernel: PTX ran with the right result in {:.1f} s; there is no cupolac here", time.count()));
}

}  // namespace

std::optional<std::string> obstacle_to_kernels(std::string_view system, std::string_view processor) {
  if (system == "Linux" && processor == "x86_64") return std::nullopt;
  return formatted("{} on {}: kernels run only under Linux on x86-64 so far; launches are refused", system, processor);
}

int doctor(const fs::path& root) {
  bool all_good = true;
  auto report = [&](const Finding& finding) {
    all_good &= finding.good;
    std::fputs(formatted("{:<9}{}\n", finding.good ? "ok" : "problem", finding.line).c_str(), stdout);
    if (!finding.good) std::fputs(formatted("         {}\n", finding.remedy).c_str(), stdout);
    std::fflush(stdout);
  };
  report(check_host());
  const bool has_compiler = fs::exists(root / "bin" / "cupolac");
  if (has_compiler) report(check_clang());
  report(check_headers(root));
  for (const char* name : {"libcuda.so.1", "libcudart.so.13", "libcupola-compiler.so"})
    report(check_library(root / "lib" / name));
  report(check_device_library(root));
  for (const char* name : {"libcuda.so.1", "libcudart.so.13"}) report(check_loader(root, name));
  report(check_cache());
  report(check_device(root));
  report(has_compiler ? check_kernel(root) : check_ptx_kernel(root));
  std::puts(all_good ? "no problems" : "problems were found");
  return all_good ? 0 : 1;
}

}  // namespace cupola::tool
