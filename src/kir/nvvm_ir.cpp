#include "kir/nvvm_ir.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <array>

#include "kir/diagnostics.h"
#include "kir/kir.h"
#include "kir/refusal.h"
#include "kir/typed_pointers.h"

namespace cupola::kir {
namespace {

using llvm::Intrinsic::ID;

/// The modes of llvm.nvvm.shfl.sync.i32 and llvm.nvvm.vote.sync, by number. "NVVM IR Specification, Data Movement" and
/// "Vote".
constexpr std::array<ID, 4> kShuffles{llvm::Intrinsic::nvvm_shfl_sync_idx_i32p, llvm::Intrinsic::nvvm_shfl_sync_up_i32p,
                                      llvm::Intrinsic::nvvm_shfl_sync_down_i32p,
                                      llvm::Intrinsic::nvvm_shfl_sync_bfly_i32p};
constexpr std::array<ID, 4> kVotes{llvm::Intrinsic::nvvm_vote_all_sync, llvm::Intrinsic::nvvm_vote_any_sync,
                                   llvm::Intrinsic::nvvm_vote_uni_sync, llvm::Intrinsic::nvvm_vote_ballot_sync};

/// The call becomes four, one for each mode. Numba's compiler hands modes through functions, so that they are constants
/// only after inlining: then one of the four is left. "NVVM IR Specification" knows no modes but these.
void spell_out_mode(llvm::CallInst& call) {
  llvm::BasicBlock* const before = call.getParent();
  llvm::BasicBlock* const after = before->splitBasicBlock(&call);
  llvm::IRBuilder<> b(before->getTerminator());
  auto* const mode_type = llvm::cast<llvm::IntegerType>(call.getArgOperand(1)->getType());
  llvm::SwitchInst* choice = nullptr;
  llvm::PHINode* const answer = llvm::PHINode::Create(call.getType(), kShuffles.size(), "", after->begin());
  for (uint64_t mode = 0; mode < kShuffles.size(); ++mode) {
    auto* const block = llvm::BasicBlock::Create(call.getContext(), "", before->getParent(), after);
    auto* const number = llvm::ConstantInt::get(mode_type, mode);
    if (choice) choice->addCase(number, block);
    if (!choice) choice = b.CreateSwitch(call.getArgOperand(1), block);
    llvm::Instruction* const one = call.clone();
    llvm::cast<llvm::CallInst>(one)->setArgOperand(1, number);
    one->insertInto(block, block->end());
    llvm::IRBuilder<>(block).CreateBr(after);
    answer->addIncoming(one, block);
  }
  choice->getNextNode()->eraseFromParent();  // the branch that the split left
  call.replaceAllUsesWith(answer);
  call.eraseFromParent();
}

/// Of the four, the one that the call's second argument names.
Result<ID> chosen(const llvm::CallInst& call, const std::array<ID, 4>& modes) {
  auto* mode = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(1));
  if (mode && mode->getValue().ult(modes.size())) return modes[mode->getZExtValue()];
  return fail(ErrorCode::NotSupported, "nvvm: {}: the mode of '{}' must be a constant from 0 to 3", place_of(call),
              call.getCalledFunction()->getName().str());
}

Result<llvm::Value*> shuffle(llvm::IRBuilder<>& b, llvm::CallInst& call) {
  TRY(const ID id, chosen(call, kShuffles));
  return b.CreateIntrinsic(
      id, {}, {call.getArgOperand(0), call.getArgOperand(2), call.getArgOperand(3), call.getArgOperand(4)});
}

/// Votes answer a truth, the ballot a number; NVVM's intrinsic has room for both.
Result<llvm::Value*> vote(llvm::IRBuilder<>& b, llvm::CallInst& call) {
  TRY(const ID id, chosen(call, kVotes));
  llvm::Value* answer = b.CreateIntrinsic(id, {}, {call.getArgOperand(0), call.getArgOperand(2)});
  const unsigned place = answer->getType()->isIntegerTy(1) ? 1 : 0;
  return b.CreateInsertValue(llvm::Constant::getNullValue(call.getType()), answer, place);
}

Result<llvm::Value*> match_all(llvm::IRBuilder<>& b, llvm::CallInst& call) {
  const ID id = call.getArgOperand(1)->getType()->isIntegerTy(64) ? llvm::Intrinsic::nvvm_match_all_sync_i64p
                                                                  : llvm::Intrinsic::nvvm_match_all_sync_i32p;
  return b.CreateIntrinsic(id, {}, {call.getArgOperand(0), call.getArgOperand(1)});
}

/// All of them answer { i32, i1 }.
struct OwnIntrinsic {
  const char* name;
  std::string_view widths;  ///< of the arguments, in bits: w 32, d 64, b 1
  bool has_mode;            ///< the second argument is one
  Result<llvm::Value*> (*write)(llvm::IRBuilder<>&, llvm::CallInst&);
};
constexpr OwnIntrinsic kOwnIntrinsics[] = {{"llvm.nvvm.shfl.sync.i32", "wwwww", true, shuffle},
                                           {"llvm.nvvm.vote.sync", "wwb", true, vote},
                                           {"llvm.nvvm.match.all.sync.i32", "ww", false, match_all},
                                           {"llvm.nvvm.match.all.sync.i64", "wd", false, match_all}};

llvm::FunctionType* type_of(const OwnIntrinsic& own, llvm::LLVMContext& context) {
  llvm::SmallVector<llvm::Type*, 5> arguments;
  for (const char width : own.widths)
    arguments.push_back(llvm::IntegerType::get(context, width == 'w' ? 32 : width == 'd' ? 64 : 1));
  return llvm::FunctionType::get(llvm::StructType::get(llvm::Type::getInt32Ty(context), llvm::Type::getInt1Ty(context)),
                                 arguments, false);
}

void spell_out_modes(llvm::Function& function) {
  llvm::SmallVector<llvm::CallInst*, 8> calls;
  for (llvm::User* user : function.users())
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(user); call && call->getCalledFunction() == &function)
      if (!llvm::isa<llvm::Constant>(call->getArgOperand(1))) calls.push_back(call);
  for (llvm::CallInst* call : calls) spell_out_mode(*call);
}

/// Calls of what NVVM's compiler knows under names of its own become calls of what LLVM knows.
Result<> replace_own_intrinsics(llvm::Module& module) {
  for (const OwnIntrinsic& own : kOwnIntrinsics) {
    llvm::Function* function = module.getFunction(own.name);
    if (!function) continue;
    if (function->getFunctionType() != type_of(own, module.getContext()))
      return fail(ErrorCode::InvalidImage, "nvvm: '{}' does not have the type that NVVM IR gives it", own.name);
    if (own.has_mode) spell_out_modes(*function);
    for (llvm::User* user : llvm::make_early_inc_range(function->users())) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(user);
      if (!call || call->getCalledFunction() != function)
        return fail(ErrorCode::InvalidImage, "nvvm: '{}' may only be called", own.name);
      llvm::IRBuilder<> b(call);
      TRY(llvm::Value * value, own.write(b, *call));
      call->replaceAllUsesWith(value);
      call->eraseFromParent();
    }
    function->eraseFromParent();
  }
  return {};
}

/// Leaves functions of libdevice to the link with the device library.
void drop_libdevice(llvm::Module& module) {
  llvm::SmallVector<llvm::Function*, 16> dropped;
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && function.hasFnAttribute(kLibdevice)) {
      function.deleteBody();  // external from now on
      dropped.push_back(&function);
    }
  for (llvm::Function* function : dropped)
    if (function->use_empty()) function->eraseFromParent();
}

/// Whether the bitcode defines functions of libdevice and nothing else; their bodies are not read.
bool is_libdevice(llvm::LLVMContext& context, llvm::StringRef bitcode) {
  collect_diagnostics(context);
  auto module = llvm::getLazyBitcodeModule(llvm::MemoryBufferRef(bitcode, "library"), context);
  if (!module) {
    llvm::consumeError(module.takeError());
    return false;
  }
  const auto is_other = [](const llvm::Function& function) {
    return !function.isDeclaration() && !function.hasFnAttribute(kLibdevice);
  };
  const auto is_visible = [](const llvm::GlobalVariable& variable) { return !variable.hasLocalLinkage(); };
  return llvm::none_of((*module)->globals(), is_visible) && llvm::none_of(**module, is_other) &&
         llvm::any_of(**module, [](const llvm::Function& function) { return function.hasFnAttribute(kLibdevice); });
}

/// The options' flags on what computes.
void allow(const NvvmOptions& options, llvm::Instruction& instruction) {
  if (options.contract && llvm::isa<llvm::BinaryOperator>(instruction) && instruction.getType()->isFPOrFPVectorTy())
    instruction.setHasAllowContract(true);
}

void apply(const NvvmOptions& options, llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    if (options.keep_inline && function.hasLinkOnceLinkage()) function.setLinkage(llvm::GlobalValue::WeakODRLinkage);
    if (options.flush_denormals) say_flushing(function);
    say_estimates(function, options.approximate_quotients, options.approximate_roots);
    for (llvm::Instruction& instruction : llvm::instructions(function)) allow(options, instruction);
  }
  if (options.flush_denormals && !module.getModuleFlag("nvvm-reflect-ftz"))
    module.addModuleFlag(llvm::Module::Override, "nvvm-reflect-ftz", 1);
}

constexpr uint64_t kNewestMajor = 2;

/// !nvvmir.version, which is gone afterwards.
Result<> check_version(llvm::Module& module) {
  llvm::NamedMDNode* versions = module.getNamedMetadata("nvvmir.version");
  if (!versions) return {};
  for (const llvm::MDNode* version : versions->operands()) {
    if (version->getNumOperands() < 2) continue;
    auto* major = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(version->getOperand(0));
    auto* minor = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(version->getOperand(1));
    if (major && minor && major->getZExtValue() > kNewestMajor)
      return fail(ErrorCode::UnsupportedPtxVersion, "nvvm: the module is NVVM IR {}.{}; up to {} is read",
                  major->getZExtValue(), minor->getZExtValue(), kNewestMajor);
  }
  versions->eraseFromParent();
  return {};
}

Result<> check(const llvm::Module& module) {
  std::string words;
  llvm::raw_string_ostream out(words);
  if (!llvm::verifyModule(module, &out)) return {};
  return fail(ErrorCode::InvalidImage, "nvvm: the module is malformed: {}", words);
}

}  // namespace

Result<std::unique_ptr<llvm::Module>> read_nvvm(llvm::LLVMContext& context, std::span<const std::byte> code,
                                                const NvvmOptions& options) {
  const std::string_view text(reinterpret_cast<const char*>(code.data()), code.size());
  if (is_bitcode(text) && is_libdevice(context, text)) return std::make_unique<llvm::Module>("libdevice", context);
  std::optional<std::string> opaque;
  if (!is_bitcode(text)) opaque = with_opaque_pointers(text);
  TRY(std::unique_ptr<llvm::Module> module, read(context, opaque ? std::as_bytes(std::span(*opaque)) : code));
  module->setDataLayout(kDataLayout);
  module->setTargetTriple(llvm::Triple(kTriple));
  TRY(check_version(*module));
  TRY(check(*module));
  drop_libdevice(*module);
  TRY(replace_own_intrinsics(*module));
  apply(options, *module);
  return module;
}

}  // namespace cupola::kir
