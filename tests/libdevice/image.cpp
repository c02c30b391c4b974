#include "image.h"

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/raw_ostream.h>

#include "image/compiler_library.h"
#include "kir/kir.h"
#include "kir/passes.h"

namespace cupola::libdevicetest {
namespace {

Result<std::string> as_ptx(const std::string& bitcode) {
  TRY(static const image::CompilerLibrary compiler, image::CompilerLibrary::open(CUPOLA_COMPILER_LIBRARY));
  const auto bytes = std::as_bytes(std::span(bitcode));
  image::CompileRequest request;
  request.target = "ptx:sm_89";
  request.units.push_back({image::CodeKind::Kir, {bytes.begin(), bytes.end()}});
  TRY(const std::vector<std::byte> ptx, compiler.compile(request));
  return std::string(reinterpret_cast<const char*>(ptx.data()), ptx.size());
}

}  // namespace

Result<std::string> image_of(std::span<const Row* const> rows, Way way, const std::string& libdevice, bool flushes) {
  llvm::LLVMContext context;
  const std::string text = module_text(rows, flushes);
  TRY(std::unique_ptr<llvm::Module> module, kir::read(context, std::as_bytes(std::span(text))));
  module->setDataLayout(kir::kDataLayout);
  if (way != Way::own) {
    TRY(std::unique_ptr<llvm::Module> library, kir::read(context, std::as_bytes(std::span(libdevice))));
    TRY(kir::link(*module, std::move(library)));
    kir::internalize(*module);
  }
  std::string bitcode;
  llvm::raw_string_ostream out(bitcode);
  llvm::WriteBitcodeToFile(*module, out);
  return way == Way::ptx ? as_ptx(bitcode) : bitcode;
}

}  // namespace cupola::libdevicetest
