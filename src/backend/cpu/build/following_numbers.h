#pragma once

namespace llvm {
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

/// n, where each lane of `numbers` has n and its own number added to it, as threads beside each other have; else null.
llvm::Value* first_of_following(llvm::Value* numbers);

}  // namespace cupola::cpu::build
