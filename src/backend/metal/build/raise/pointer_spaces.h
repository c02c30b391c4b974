#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>

#include <cstdint>

namespace llvm {
class Function;
class Module;
class Value;
}  // namespace llvm

namespace cupola::metal::build {

/// A set of memories.
enum Memories : uint8_t {
  kNowhere = 0,  ///< nothing is known to reach it
  kInDevice = 1,
  kInShared = 2,
  kInStack = 4,
  kNull = 8,
};

/// In which memories the pointers of a module may point: forwards from where they come, through all functions. A
/// pointer that comes from memory or from a number may point wherever the address of something was stored or made a
/// number, and into device memory. Of modules whose kernels take their arguments from the parameter block. A snapshot.
class PointerSpaces {
 public:
  explicit PointerSpaces(llvm::Module& module);

  /// Of a value of pointer type.
  Memories of(const llvm::Value* pointer) const;

  /// Of a function's result.
  Memories of_result(const llvm::Function& function) const;

  /// Of a pointer that comes from memory or from a number.
  Memories unknown() const { return unknown_; }

 private:
  friend class SpacesSolver;
  llvm::DenseMap<const llvm::Value*, uint8_t> known_;
  llvm::DenseMap<const llvm::Function*, uint8_t> results_;
  Memories unknown_ = kInDevice;
};

}  // namespace cupola::metal::build
