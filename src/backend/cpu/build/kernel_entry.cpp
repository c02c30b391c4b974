#include "backend/cpu/build/kernel_entry.h"

#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "backend/cpu/build/whole_block.h"
#include "kir/kernel_parameters.h"

namespace cupola::cpu::build {
namespace {

/// What the body is given for a parameter that lies at `address`.
llvm::Value* load_argument(llvm::IRBuilder<>& builder, const llvm::Argument& argument, llvm::Value* address,
                           uint64_t size) {
  llvm::Type* type = kir::stored_type(argument);
  const llvm::Align unknown(1);  // the block itself has no promised alignment
  if (argument.hasByValAttr()) {
    llvm::AllocaInst* copy = builder.CreateAlloca(type);
    const llvm::Align alignment(kir::stored_alignment(argument));
    copy->setAlignment(alignment);
    builder.CreateMemCpy(copy, alignment, address, unknown, size);
    return copy;
  }
  if (type->isIntegerTy() && type->getIntegerBitWidth() % 8 != 0) {  // bool
    llvm::Type* whole = builder.getIntNTy(static_cast<unsigned>(size * 8));
    return builder.CreateTrunc(builder.CreateAlignedLoad(whole, address, unknown), type);
  }
  return builder.CreateAlignedLoad(type, address, unknown);
}

/// The entry's copy of a struct is the only one that a body needs which nothing else calls.
void pass_by_pointer(llvm::Function& body) {
  for (unsigned i = 0; i < body.arg_size(); ++i) body.removeParamAttr(i, llvm::Attribute::ByVal);
}

/// A call passes by value what its callee takes by value; the other attributes are promises it need not make.
llvm::AttributeList call_attributes(const llvm::Function& body) {
  llvm::AttributeList list;
  for (unsigned i = 0; i < body.arg_size(); ++i) {
    if (!body.hasParamAttribute(i, llvm::Attribute::ByVal)) continue;
    list = list.addParamAttribute(body.getContext(), i, body.getParamAttribute(i, llvm::Attribute::ByVal));
    if (llvm::Attribute align = body.getParamAttribute(i, llvm::Attribute::Alignment); align.isValid())
      list = list.addParamAttribute(body.getContext(), i, align);
  }
  return list;
}

}  // namespace

std::string make_kernel_entry(llvm::Function& body) {
  llvm::Module& module = *body.getParent();
  const bool is_called = !body.use_empty();
  llvm::Type* pointer = llvm::PointerType::get(module.getContext(), 0);
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), {pointer, pointer}, false);
  auto* entry = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "kernel." + body.getName(), &module);
  // The body is inlined into it; a function without debug information would swallow the body's line numbers.
  if (const llvm::DISubprogram* subprogram = body.getSubprogram())
    entry->setSubprogram(llvm::MDNode::replaceWithDistinct(subprogram->clone()));
  entry->setDSOLocal(true);
  entry->addFnAttr(llvm::Attribute::NoUnwind);
  if (runs_whole_blocks(body)) mark_whole_blocks(*entry);
  for (unsigned i = 0; i < 2; ++i) entry->addParamAttr(i, llvm::Attribute::NoAlias);  // kernels know no such addresses

  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "", entry));
  if (llvm::DISubprogram* subprogram = entry->getSubprogram())
    builder.SetCurrentDebugLocation(llvm::DILocation::get(module.getContext(), 0, 0, subprogram));
  llvm::SmallVector<llvm::Value*, 8> arguments{entry->getArg(0)};
  const std::vector<KernelInfo::Parameter> places = kir::places_of(body, 1);
  for (unsigned i = 0; i < places.size(); ++i) {
    llvm::Value* address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), entry->getArg(1), places[i].offset);
    arguments.push_back(load_argument(builder, *body.getArg(i + 1), address, places[i].size));
  }
  llvm::CallInst* call = builder.CreateCall(&body, arguments);
  if (!is_called) pass_by_pointer(body);
  call->setAttributes(call_attributes(body));
  builder.CreateRetVoid();
  llvm::InlineFunctionInfo inlining;
  if (body.hasFnAttribute(llvm::Attribute::NoInline)) body.removeFnAttr(llvm::Attribute::NoInline);
  llvm::InlineFunction(*call, inlining);
  return entry->getName().str();
}

}  // namespace cupola::cpu::build
