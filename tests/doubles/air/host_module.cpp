#include "doubles/air/host_module.h"

#include <llvm/Bitcode/BitcodeReader.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Support/raw_ostream.h>

#include <cstddef>

#include "backend/metal/metallib/bitcode_wrapper.h"
#include "base/format.h"
#include "doubles/msl/simd_machine.h"

namespace cupola::doubles {
namespace {

struct BuiltIn {
  const char* name;  ///< in air.kernel
  uint32_t offset;   ///< in ThreadPlace
  uint32_t words;
};
constexpr BuiltIn kBuiltIns[] = {
    {"air.thread_position_in_threadgroup", offsetof(ThreadPlace, thread), 3},
    {"air.threads_per_threadgroup", offsetof(ThreadPlace, threads), 3},
    {"air.threadgroup_position_in_grid", offsetof(ThreadPlace, group), 3},
    {"air.threadgroups_per_grid", offsetof(ThreadPlace, groups), 3},
    {"air.thread_index_in_simdgroup", offsetof(ThreadPlace, lane), 1},
    {"air.simdgroup_index_in_threadgroup", offsetof(ThreadPlace, simdgroup), 1},
    {"air.simdgroups_per_threadgroup", offsetof(ThreadPlace, simdgroups), 1},
};

constexpr uint32_t kThreadgroupMemory = 3;  // address space

template <typename... Args>
std::unexpected<Error> refuse(fmt::format_string<Args...> text, Args&&... args) {
  return fail(ErrorCode::InvalidSource, "software Metal: {}", formatted(text, std::forward<Args>(args)...));
}

Result<std::unique_ptr<llvm::Module>> read(llvm::LLVMContext& context, const AirFunction& function) {
  TRY(const metallib::Bytes bitcode, metallib::unwrapped(function.module));
  const llvm::StringRef bytes(reinterpret_cast<const char*>(bitcode.data()), bitcode.size());
  auto module = llvm::parseBitcodeFile(llvm::MemoryBufferRef(bytes, function.name), context);
  if (!module) return refuse("{}: {}", function.name, llvm::toString(module.takeError()));
  std::string words;
  llvm::raw_string_ostream out(words);
  if (llvm::verifyModule(**module, &out)) return refuse("{}: {}", function.name, words);
  if (const llvm::StringRef triple = (*module)->getTargetTriple().str(); !triple.starts_with("air64"))
    return refuse("{}: the module is for '{}'", function.name, triple.str());
  return std::move(*module);
}

/// The words and numbers of a node of air.kernel that describes an argument.
class Description {
 public:
  explicit Description(const llvm::Metadata* node) : node_(llvm::dyn_cast_or_null<llvm::MDNode>(node)) {}
  unsigned size() const { return node_ ? node_->getNumOperands() : 0; }
  llvm::StringRef word(unsigned i) const {
    const auto* text = i < size() ? llvm::dyn_cast_or_null<llvm::MDString>(node_->getOperand(i)) : nullptr;
    return text ? text->getString() : llvm::StringRef();
  }
  std::optional<uint32_t> number(unsigned i) const {
    const auto* value =
        i < size() ? llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(node_->getOperand(i)) : nullptr;
    if (!value) return std::nullopt;
    return static_cast<uint32_t>(value->getZExtValue());
  }
  /// What stands behind a word.
  std::optional<uint32_t> number_behind(llvm::StringRef wanted) const {
    for (unsigned i = 0; i < size(); ++i)
      if (word(i) == wanted) return number(i + 1);
    return std::nullopt;
  }

 private:
  const llvm::MDNode* node_;
};

const BuiltIn* built_in(llvm::StringRef name) {
  for (const BuiltIn& row : kBuiltIns)
    if (name == row.name) return &row;
  return nullptr;
}

/// Writes the caller, argument by argument.
class Caller {
 public:
  Caller(llvm::Module& module, llvm::Function& kernel, const std::string& name)
      : kernel_(kernel),
        builder_(module.getContext()),
        function_(llvm::Function::Create(
            llvm::FunctionType::get(builder_.getVoidTy(),
                                    {builder_.getPtrTy(), builder_.getPtrTy(), builder_.getPtrTy()}, false),
            llvm::Function::ExternalLinkage, name, module)) {
    builder_.SetInsertPoint(llvm::BasicBlock::Create(module.getContext(), "", function_));
  }

  Result<MslArgument> add(const Description& description, const llvm::Argument& parameter) {
    const llvm::StringRef kind = description.word(1);
    llvm::Type* type = parameter.getType();
    if (kind == "air.buffer") {
      const auto index = description.number_behind("air.location_index"),
                 space = description.number_behind("air.address_space");
      if (!index || !space || !type->isPointerTy() || type->getPointerAddressSpace() != *space)
        return refuse("{}: argument {} is no buffer as air.kernel has it", kernel_.getName().str(),
                      parameter.getArgNo());
      const bool own = *space == kThreadgroupMemory;
      llvm::Value* place = builder_.CreateConstGEP1_32(builder_.getInt64Ty(), function_->getArg(own ? 1 : 0), *index);
      values_.push_back(builder_.CreateIntToPtr(builder_.CreateLoad(builder_.getInt64Ty(), place), type));
      return MslArgument{own ? MslArgument::Kind::Threadgroup : MslArgument::Kind::Buffer, *index, {}};
    }
    const BuiltIn* row = built_in(kind);
    if (!row) return refuse("{}: no argument of a kernel is '{}' here", kernel_.getName().str(), kind.str());
    llvm::Type* word = builder_.getInt32Ty();
    llvm::Type* wanted = row->words == 1 ? word : llvm::FixedVectorType::get(word, row->words);
    if (type != wanted) return refuse("{}: {} is of another type", kernel_.getName().str(), row->name);
    llvm::Value* value = row->words == 1 ? nullptr : llvm::PoisonValue::get(wanted);
    for (uint32_t i = 0; i < row->words; ++i) {
      llvm::Value* part = builder_.CreateLoad(
          word, builder_.CreateConstGEP1_32(builder_.getInt8Ty(), function_->getArg(2), row->offset + 4 * i));
      value = value ? builder_.CreateInsertElement(value, part, i) : part;
    }
    values_.push_back(value);
    return MslArgument{MslArgument::Kind::BuiltIn, 0, row->name};
  }

  void end() {
    builder_.CreateCall(&kernel_, values_);
    builder_.CreateRetVoid();
  }

 private:
  llvm::Function& kernel_;
  llvm::IRBuilder<> builder_;
  llvm::Function* function_;
  llvm::SmallVector<llvm::Value*, 12> values_;
};

/// The node of air.kernel that is about the function: {function, {}, {arguments}}.
const llvm::MDNode* arguments_of(const llvm::Module& module, const llvm::Function& kernel) {
  const llvm::NamedMDNode* kernels = module.getNamedMetadata("air.kernel");
  for (const llvm::MDNode* node :
       kernels ? kernels->operands() : llvm::iterator_range<llvm::NamedMDNode::const_op_iterator>({}, {}))
    if (node->getNumOperands() == 3 &&
        llvm::mdconst::dyn_extract_or_null<llvm::Function>(node->getOperand(0)) == &kernel)
      return llvm::dyn_cast_or_null<llvm::MDNode>(node->getOperand(2));
  return nullptr;
}

/// AIR's functions take integers below 32 bits as functions.cpp does; calls of what threads do together keep their
/// places.
void settle_declaration(llvm::Function& function) {
  const auto settle = [&](auto& callee) {
    for (unsigned i = 0; i < function.arg_size(); ++i)
      if (llvm::Type* type = function.getArg(i)->getType(); type->isIntegerTy() && type->getIntegerBitWidth() < 32)
        callee.addParamAttr(i, llvm::Attribute::ZExt);
    if (!function.isConvergent()) return;
    callee.addFnAttr(llvm::Attribute::NoMerge);
    callee.addFnAttr(llvm::Attribute::NoDuplicate);
  };
  settle(function);
  for (llvm::User* user : function.users())
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(user)) settle(*call);
}

/// A grid that does not get on is ended by unwinding its threads' stacks.
void let_unwind(llvm::Function& function) {
  function.removeFnAttr(llvm::Attribute::NoUnwind);
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) call->removeFnAttr(llvm::Attribute::NoUnwind);
  if (!function.isDeclaration()) function.setUWTableKind(llvm::UWTableKind::Sync);
}

void make_for_host(llvm::Module& module) {
  for (llvm::Function& function : module) {
    if (function.isIntrinsic()) continue;
    let_unwind(function);
    if (function.isDeclaration()) {
      settle_declaration(function);
      continue;
    }
    function.addFnAttr("frame-pointer", "all");
    function.addFnAttr("disable-tail-calls", "true");
  }
  for (llvm::NamedMDNode& named : llvm::make_early_inc_range(module.named_metadata())) named.eraseFromParent();
  module.setDataLayout("");  // clang's, for the machine
  module.setTargetTriple(llvm::Triple());
}

}  // namespace

Result<HostModule> host_module(llvm::LLVMContext& context, const AirFunction& asked, const std::string& caller_name) {
  HostModule made;
  TRY(made.module, read(context, asked));
  llvm::Function* kernel = made.module->getFunction(asked.name);
  if (!kernel || kernel->isDeclaration()) return refuse("the module of {} does not define it", asked.name);
  const llvm::MDNode* arguments = arguments_of(*made.module, *kernel);
  if (!arguments || arguments->getNumOperands() != kernel->arg_size())
    return refuse("air.kernel does not say what the arguments of {} are", asked.name);
  made.function.name = asked.name;
  Caller caller(*made.module, *kernel, caller_name);
  for (const llvm::Argument& parameter : kernel->args()) {
    const Description description(arguments->getOperand(parameter.getArgNo()));
    if (description.number(0) != parameter.getArgNo())
      return refuse("air.kernel has the arguments of {} in another order", asked.name);
    TRY(MslArgument argument, caller.add(description, parameter));
    made.function.arguments.push_back(std::move(argument));
  }
  caller.end();
  make_for_host(*made.module);
  kernel->setLinkage(llvm::Function::InternalLinkage);
  return made;
}

}  // namespace cupola::doubles
