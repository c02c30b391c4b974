// write-air IN.ll OUT.bc [OUT.metallib]: a module that LLVM 22 reads, as bitcode with typed pointers, and in a
// container with the kernels that !air.kernel names.

#include <llvm/IR/Constants.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/IR/Verifier.h>
#include <llvm/IRReader/IRReader.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>

#include <cstdio>

#include "backend/metal/air/bitcode.h"
#include "backend/metal/metallib/build.h"
#include "base/file.h"

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

}  // namespace

int main(int count, char** words) {
  if (count != 3 && count != 4) return 2;
  llvm::LLVMContext context;
  llvm::SMDiagnostic problem;
  const std::unique_ptr<llvm::Module> module = llvm::parseIRFile(words[1], problem, context);
  if (!module) problem.print(words[0], llvm::errs());
  if (!module || llvm::verifyModule(*module, &llvm::errs())) return 2;
  const Result<> written = write(*module, words[2], count == 4 ? words[3] : nullptr);
  if (!written) std::fprintf(stderr, "%s\n", written.error().message.c_str());
  return written ? 0 : 1;
}
