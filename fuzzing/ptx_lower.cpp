#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <algorithm>
#include <string>

#include "property.h"
#include "ptx/lower/lower.h"
#include "ptx/syntax/parser.h"
#include "ptx/syntax/verify.h"
#include "ptx_words.h"

using namespace cupola;

namespace {

constexpr size_t kLongestText = 32768;
constexpr uint64_t kMostRegisters = 4096, kMostBytes = 65536;

/// A short text can declare much; lowering that takes time and memory, and finds nothing else.
bool is_large(const ptx::Module& module) {
  const auto large = [](const std::vector<ptx::Variable>& variables) {
    return std::ranges::any_of(variables, [](const ptx::Variable& v) { return v.bytes() > kMostBytes; });
  };
  return large(module.variables) || std::ranges::any_of(module.functions, [&](const ptx::Function& f) {
           return f.registers.size() > kMostRegisters || large(f.variables) || large(f.results) || large(f.parameters);
         });
}

}  // namespace

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t most);

/// Mostly by words: few texts with changed bytes pass the parser.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t most, unsigned seed) {
  return seed % 8 ? change_words(data, size, most, seed) : LLVMFuzzerMutate(data, size, most);
}

/// Text that is PTX becomes a module that LLVM calls well-formed, or an error that names a line.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > kLongestText) return -1;
  const Result<ptx::Module> module = ptx::parse(std::string(reinterpret_cast<const char*>(data), size));
  if (!module || !ptx::verify(*module)) return 0;
  if (is_large(*module)) return -1;
  llvm::LLVMContext context;
  const Result<std::unique_ptr<llvm::Module>> lowered = ptx::lower(*module, context);
  if (!lowered) {
    const Error& error = lowered.error();
    FUZZ_CHECK(error.code == ErrorCode::NotSupported || error.code == ErrorCode::InvalidPtx);
    FUZZ_CHECK(error.message.starts_with("ptx: line "));
    return 0;
  }
  std::string broken;
  llvm::raw_string_ostream out(broken);
  if (llvm::verifyModule(**lowered, &out)) std::fprintf(stderr, "%s\n", broken.c_str());
  FUZZ_CHECK(broken.empty());
  return 0;
}
