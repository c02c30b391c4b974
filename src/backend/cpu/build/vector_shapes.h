#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>

#include <cstdint>

namespace llvm {
class BasicBlock;
class Function;
class Instruction;
class Loop;
class LoopInfo;
class PHINode;
class PostDominatorTree;
class Value;
}  // namespace llvm

// How values differ between the 32 lanes of a warp that run a kernel together, and which blocks not all of them run.
// The kernel is in the form that prepare_for_lanes gives it: one return, loops with one latch, branches of two ways.
// Lanes that have left the kernel go along with the others and take part in nothing.

namespace cupola::cpu::build {

inline constexpr unsigned kLanes = 32;

/// Which blocks of threads code is for. Rows: x is a multiple of 32, so that a warp lies in a row and is full. Any: all
/// others; what a lane's place in the block is stands in a table.
enum class BlockClass : uint8_t { Rows, Any };

/// Uniform: the same in all lanes. Affine: lane 0's value plus `stride` for each lane, modulo the type's width; where a
/// narrower affine number is extended, as long as that does not wrap (the kernel tests it when it runs). Varying:
/// nothing is known.
struct Shape {
  enum class Kind : uint8_t { Unknown, Uniform, Affine, Varying };
  Kind kind = Kind::Unknown;
  bool is_extended = false;  ///< Affine only where an extension does not wrap
  uint8_t zeros = 0;         ///< so many low bits of lane 0's value are known to be zero; at most kMostZeros
  int64_t stride = 0;

  static constexpr uint8_t kMostZeros = 31;

  bool operator==(const Shape&) const = default;
  bool is_varying() const { return kind == Kind::Varying; }
  bool is_uniform() const { return kind == Kind::Uniform; }

  /// All lanes' values share the bits from `bit` on: none of the additions to lane 0's carries into them.
  bool shares_bits_from(unsigned bit) const {
    return kind == Kind::Affine && !is_extended && bit <= zeros && stride >= 0 &&
           stride * (kLanes - 1) < (int64_t{1} << bit);
  }
};

class Shapes {
 public:
  /// The function's blocks do not change while it lives.
  Shapes(llvm::Function& function, BlockClass blocks, const llvm::LoopInfo& loops,
         const llvm::PostDominatorTree& post_dominators);

  /// The value where it is computed.
  Shape of(const llvm::Value* value) const;
  /// The value as `user` sees it: lanes that left a loop at different turns hold values of different turns.
  Shape at(const llvm::Value* value, const llvm::BasicBlock* user) const;

  /// True when some lanes may be elsewhere while others run the block.
  bool is_masked(const llvm::BasicBlock* block) const { return masked_.contains(block); }
  /// True when lanes go different ways at its end.
  bool diverges(const llvm::BasicBlock* block) const;
  /// The outermost loop with `value` in it and `user` outside that lanes may leave at different turns; null: none.
  const llvm::Loop* left_apart(const llvm::Value* value, const llvm::BasicBlock* user) const;

 private:
  bool propagate();
  bool find_masked();
  Shape transfer(const llvm::Instruction& instruction) const;
  Shape of_phi(const llvm::PHINode& phi) const;
  Shape of_operands(const llvm::Instruction& instruction) const;

  Shape of_bits(const llvm::Instruction& instruction) const;
  Shape of_comparison(const llvm::Instruction& instruction) const;

  llvm::Function& function_;
  const BlockClass blocks_;
  const llvm::LoopInfo& loops_;
  const llvm::PostDominatorTree& post_dominators_;
  llvm::DenseMap<const llvm::Value*, Shape> shapes_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> masked_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> joins_;  ///< unmasked blocks where lanes come together
};

}  // namespace cupola::cpu::build
