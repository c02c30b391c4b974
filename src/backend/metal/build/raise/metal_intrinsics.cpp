#include "backend/metal/build/raise/metal_intrinsics.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/Support/ModRef.h>

#include "backend/metal/build/raise/spaces.h"

namespace cupola::metal::build {
namespace {

struct Row {
  const char* name;
  const char* result;
  const char* parameters;  ///< "(device pointer)"
};

constexpr Row kRows[] = {
#define METAL_INTRINSIC(enumerator, name, result, parameters, meaning) {name, #result, #parameters},
#include "backend/metal/build/raise/metal_intrinsics.def"
#undef METAL_INTRINSIC
};

/// The type that a row's word names; what follows the word is for people.
llvm::Type* type_named(llvm::StringRef text, llvm::LLVMContext& context) {
  const llvm::StringRef word = text.trim().split(' ').first;
  if (word == "void") return llvm::Type::getVoidTy(context);
  if (word == "i32") return llvm::Type::getInt32Ty(context);
  if (word == "i64") return llvm::Type::getInt64Ty(context);
  const Space space = word == "device"     ? kDevice
                      : word == "constant" ? kConstant
                      : word == "shared"   ? kThreadgroup
                                           : kThread;
  return llvm::PointerType::get(context, space);
}

}  // namespace

bool is_pure(MetalIntrinsic intrinsic) {
  return intrinsic != MetalIntrinsic::Meet && intrinsic != MetalIntrinsic::MeetAt &&
         llvm::StringRef(kRows[static_cast<size_t>(intrinsic)].result) != "void";
}

std::optional<MetalIntrinsic> metal_intrinsic_of(const llvm::Instruction& instruction) {
  static const auto& by_name = *[] {
    auto* map = new llvm::StringMap<MetalIntrinsic>;  // leaked: used after static destructors
    for (size_t i = 0; i < std::size(kRows); ++i) (*map)[kRows[i].name] = static_cast<MetalIntrinsic>(i);
    return map;
  }();
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  if (!callee || !callee->getName().starts_with("metal.")) return {};
  const auto found = by_name.find(callee->getName());
  return found == by_name.end() ? std::nullopt : std::optional(found->second);
}

llvm::CallInst* call(llvm::IRBuilderBase& builder, MetalIntrinsic intrinsic, llvm::ArrayRef<llvm::Value*> arguments) {
  const Row& row = kRows[static_cast<size_t>(intrinsic)];
  llvm::Module& module = *builder.GetInsertBlock()->getModule();
  llvm::LLVMContext& context = module.getContext();
  llvm::SmallVector<llvm::StringRef, 2> words;
  llvm::StringRef(row.parameters).drop_front().drop_back().split(words, ',', -1, /*KeepEmpty=*/false);
  llvm::SmallVector<llvm::Type*, 2> parameters;
  for (const llvm::StringRef word : words) parameters.push_back(type_named(word, context));
  llvm::FunctionCallee callee =
      module.getOrInsertFunction(row.name, llvm::FunctionType::get(type_named(row.result, context), parameters, false));
  auto* function = llvm::cast<llvm::Function>(callee.getCallee());
  function->addFnAttr(llvm::Attribute::NoUnwind);
  if (is_pure(intrinsic)) {
    function->setMemoryEffects(llvm::MemoryEffects::none());
    function->addFnAttr(llvm::Attribute::WillReturn);
    function->addFnAttr(llvm::Attribute::Speculatable);
  } else {
    function->setConvergent();
  }
  return builder.CreateCall(callee, arguments);
}

}  // namespace cupola::metal::build
