// metal FILE...: how long kernels take to Metal's languages, each by itself, from kir to MSL and to a container of AIR,
// through the compiler's C entry. Files hold kir. Of each the dearest kernel is a row; the figures are of all. The
// baseline is LLVM's way from the same kir to PTX. The limit is 50 ms for a kernel of 150 lines, counted in the MSL
// that comes out.

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "image/compile_request.h"
#include "image/compiler_library.h"
#include "image/metal_image.h"
#include "kir/kir.h"
#include "kir/passes.h"
#include "measure.h"

using namespace cupola;

namespace {

constexpr double kLimitSeconds = 0.050, kLimitLines = 150;
constexpr const char *kMsl = "metal:msl32", *kAir = "metal:metallib32", *kPtx = "ptx:sm_89";

struct Kernel {
  std::string name;
  std::vector<std::byte> kir;
  size_t lines = 0;  ///< of its MSL
  double msl_seconds = 0, air_seconds = 0;
};

Result<std::vector<std::byte>> compiled(const char* target, const Kernel& kernel) {
  TRY(const image::CompilerLibrary compiler, image::CompilerLibrary::ours());
  return compiler.compile(image::CompileRequest{target, "", {{image::CodeKind::Kir, kernel.kir}}, {}});
}

/// The kernels of a module, each with what it reaches.
std::vector<Kernel> kernels_of(const llvm::Module& module) {
  std::vector<Kernel> all;
  for (const llvm::Function* wanted : kir::kernels(const_cast<llvm::Module&>(module))) {
    const std::unique_ptr<llvm::Module> alone = llvm::CloneModule(module);
    for (llvm::Function* kernel : kir::kernels(*alone)) {
      if (kernel->getName() == wanted->getName()) continue;
      kernel->deleteBody();
      if (kernel->use_empty()) kernel->eraseFromParent();
    }
    kir::remove_unreached(*alone);
    all.push_back({wanted->getName().str(), kir::write(*alone)});
  }
  return all;
}

double seconds_of(const char* target, const Kernel& kernel) {
  const double begin = bench::now();
  (void)compiled(target, kernel);
  return bench::now() - begin;
}

/// False for what Metal cannot have.
bool measure_once(Kernel& kernel) {
  const auto made = compiled(kMsl, kernel);
  if (!made || !compiled(kAir, kernel)) return false;
  const auto image = image::deserialize_metal(*made);
  if (!image) return false;
  kernel.lines = static_cast<size_t>(std::ranges::count(image->source, '\n'));
  kernel.msl_seconds = seconds_of(kMsl, kernel);
  kernel.air_seconds = seconds_of(kAir, kernel);
  return true;
}

void report(const std::string& file, const Kernel& kernel) {
  const double limit = kLimitSeconds * std::max(1.0, static_cast<double>(kernel.lines) / kLimitLines);
  const std::string details =
      formatted(", \"kernel\": \"{}\", \"msl_lines\": {}", kernel.name.substr(0, 60), kernel.lines);
  const double ptx = bench::median_seconds([&] { (void)compiled(kPtx, kernel); });
  bench::report("metal/msl/" + file, bench::median_seconds([&] { (void)compiled(kMsl, kernel); }), limit,
                {{"llvm_ptx", ptx}}, details);
  bench::report("metal/air/" + file, bench::median_seconds([&] { (void)compiled(kAir, kernel); }), limit,
                {{"llvm_ptx", ptx}}, details);
}

void report_all(const std::vector<Kernel>& kernels, const char* form, double Kernel::* seconds) {
  std::vector<double> times;
  size_t above = 0, small = 0;
  for (const Kernel& kernel : kernels) {
    times.push_back(kernel.*seconds);
    if (static_cast<double>(kernel.lines) > kLimitLines) continue;
    ++small;
    above += kernel.*seconds > kLimitSeconds;
  }
  std::ranges::sort(times);
  const auto metric = [&](const char* name, const std::string& value) {
    bench::metric(formatted("metal/{}/{}", form, name), value);
  };
  metric("kernels", std::to_string(times.size()));
  metric("median-milliseconds", formatted("{:.2f}", times[times.size() / 2] * 1e3));
  metric("slowest-milliseconds", formatted("{:.2f}", times.back() * 1e3));
  metric("kernels-up-to-150-lines", std::to_string(small));
  metric("of-them-above-50-milliseconds", std::to_string(above));
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<Kernel> all;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    const std::string bytes(std::istreambuf_iterator<char>(file), {});
    llvm::LLVMContext context;
    const auto module = kir::read(context, std::as_bytes(std::span(bytes)));
    if (!module) {
      std::fprintf(stderr, "%s: %s\n", argv[i], module.error().message.c_str());
      return 1;
    }
    std::vector<Kernel> kernels = kernels_of(**module);
    std::erase_if(kernels, [](Kernel& kernel) { return !measure_once(kernel); });
    if (kernels.empty()) continue;
    report(std::filesystem::path(argv[i]).stem().stem().string(),
           *std::ranges::max_element(kernels, {}, &Kernel::msl_seconds));
    std::ranges::move(kernels, std::back_inserter(all));
  }
  if (all.empty()) return 2;
  report_all(all, "msl", &Kernel::msl_seconds);
  report_all(all, "air", &Kernel::air_seconds);
}
