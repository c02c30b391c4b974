#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/IRBuilder.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "backend/cpu/build/place_slopes.h"
#include "base/kernel_info.h"

namespace llvm {
class Function;
class SExtInst;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

class ValueCopy;

/// Indices of 32 bits that code for inner blocks extends to make addresses of: sums of places, of products of such a
/// sum and of something that is the same for the block, and of what is the same. Rows of them are places beside each
/// other only if none wraps, which is asked once for the block's first and last threads instead of for each row.
class InnerIndices {
 public:
  /// `code`: a kernel's for a thread, after prepare_for_lanes; `shape`: of all blocks.
  InnerIndices(llvm::Function& code, const Dim3& shape);
  ~InnerIndices();

  /// Whether in none of the context's block's threads one wraps; null: there is none that could. `copy` copies what the
  /// first thread has.
  llvm::Value* none_wraps(llvm::IRBuilder<>& builder, ValueCopy& copy) const;

  /// Computes them in 64 bits. For blocks in which none wraps.
  void widen();

 private:
  struct Product;
  /// A sum of 64 bits that is the index, but for a multiple of what 32 hold.
  struct Form {
    llvm::SmallVector<std::pair<llvm::Value*, int64_t>, 4> fixed;  ///< the same for the block, extended; how many times
    Slope slope{};                                                 ///< how many times threadIdx is in it
    llvm::Value* places[3] = {};                                   ///< threadIdx, where it is
    int64_t constant = 0;
    std::vector<Product> products;
  };
  struct Index {
    llvm::SExtInst* extension;
    Form form;
  };
  class Reader;
  class Look;

  const Dim3 shape_;
  std::vector<std::vector<Index>> groups_;  ///< those whose products are the same
};

}  // namespace cupola::cpu::build
