#include "backend/cpu/build/thread_context.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Metadata.h>

#include <type_traits>

namespace cupola::cpu::build {
namespace {

using image::cpu::Services;

enum Flags : uint32_t { kNone, kSync, kNoReturn };

template <typename T>
llvm::Type* type_of(llvm::LLVMContext& context) {
  if constexpr (std::is_void_v<T>)
    return llvm::Type::getVoidTy(context);
  else if constexpr (std::is_pointer_v<T>)
    return llvm::PointerType::get(context, 0);
  else
    return llvm::Type::getIntNTy(context, sizeof(T) * 8);
}

template <typename R, typename... A>
llvm::FunctionType* function_type(llvm::LLVMContext& context, R (*)(A...)) {
  return llvm::FunctionType::get(type_of<R>(context), {type_of<A>(context)...}, false);
}

struct Row {
  const char* name;
  size_t offset;
  Flags flags;
  llvm::FunctionType* (*type)(llvm::LLVMContext&);
};

constexpr Row kRows[] = {
#define CUPOLA_SERVICE(name, result, parameters, flags) \
  {#name, offsetof(Services, name), flags,              \
   [](llvm::LLVMContext& c) { return function_type(c, static_cast<decltype(Services::name)>(nullptr)); }},
#include "image/cpu_services.def"
#undef CUPOLA_SERVICE
};

constexpr const char* kMark = "cupola.service";

}  // namespace

llvm::Value* context_of(llvm::Function& function) {
  return function.getArg(0);
}

const llvm::Value* context_of(const llvm::Function& function) {
  return function.getArg(0);
}

llvm::Value* load_field(llvm::IRBuilderBase& builder, llvm::Value* context, size_t offset, llvm::Type* type,
                        bool constant) {
  llvm::Value* address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), context, offset);
  llvm::LoadInst* load = builder.CreateLoad(type, address);
  llvm::MDNode* yes = llvm::MDNode::get(builder.getContext(), {});
  load->setMetadata(llvm::LLVMContext::MD_noundef, yes);
  if (constant) load->setMetadata(llvm::LLVMContext::MD_invariant_load, yes);
  return load;
}

std::optional<uint64_t> place_in_context(const llvm::Value& address, const llvm::Function& function) {
  if (function.arg_empty()) return std::nullopt;
  const llvm::DataLayout& layout = function.getDataLayout();
  llvm::APInt offset(layout.getIndexSizeInBits(0), 0);
  const llvm::Value* base = address.stripAndAccumulateConstantOffsets(layout, offset, /*AllowNonInbounds=*/true);
  return base == context_of(function) ? std::optional(offset.getZExtValue()) : std::nullopt;
}

std::optional<size_t> constant_field(const llvm::LoadInst& load) {
  if (!load.hasMetadata(llvm::LLVMContext::MD_invariant_load)) return std::nullopt;
  return place_in_context(*load.getPointerOperand(), *load.getFunction());
}

bool reads_window(const llvm::LoadInst& load) {
  return place_in_context(*load.getPointerOperand(), *load.getFunction()) ==
         offsetof(image::cpu::ThreadContext, shared_window);
}

void store_field(llvm::IRBuilderBase& builder, llvm::Value* context, size_t offset, llvm::Value* value) {
  builder.CreateStore(value, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), context, offset));
}

llvm::CallInst* call_service(llvm::IRBuilderBase& builder, llvm::Value* context, Service service,
                             llvm::ArrayRef<llvm::Value*> arguments) {
  const Row& row = kRows[static_cast<size_t>(service)];
  llvm::Type* pointer = builder.getPtrTy();
  llvm::Value* table = load_field(builder, context, offsetof(image::cpu::ThreadContext, services), pointer, true);
  llvm::Value* callee = load_field(builder, table, row.offset, pointer, true);
  llvm::SmallVector<llvm::Value*, 8> all{context};
  all.append(arguments.begin(), arguments.end());
  llvm::CallInst* call = builder.CreateCall(row.type(builder.getContext()), callee, all);
  call->setDoesNotThrow();
  if (row.flags == kNoReturn) call->setDoesNotReturn();
  auto* number = llvm::ConstantAsMetadata::get(builder.getInt32(static_cast<uint32_t>(service)));
  call->setMetadata(kMark, llvm::MDNode::get(builder.getContext(), {number}));
  return call;
}

std::optional<Service> service_of(const llvm::Instruction& instruction) {
  const llvm::MDNode* mark = instruction.getMetadata(kMark);
  if (!mark) return std::nullopt;
  return static_cast<Service>(llvm::mdconst::extract<llvm::ConstantInt>(mark->getOperand(0))->getZExtValue());
}

bool suspends(const llvm::Instruction& instruction) {
  const auto service = service_of(instruction);
  return service && kRows[static_cast<size_t>(*service)].flags == kSync;
}
bool polls(const llvm::Instruction& instruction) {
  return service_of(instruction) == Service::poll;
}

}  // namespace cupola::cpu::build
