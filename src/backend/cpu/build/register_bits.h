#pragma once

#include <llvm/Analysis/TargetTransformInfo.h>

namespace cupola::cpu::build {

/// Of the registers for rows that code for the processor uses.
inline unsigned register_bits(const llvm::TargetTransformInfo& target) {
  constexpr auto kVectors = llvm::TargetTransformInfo::RGK_FixedWidthVector;
  return static_cast<unsigned>(target.getRegisterBitWidth(kVectors).getFixedValue());
}

}  // namespace cupola::cpu::build
