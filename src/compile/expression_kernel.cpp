#include "compile/expression_kernel.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/IntrinsicsNVPTX.h>
#include <llvm/TargetParser/Triple.h>

#include <string>
#include <vector>

#include "kir/kir.h"

namespace cupola {
namespace {

using array::ElementType;
using array::Node;
using array::NodeKind;

llvm::Type* type_of(llvm::LLVMContext& context, ElementType type) {
  switch (type) {
    case ElementType::F32:
      return llvm::Type::getFloatTy(context);
    case ElementType::F64:
      return llvm::Type::getDoubleTy(context);
    case ElementType::I32:
    case ElementType::U32:
      return llvm::Type::getInt32Ty(context);
    case ElementType::I64:
      return llvm::Type::getInt64Ty(context);
  }
  return nullptr;
}

/// Writes the kernel's code.
class KernelWriter {
 public:
  KernelWriter(llvm::Module& module, const array::Expression& expression)
      : module_(module),
        expression_(expression),
        builder_(module.getContext()),
        element_(type_of(module.getContext(), expression.type())),
        kernel_(make_kernel()) {}

  void write() {
    llvm::LLVMContext& context = module_.getContext();
    auto* const entry = llvm::BasicBlock::Create(context, "entry", kernel_);
    auto* const body = llvm::BasicBlock::Create(context, "body", kernel_);
    auto* const done = llvm::BasicBlock::Create(context, "done", kernel_);
    builder_.SetInsertPoint(entry);
    place_ = thread_number();
    builder_.CreateCondBr(builder_.CreateICmpULT(place_, kernel_->getArg(kernel_->arg_size() - 1)), body, done);
    builder_.SetInsertPoint(body);
    std::vector<llvm::Value*> values;
    for (const Node& node : expression_.nodes()) values.push_back(value_of(node, values));
    for (uint32_t i = 0; i < expression_.outputs().size(); ++i)
      builder_.CreateStore(values[expression_.outputs()[i]], address_in(kernel_->getArg(i)));
    builder_.CreateBr(done);
    builder_.SetInsertPoint(done);
    builder_.CreateRetVoid();
  }

 private:
  llvm::Function* make_kernel() {
    const size_t arrays = expression_.outputs().size() + expression_.inputs();
    std::vector<llvm::Type*> parameters(arrays, builder_.getPtrTy());
    parameters.insert(parameters.end(), expression_.scalars(), element_);
    parameters.push_back(builder_.getInt64Ty());
    auto* const type = llvm::FunctionType::get(builder_.getVoidTy(), parameters, false);
    auto* const kernel = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, kExpressionKernel, module_);
    kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
    return kernel;
  }

  llvm::Value* read(llvm::Intrinsic::ID id) {
    return builder_.CreateZExt(builder_.CreateIntrinsic(id, {}), builder_.getInt64Ty());
  }
  llvm::Value* thread_number() {
    llvm::Value* const first = builder_.CreateMul(read(llvm::Intrinsic::nvvm_read_ptx_sreg_ctaid_x),
                                                  read(llvm::Intrinsic::nvvm_read_ptx_sreg_ntid_x));
    return builder_.CreateAdd(first, read(llvm::Intrinsic::nvvm_read_ptx_sreg_tid_x));
  }

  llvm::Value* address_in(llvm::Value* array) { return builder_.CreateGEP(element_, array, place_); }

  llvm::Value* value_of(const Node& node, const std::vector<llvm::Value*>& values) {
    const auto outputs = static_cast<uint32_t>(expression_.outputs().size());
    switch (node.kind) {
      case NodeKind::Input:
        return builder_.CreateLoad(element_, address_in(kernel_->getArg(outputs + node.place)));
      case NodeKind::Scalar:
        return kernel_->getArg(outputs + expression_.inputs() + node.place);
      case NodeKind::Constant:
        return builder_.CreateBitCast(builder_.getIntN(element_->getPrimitiveSizeInBits(), node.bits), element_);
      case NodeKind::Operation:
        return call(node, values);
    }
    return nullptr;
  }

  llvm::Value* call(const Node& node, const std::vector<llvm::Value*>& values) {
    std::vector<llvm::Value*> arguments;
    for (const array::NodeNumber argument : node.arguments) arguments.push_back(values[argument]);
    const bool fast = node.fast && expression_.type() == ElementType::F32;
    const std::string name = std::string("__cupola_op_") + node.operation->name + (fast ? "_fast_" : "_") +
                             array::name_of(expression_.type());
    const std::vector<llvm::Type*> parameters(arguments.size(), element_);
    auto* const type = llvm::FunctionType::get(element_, parameters, false);
    return builder_.CreateCall(module_.getOrInsertFunction(name, type), arguments);
  }

  llvm::Module& module_;
  const array::Expression& expression_;
  llvm::IRBuilder<> builder_;
  llvm::Type* const element_;
  llvm::Function* const kernel_;
  llvm::Value* place_ = nullptr;
};

}  // namespace

std::unique_ptr<llvm::Module> expression_kernel(llvm::LLVMContext& context, const array::Expression& expression) {
  auto module = std::make_unique<llvm::Module>("expression", context);
  module->setDataLayout(kir::kDataLayout);
  module->setTargetTriple(llvm::Triple(kir::kTriple));
  KernelWriter(*module, expression).write();
  return module;
}

}  // namespace cupola
