#pragma once

#include <llvm/IR/PassManager.h>

namespace llvm {
class Function;
}

namespace cupola::cpu::build {

/// Makes masked rows of which the first lanes alone are there, as is known when code is made for one shape of blocks
/// and its loops are written out (the last steps of a tree), plain rows of so few: no processor hands on what a masked
/// store wrote before it is in the cache, nor what a load goes beyond. Of powers of two of lanes, of 8 bytes or more.
struct ShortenRows : llvm::PassInfoMixin<ShortenRows> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

/// Makes lanes of a row what GVN has made numbers of: it takes a row that was stored for a number of as many bits, and
/// what is read of it for some of its bits.
struct TakeRowsOfRows : llvm::PassInfoMixin<TakeRowsOfRows> {
  llvm::PreservedAnalyses run(llvm::Function& function, llvm::FunctionAnalysisManager& analyses);
};

}  // namespace cupola::cpu::build
