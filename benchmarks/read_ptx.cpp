// read_ptx FILE...: how long PTX text takes to kir, over all files, and how much memory that needs. The baseline is
// LLVM's own reader on the same kernels as LLVM text, without verifying them: what a text reader of that quality costs.

#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>
#include <malloc.h>

#include <fstream>
#include <iterator>

#include "kir/kir.h"
#include "measure.h"
#include "ptx/lower/lower.h"
#include "ptx/syntax/parser.h"
#include "ptx/syntax/verify.h"

using namespace cupola;

namespace {

constexpr double kLimitSecondsPerByte = 0.1 / 1e6;

Result<std::unique_ptr<llvm::Module>> read(const std::string& text, llvm::LLVMContext& context) {
  TRY(const ptx::Module parsed, ptx::parse(text));
  TRY(ptx::verify(parsed));
  return ptx::lower(parsed, context);
}

/// Bytes of the heap that the syntax tree and the kir of one text hold together.
size_t bytes_held(const std::string& text) {
  const size_t before = mallinfo2().uordblks;
  llvm::LLVMContext context;
  const auto parsed = ptx::parse(text);
  const auto module = ptx::lower(*parsed, context);
  return mallinfo2().uordblks - before;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> texts, kirs;
  size_t bytes = 0, held = 0;
  for (int i = 1; i < argc; ++i) {
    std::ifstream file(argv[i], std::ios::binary);
    std::string text(std::istreambuf_iterator<char>(file), {});
    llvm::LLVMContext context;
    const auto module = read(text, context);
    if (!module) {
      std::fprintf(stderr, "%s: %s\n", argv[i], module.error().message.c_str());
      return 1;
    }
    bytes += text.size();
    held += bytes_held(text);
    kirs.push_back(kir::print(**module));
    texts.push_back(std::move(text));
  }
  if (texts.empty()) return 2;
  const double ours = bench::median_seconds([&] {
    for (const std::string& text : texts) {
      llvm::LLVMContext context;
      std::ignore = read(text, context);
    }
  });
  const double llvm_text = bench::median_seconds([&] {
    for (const std::string& text : kirs) {
      llvm::LLVMContext context;
      llvm::SMDiagnostic error;
      llvm::parseAssemblyString(text, error, context);
    }
  });
  bench::report("ptx/read", ours, kLimitSecondsPerByte * static_cast<double>(bytes), {{"llvm_text", llvm_text}});
  std::printf("{\"metric\": \"ptx/bytes\", \"value\": %zu}\n", bytes);
  std::printf("{\"metric\": \"ptx/milliseconds-per-megabyte\", \"value\": %.4g}\n",
              ours * 1e9 / static_cast<double>(bytes));
  std::printf("{\"metric\": \"ptx/bytes-held-per-byte\", \"value\": %.4g}\n",
              static_cast<double>(held) / static_cast<double>(bytes));
}
