#pragma once

#include <llvm/IR/Metadata.h>

#include <unordered_map>
#include <vector>

#include "backend/metal/air/constants.h"

namespace cupola::air {

/// The named metadata of a module, with what it leads to: strings, nodes, values. AIR describes kernels and their
/// arguments there. Debug information and what hangs on instructions is left out.
class MetadataTable {
 public:
  MetadataTable(const llvm::Module& module, ConstantTable& constants, Pointees& pointees);
  void write(llvm::BitstreamWriter& out) const;

  /// A node that bitcode of AIR does not hold; null if none.
  const llvm::Metadata* unknown() const { return unknown_; }

 private:
  /// The number of an operand, from 1; 0 for null.
  uint64_t operand(const llvm::Metadata* metadata);
  void collect(const llvm::Metadata& metadata);

  struct Named {
    llvm::StringRef name;
    Values nodes;
  };
  struct Record {
    uint32_t code;
    Values values;
  };
  ConstantTable& constants_;
  Pointees& pointees_;
  std::vector<const llvm::MDString*> strings_;  ///< first in number
  std::vector<const llvm::Metadata*> others_;
  std::unordered_map<const llvm::Metadata*, uint64_t> numbers_;
  std::vector<Record> records_;  ///< of others_
  std::vector<Named> named_;
  const llvm::Metadata* unknown_ = nullptr;
};

}  // namespace cupola::air
