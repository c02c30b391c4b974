#pragma once

namespace llvm {
class IRBuilderBase;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

/// The same integer of 32 or 64 bits, or address, as one that LLVM knows nothing of: what it would make of it, it
/// leaves. No instruction.
llvm::Value* hidden_number(llvm::IRBuilderBase& builder, llvm::Value* number);

}  // namespace cupola::cpu::build
