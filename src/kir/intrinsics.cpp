#include "kir/intrinsics.h"

#include <llvm/ADT/StringMap.h>
#include <llvm/IR/ConstantRange.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/ModRef.h>

namespace cupola::kir {
namespace {

/// The type that a row's word names; parameter names after the word are for people.
llvm::Type* type_named(llvm::StringRef text, llvm::LLVMContext& context) {
  const llvm::StringRef word = text.trim().split(' ').first;
  if (word == "ptr") return llvm::PointerType::get(context, 0);
  if (word == "i1") return llvm::Type::getInt1Ty(context);
  if (word == "i32") return llvm::Type::getInt32Ty(context);
  if (word == "i64") return llvm::Type::getInt64Ty(context);
  return llvm::Type::getVoidTy(context);
}

struct Row {
  const char* name;
  const char* result;
  const char* parameters;  ///< "(i32 id, i32 count)"
  Effect effect;
};

constexpr Row kRows[] = {
#define KIR_INTRINSIC(enumerator, name, result, parameters, effect, meaning) \
  {name, #result, #parameters, Effect::effect},
#include "kir/intrinsics.def"
#undef KIR_INTRINSIC
};

const Row& row_of(Intrinsic intrinsic) {
  return kRows[static_cast<size_t>(intrinsic)];
}

void set_attributes(llvm::Function& function, Effect effect) {
  function.addFnAttr(llvm::Attribute::NoUnwind);
  switch (effect) {
    case Effect::kPure:
      function.setMemoryEffects(llvm::MemoryEffects::none());
      function.addFnAttr(llvm::Attribute::WillReturn);
      function.addFnAttr(llvm::Attribute::Speculatable);
      return;
    case Effect::kObserve:
      function.setMemoryEffects(llvm::MemoryEffects::inaccessibleMemOnly());
      function.addFnAttr(llvm::Attribute::WillReturn);
      return;
    case Effect::kSync:
      function.addFnAttr(llvm::Attribute::Convergent);
      return;
    case Effect::kMemory:
      return;
    case Effect::kNoReturn:
      function.addFnAttr(llvm::Attribute::NoReturn);
      return;
  }
}

/// What CUDA's limits say of a value: that it is less than `limit`.
struct Bound {
  Intrinsic intrinsic;
  uint32_t limit;
};
constexpr Bound kBounds[] = {
    {Intrinsic::TidX, 1024},    {Intrinsic::TidY, 1024}, {Intrinsic::TidZ, 64},           {Intrinsic::NtidX, 1025},
    {Intrinsic::NtidY, 1025},   {Intrinsic::NtidZ, 65},  {Intrinsic::CtaidX, 0x7fffffff}, {Intrinsic::CtaidY, 65535},
    {Intrinsic::CtaidZ, 65535}, {Intrinsic::LaneId, 32}, {Intrinsic::WarpId, 32},
};

}  // namespace

llvm::StringRef name_of(Intrinsic intrinsic) {
  return row_of(intrinsic).name;
}
Effect effect_of(Intrinsic intrinsic) {
  return row_of(intrinsic).effect;
}

llvm::FunctionType* type_of(Intrinsic intrinsic, llvm::LLVMContext& context) {
  const Row& row = row_of(intrinsic);
  llvm::SmallVector<llvm::StringRef, 6> words;
  llvm::StringRef(row.parameters).drop_front().drop_back().split(words, ',', -1, /*KeepEmpty=*/false);
  llvm::SmallVector<llvm::Type*, 6> parameters;
  for (const llvm::StringRef word : words) parameters.push_back(type_named(word, context));
  return llvm::FunctionType::get(type_named(row.result, context), parameters, false);
}

std::optional<Intrinsic> intrinsic_of(const llvm::Function& function) {
  static const auto& by_name = *[] {
    auto* map = new llvm::StringMap<Intrinsic>;  // leaked: used after static destructors
    for (size_t i = 0; i < std::size(kRows); ++i) (*map)[kRows[i].name] = static_cast<Intrinsic>(i);
    return map;
  }();
  if (!function.getName().starts_with("cupola.")) return {};
  const auto found = by_name.find(function.getName());
  if (found == by_name.end()) return {};
  return found->second;
}

std::optional<Intrinsic> intrinsic_of(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  return callee ? intrinsic_of(*callee) : std::nullopt;
}

std::optional<Effect> effect_of(const llvm::Instruction& instruction) {
  const auto known = intrinsic_of(instruction);
  return known ? std::optional(effect_of(*known)) : std::nullopt;
}

std::optional<uint32_t> operation_number(const llvm::CallInst& call) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(call.getArgOperand(1));
  return number ? std::optional(static_cast<uint32_t>(number->getZExtValue())) : std::nullopt;
}

llvm::Function* declare(llvm::Module& module, Intrinsic intrinsic) {
  llvm::FunctionType* type = type_of(intrinsic, module.getContext());
  auto* function = llvm::dyn_cast<llvm::Function>(module.getOrInsertFunction(name_of(intrinsic), type).getCallee());
  if (function && function->isDeclaration()) {
    set_attributes(*function, effect_of(intrinsic));
    for (const Bound& bound : kBounds)
      if (bound.intrinsic == intrinsic)
        function->addRangeRetAttr(llvm::ConstantRange(llvm::APInt(32, 0), llvm::APInt(32, bound.limit)));
  }
  return function;
}

}  // namespace cupola::kir
