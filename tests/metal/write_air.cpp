// write-air IN.ll OUT.bc [OUT.metallib]: a module that LLVM 22 reads, as bitcode with typed pointers, and in a
// container with the kernels that !air.kernel names.

#include <llvm/IR/Constants.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdio>

#include "backend/metal/air/bitcode.h"
#include "backend/metal/metallib/build.h"
#include "base/file.h"
#include "kir/typed_pointers.h"

namespace {

using namespace cupola;

std::vector<std::string> kernels_of(const llvm::Module& module) {
  std::vector<std::string> names;
  if (const llvm::NamedMDNode* kernels = module.getNamedMetadata("air.kernel"))
    for (const llvm::MDNode* node : kernels->operands())
      names.push_back(llvm::mdconst::extract<llvm::Function>(node->getOperand(0))->getName().str());
  return names;
}

Result<> write(const llvm::Module& module, const std::string& bitcode_file, const char* container_file) {
  TRY(const std::vector<std::byte> bitcode, air::write_bitcode(module));
  TRY(write_file(bitcode_file, bitcode));
  if (!container_file) return {};
  std::vector<metallib::FunctionSource> functions;
  for (const std::string& name : kernels_of(module))
    functions.push_back({name, metallib::FunctionKind::Kernel, bitcode, {}, {}});
  TRY(const std::vector<std::byte> container, metallib::build(functions));
  return write_file(container_file, container);
}

Result<std::string> opaque_text(const std::string& file) {
  TRY(std::string text, read_file(file));
  return kir::with_opaque_pointers(text).value_or(text);
}

int failed(const Error& error) {
  std::fprintf(stderr, "%s\n", error.message.c_str());
  return 1;
}

}  // namespace

int main(int count, char** words) {
  if (count != 3 && count != 4) return 2;
  const bool only_text = std::string_view(words[1]) == "--opaque";
  const Result<std::string> text = opaque_text(words[only_text ? 2 : 1]);
  if (!text) return failed(text.error());
  if (only_text) {
    const Result<> kept = write_file(words[3], std::as_bytes(std::span(*text)));
    return kept ? 0 : failed(kept.error());
  }
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::unique_ptr<llvm::Module> module = llvm::parseIR(llvm::MemoryBufferRef(*text, words[1]), problem, context);
  if (!module) problem.print(words[0], llvm::errs());
  if (!module || llvm::verifyModule(*module, &llvm::errs())) return 2;
  const Result<> written = write(*module, words[2], count == 4 ? words[3] : nullptr);
  return written ? 0 : failed(written.error());
}
