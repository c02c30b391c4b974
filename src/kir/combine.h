#pragma once

#include <llvm/IR/PassManager.h>

namespace cupola::kir {

/// InstCombine, kept from what LLVM 22 does wrong: it takes an integer of 11 digits and any zeros behind them for one
/// that half can hold (isKnownExactCastIntToFP counts no exponents), so that `(float)(half)(x << 21)` loses its
/// infinities. Integers that become half are first brought to where half ends, 65535, which it rounds to infinity too
/// and whose last digit is not known to be zero.
void add_combine(llvm::FunctionPassManager& passes);

}  // namespace cupola::kir
