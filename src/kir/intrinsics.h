#pragma once

#include <llvm/IR/Function.h>
#include <llvm/IR/Module.h>

#include <cstdint>
#include <optional>

namespace llvm {
class CallInst;
}

namespace cupola::kir {

/// The rows of intrinsics.def. A back-end's switch over it has no default.
enum class Intrinsic {
#define KIR_INTRINSIC(enumerator, name, result, parameters, effect, meaning) enumerator,
#include "kir/intrinsics.def"
#undef KIR_INTRINSIC
};

enum class Effect { kPure, kObserve, kSync, kMemory, kNoReturn };

/// "cupola.barrier"
llvm::StringRef name_of(Intrinsic intrinsic);
Effect effect_of(Intrinsic intrinsic);
llvm::FunctionType* type_of(Intrinsic intrinsic, llvm::LLVMContext& context);

/// By name; nothing for any other function.
std::optional<Intrinsic> intrinsic_of(const llvm::Function& function);
/// Of the function that a direct call names; nothing for any other instruction.
std::optional<Intrinsic> intrinsic_of(const llvm::Instruction& instruction);
std::optional<Effect> effect_of(const llvm::Instruction& instruction);

/// What a Shuffle, Vote, Match or Redux does, by its number in intrinsics.def; nothing: that is known only when it
/// runs.
std::optional<uint32_t> operation_number(const llvm::CallInst& call);

/// Whether that is `operation`, one of image/thread_operations.h.
template <typename Operation>
bool does(const llvm::CallInst& call, Operation operation) {
  return operation_number(call) == static_cast<uint32_t>(operation);
}

/// The module's declaration, made if it is not there, with the attributes that its effect asks for.
llvm::Function* declare(llvm::Module& module, Intrinsic intrinsic);

}  // namespace cupola::kir
