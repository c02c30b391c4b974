#pragma once

#include <llvm/IR/Intrinsics.h>

#include <optional>

namespace cupola::kir {

/// The classes of core_intrinsics.def. A back-end's switch over it has no default.
enum class CoreClass { kFloat, kInteger, kReduction, kMemory, kStack, kPointer, kHint };

/// The class of a row of core_intrinsics.def; nothing for an intrinsic that a prepared module does not hold.
std::optional<CoreClass> core_class_of(llvm::Intrinsic::ID intrinsic);

}  // namespace cupola::kir
