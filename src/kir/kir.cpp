#include "kir/kir.h"

#include <llvm/AsmParser/Parser.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Metadata.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/MemoryBuffer.h>
#include <llvm/Support/SourceMgr.h>
#include <llvm/Support/raw_ostream.h>
#include <llvm/Transforms/IPO/Internalize.h>

#include "kir/c_functions.h"
#include "kir/diagnostics.h"
#include "kir/passes.h"

namespace cupola::kir {
namespace {

/// Calls `visit` with the name and the number of each pair of the function's rows in !nvvm.annotations.
template <typename Visit>
void for_each_annotation(const llvm::Function& function, Visit visit) {
  const llvm::NamedMDNode* rows = function.getParent()->getNamedMetadata("nvvm.annotations");
  if (!rows) return;
  for (const llvm::MDNode* row : rows->operands()) {
    if (row->getNumOperands() < 3) continue;
    auto* subject = llvm::dyn_cast_or_null<llvm::ValueAsMetadata>(row->getOperand(0));
    if (!subject || subject->getValue() != &function) continue;
    for (unsigned i = 1; i + 1 < row->getNumOperands(); i += 2) {
      auto* name = llvm::dyn_cast<llvm::MDString>(row->getOperand(i));
      auto* value = llvm::mdconst::dyn_extract<llvm::ConstantInt>(row->getOperand(i + 1));
      if (name && value) visit(name->getString(), static_cast<uint32_t>(value->getZExtValue()));
    }
  }
}

/// "256,4,1"; what is absent is 1.
Dim3 parse_dim3(llvm::StringRef text) {
  uint32_t numbers[3] = {1, 1, 1};
  for (uint32_t& number : numbers) {
    const auto [head, tail] = text.split(',');
    if (head.trim().getAsInteger(10, number)) number = 1;
    text = tail;
  }
  return {numbers[0], numbers[1], numbers[2]};
}

/// Sets one coordinate of a bound that old modules give one by one ("maxntidx").
void set_coordinate(Dim3& bound, char axis, uint32_t value) {
  if (bound.count() == 0) bound = Dim3{};
  (axis == 'x' ? bound.x : axis == 'y' ? bound.y : bound.z) = value;
}

bool is_quotient_or_root(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return instruction.getType()->getScalarType()->isFloatTy() &&
         (call ? call->getIntrinsicID() == llvm::Intrinsic::sqrt : instruction.getOpcode() == llvm::Instruction::FDiv);
}

}  // namespace

bool is_bitcode(std::string_view code) {
  return code.starts_with("BC\xC0\xDE") || code.starts_with("\xDE\xC0\x17\x0B");
}

Result<std::unique_ptr<llvm::Module>> read(llvm::LLVMContext& context, std::span<const std::byte> bitcode) {
  const std::string& diagnostic = collect_diagnostics(context);
  const llvm::StringRef bytes(reinterpret_cast<const char*>(bitcode.data()), bitcode.size());
  if (is_bitcode(bytes)) {
    auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, "kir"), context);
    if (module) return std::move(*module);
    std::string words = llvm::toString(module.takeError());
    if (!diagnostic.empty()) words += "; " + diagnostic;
    return fail(ErrorCode::InvalidImage, "kir: the bitcode cannot be read: {}", words);
  }
  llvm::SMDiagnostic error;
  const auto text = llvm::MemoryBuffer::getMemBufferCopy(bytes, "kir");  // the parser reads up to a final zero byte
  auto module = llvm::parseAssembly(text->getMemBufferRef(), error, context);
  if (module) return module;
  return fail(ErrorCode::InvalidImage, "kir: neither bitcode nor LLVM IR: line {}: {}", error.getLineNo(),
              error.getMessage().str());
}

std::vector<std::byte> write(const llvm::Module& module) {
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream out(bitcode);
  llvm::WriteBitcodeToFile(module, out);
  const auto bytes = std::as_bytes(std::span(bitcode.data(), bitcode.size()));
  return {bytes.begin(), bytes.end()};
}

Result<> link(llvm::Module& whole, std::unique_ptr<llvm::Module> part) {
  const std::string& why = collect_diagnostics(whole.getContext());
  if (llvm::Linker::linkModules(whole, std::move(part)))
    return fail(ErrorCode::InvalidImage, "kir: the modules cannot be linked: {}", why);
  return {};
}

Result<> link_needed(llvm::Module& whole, std::unique_ptr<llvm::Module> library) {
  const std::string& why = collect_diagnostics(whole.getContext());
  const auto hide = [](llvm::Module& module, const llvm::StringSet<>& linked) {
    llvm::internalizeModule(module, [&](const llvm::GlobalValue& value) { return !linked.contains(value.getName()); });
  };
  if (llvm::Linker::linkModules(whole, std::move(library), llvm::Linker::Flags::LinkOnlyNeeded, hide))
    return fail(ErrorCode::InvalidImage, "kir: the library cannot be linked: {}", why);
  return {};
}

Result<> prepare(llvm::Module& module, const PrepareOptions& options) {
  collect_diagnostics(module.getContext());
  set_aside_c_names(module);
  internalize(module);
  fold_reflect(module, options.architecture);
  allow_estimates(module);
  if (options.expand_inline_ptx) TRY(options.expand_inline_ptx(module));  // may call the library, and round
  call_rounding(module);
  if (!options.device_library.empty()) call_math(module);
  TRY(link_device_library(module, options.device_library));
  internalize(module);
  define_guards(module);
  reduce_core(module);
  TRY(expand_nvvm(module));
  simplify_early(module);
  contract(module);
  if (flush_denormals(module, options.processor_flushes)) simplify_early(module);
  say_what_flushes(module);
  simplify(module);
  return verify(module);
}

bool is_kernel(const llvm::Function& function) {
  if (function.getCallingConv() == llvm::CallingConv::PTX_Kernel) return true;
  bool annotated = false;
  for_each_annotation(function, [&](llvm::StringRef name, uint32_t value) { annotated |= name == "kernel" && value; });
  return annotated;
}

std::vector<llvm::Function*> kernels(llvm::Module& module) {
  std::vector<llvm::Function*> result;
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && is_kernel(function)) result.push_back(&function);
  return result;
}

LaunchBounds launch_bounds(const llvm::Function& kernel) {
  LaunchBounds bounds;
  for_each_annotation(kernel, [&](llvm::StringRef name, uint32_t value) {
    if (name == "minctasm") bounds.min_blocks = value;
    if (name.starts_with("maxntid") && name.size() == 8) set_coordinate(bounds.max_block, name.back(), value);
    if (name.starts_with("reqntid") && name.size() == 8) set_coordinate(bounds.required_block, name.back(), value);
  });
  if (const auto text = kernel.getFnAttribute("nvvm.maxntid"); text.isValid())
    bounds.max_block = parse_dim3(text.getValueAsString());
  if (const auto text = kernel.getFnAttribute("nvvm.reqntid"); text.isValid())
    bounds.required_block = parse_dim3(text.getValueAsString());
  if (const auto text = kernel.getFnAttribute("nvvm.minctasm"); text.isValid())
    text.getValueAsString().getAsInteger(10, bounds.min_blocks);
  return bounds;
}

bool may_approximate(const llvm::Instruction& instruction) {
  return is_quotient_or_root(instruction) && instruction.hasApproxFunc();
}

llvm::Value* let_approximate(llvm::Value* value) {
  auto* instruction = llvm::dyn_cast<llvm::Instruction>(value);
  if (instruction && is_quotient_or_root(*instruction)) instruction->setHasApproxFunc(true);
  return value;
}

std::string print(const llvm::Module& module) {
  std::string text;
  llvm::raw_string_ostream(text) << module;
  return text;
}

}  // namespace cupola::kir
