#pragma once

#include <llvm/ADT/DenseMap.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace llvm {
class BasicBlock;
class Function;
class IRBuilderBase;
class Instruction;
class Value;
}  // namespace llvm

namespace cupola::cpu::build {

/// Says of lanes whose numbers lie beside each other which are below a bound: `n + lane < bound`.
struct Below {
  llvm::Value* first;  ///< the first lane's number
  uint64_t last;       ///< the last lane's is that much above it
  llvm::Value* bound;
  bool is_signed;
};
/// What the mask says, if it says that.
std::optional<Below> below(llvm::Value* mask);

/// What a first lane's number is compared with, to know whether all lanes are below the bound: made once for each.
class Limits {
 public:
  explicit Limits(llvm::Function& function) : function_(function) {}

  /// At the builder's place: whether all lanes of such a row are below, of which the first has the number `first`.
  llvm::Value* is_whole(llvm::IRBuilderBase& builder, const Below& row, llvm::Value* first);

 private:
  llvm::Value* of(const Below& row);

  llvm::Function& function_;
  llvm::DenseMap<std::pair<llvm::Value*, uint64_t>, llvm::Value*> limits_;
};

/// The mask that a block's end asks whether it has all lanes, and where it goes if so.
struct Question {
  llvm::Value* mask;
  llvm::BasicBlock* all;
};
std::optional<Question> question(llvm::Instruction& end);

}  // namespace cupola::cpu::build
