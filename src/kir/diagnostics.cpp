#include "kir/diagnostics.h"

#include <llvm/IR/DiagnosticInfo.h>
#include <llvm/IR/DiagnosticPrinter.h>
#include <llvm/Support/raw_ostream.h>

#include <memory>

namespace cupola::kir {
namespace {

struct FirstError : llvm::DiagnosticHandler {
  bool handleDiagnostics(const llvm::DiagnosticInfo& info) override {
    if (info.getSeverity() != llvm::DS_Error || !text.empty()) return true;
    llvm::raw_string_ostream out(text);
    llvm::DiagnosticPrinterRawOStream printer(out);
    info.print(printer);
    return true;
  }
  std::string text;
};

}  // namespace

const std::string& collect_diagnostics(llvm::LLVMContext& context) {
  auto handler = std::make_unique<FirstError>();
  const std::string& text = handler->text;
  context.setDiagnosticHandler(std::move(handler));
  return text;
}

}  // namespace cupola::kir
