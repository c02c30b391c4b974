#include "kir/c_functions.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringSet.h>
#include <llvm/IR/IRBuilder.h>

#include "image/library_calls.h"
#include "kir/intrinsics.h"

namespace cupola::kir {
namespace {

/// A function of the C and C++ library that has an intrinsic, which takes its first arguments.
struct CFunction {
  llvm::StringLiteral name;
  Intrinsic intrinsic;
};
constexpr CFunction kCFunctions[] = {
    {"vprintf", Intrinsic::Vprintf},          // (format, arguments)
    {"__assertfail", Intrinsic::AssertFail},  // (message, file, line, function, character size)
    {"__assert_fail", Intrinsic::AssertFail},
    {"malloc", Intrinsic::Malloc},
    {"free", Intrinsic::Free},
    {"_Znwm", Intrinsic::Malloc},  // operator new, new[], delete, delete[], with a size
    {"_Znam", Intrinsic::Malloc},
    {"_ZdlPv", Intrinsic::Free},
    {"_ZdaPv", Intrinsic::Free},
    {"_ZdlPvm", Intrinsic::Free},
    {"_ZdaPvm", Intrinsic::Free},
    {"abort", Intrinsic::Trap},
    {"__cxa_pure_virtual", Intrinsic::Trap},
    {"__cxa_deleted_virtual", Intrinsic::Trap},
};

/// No name of PTX or C++ has a dot.
constexpr llvm::StringLiteral kSetAside = ".own";

bool is_c_function(llvm::StringRef name) {
  return is_library_call(name) || llvm::any_of(kCFunctions, [&](const CFunction& row) { return row.name == name; });
}

/// Gives the declared function a body that calls the intrinsic, so that its address works too.
void give_body(llvm::Function& function, Intrinsic intrinsic) {
  llvm::Module& module = *function.getParent();
  llvm::Function* callee = declare(module, intrinsic);
  if (function.arg_size() < callee->arg_size()) return;  // not the function that we know; verify refuses it
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(module.getContext(), "", &function));
  llvm::SmallVector<llvm::Value*, 4> arguments;
  for (unsigned i = 0; i < callee->arg_size(); ++i) {
    if (function.getArg(i)->getType() != callee->getArg(i)->getType()) {
      function.deleteBody();
      return;
    }
    arguments.push_back(function.getArg(i));
  }
  llvm::Value* result = b.CreateCall(callee, arguments);
  if (callee->doesNotReturn())
    b.CreateUnreachable();
  else if (function.getReturnType()->isVoidTy())
    b.CreateRetVoid();
  else
    b.CreateRet(result);
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.addFnAttr(llvm::Attribute::AlwaysInline);
  function.removeFnAttr(llvm::Attribute::NoInline);
}

}  // namespace

bool is_library_call(llvm::StringRef name) {
  static const auto& names = *[] {
    auto* set = new llvm::StringSet<>;  // leaked: used after static destructors
    for (const std::string_view call : image::kLibraryCalls) set->insert(call);
    return set;
  }();
  return names.contains(name);
}

void define_c_functions(llvm::Module& module) {
  for (const CFunction& row : kCFunctions) {
    llvm::Function* function = module.getFunction(row.name);
    if (function && function->isDeclaration() && !function->use_empty()) give_body(*function, row.intrinsic);
  }
}

void set_aside_c_names(llvm::Module& module) {
  for (llvm::GlobalObject& object : module.global_objects())
    if (!object.isDeclaration() && is_c_function(object.getName())) object.setName(object.getName() + kSetAside);
}

llvm::StringRef own_name(const llvm::GlobalValue& value) {
  llvm::StringRef own = value.getName();
  return own.consume_back(kSetAside) && is_c_function(own) ? own : value.getName();
}

Result<> restore_own_names(llvm::Module& module) {
  for (llvm::GlobalObject& object : module.global_objects()) {
    const std::string own = own_name(object).str();
    if (own == object.getName()) continue;
    if (llvm::GlobalValue* other = module.getNamedValue(own)) {
      if (other->isDeclaration() && !other->use_empty())
        return fail(ErrorCode::NotSupported,
                    "kir: '{}' is defined here and called as the GPU's own function: give the definition another name",
                    own);
      other->setName(own + "_of_library");
    }
    object.setName(own);
  }
  return {};
}

}  // namespace cupola::kir
