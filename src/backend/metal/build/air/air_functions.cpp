#include "backend/metal/build/air/air_functions.h"

#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringMap.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Support/ErrorHandling.h>

#include "backend/metal/air/left_out.h"
#include "kir/refusal.h"

namespace cupola::metal::build {
namespace {

enum class Effect { kPure, kMemory, kSync };
enum class Source { kMetalJl, kMlx, kBoth };

struct Row {
  std::string_view name, type;
  Effect effect;
  Source source;
};

constexpr Row kRows[] = {
#define AIR_FUNCTION(name, type, effect, source) {name, type, Effect::effect, Source::source},
#include "backend/metal/build/air/air_functions.def"
#undef AIR_FUNCTION
};

const Row* row_named(llvm::StringRef name) {
  static const auto& by_name = *[] {
    auto* map = new llvm::StringMap<const Row*>;  // leaked: used after static destructors
    for (const Row& row : kRows) (*map)[row.name] = &row;
    return map;
  }();
  return by_name.lookup(name);
}

llvm::Type* type_named(llvm::StringRef word, llvm::LLVMContext& context) {
  unsigned number = 0;
  if (word == "v") return llvm::Type::getVoidTy(context);
  if (word == "f16") return llvm::Type::getHalfTy(context);
  if (word == "f32") return llvm::Type::getFloatTy(context);
  word.drop_front().getAsInteger(10, number);
  if (word.starts_with("p")) return llvm::PointerType::get(context, number);
  return llvm::IntegerType::get(context, number);
}

llvm::FunctionType* type_of(const Row& row, llvm::LLVMContext& context) {
  llvm::SmallVector<llvm::StringRef, 8> words;
  llvm::StringRef(row.type).split(words, ' ');
  llvm::SmallVector<llvm::Type*, 8> types;
  for (const llvm::StringRef word : words) types.push_back(type_named(word, context));
  return llvm::FunctionType::get(types.front(), llvm::ArrayRef(types).drop_front(), false);
}

/// As Apple's modules have them.
void set_attributes(llvm::Function& function, const Row& row) {
  function.setAttributes({});
  function.setDSOLocal(false);
  function.setDoesNotThrow();
  function.addFnAttr(llvm::Attribute::WillReturn);
  if (row.effect == Effect::kSync) function.setConvergent();
  if (row.effect == Effect::kPure) function.setMemoryEffects(llvm::MemoryEffects::none());
  for (llvm::User* user : function.users())
    if (auto* call = llvm::dyn_cast<llvm::CallInst>(user)) call->setAttributes({});
}

/// AIR's functions take pointers to words; the writer of typed pointers learns that from an address calculation.
void point_to_words(llvm::Function& function) {
  for (llvm::User* user : function.users()) {
    auto* call = llvm::dyn_cast<llvm::CallInst>(user);
    if (!call) continue;
    llvm::IRBuilder<> b(call);
    for (llvm::Use& argument : call->args())
      if (argument->getType()->isPointerTy()) argument.set(b.CreateConstGEP1_32(b.getInt32Ty(), argument, 0));
  }
}

const llvm::Instruction* a_call_of(const llvm::Function& function) {
  for (const llvm::User* user : function.users())
    if (const auto* instruction = llvm::dyn_cast<llvm::Instruction>(user)) return instruction;
  return nullptr;
}

}  // namespace

llvm::Function* air_function(llvm::Module& module, std::string_view name) {
  if (llvm::Function* known = module.getFunction(name)) return known;
  const Row* row = row_named(name);
  if (!row) llvm::report_fatal_error("a function of AIR that its table lacks");
  auto* function =
      llvm::Function::Create(type_of(*row, module.getContext()), llvm::Function::ExternalLinkage, name, module);
  set_attributes(*function, *row);
  return function;
}

llvm::CallInst* call_air(llvm::IRBuilderBase& builder, std::string_view name, llvm::ArrayRef<llvm::Value*> arguments) {
  return builder.CreateCall(air_function(*builder.GetInsertBlock()->getModule(), name), arguments);
}

Result<> settle_declarations(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module)) {
    if (!function.isDeclaration()) continue;
    if (function.use_empty()) {
      function.eraseFromParent();
      continue;
    }
    if (air::is_left_out(function)) continue;
    const Row* row = row_named(function.getName());
    if (row && type_of(*row, module.getContext()) == function.getFunctionType()) {
      set_attributes(function, *row);
      point_to_words(function);
      continue;
    }
    const llvm::Instruction* call = a_call_of(function);
    return fail(ErrorCode::NotSupported, "metal: {}: '{}' is none of the functions of AIR that Cupola uses",
                call ? kir::place_of(*call) : "a variable", function.getName().str());
  }
  return {};
}

}  // namespace cupola::metal::build
