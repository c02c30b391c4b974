#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallVector.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "backend/cpu/build/vector_shape.h"

namespace llvm {
class AAResults;
class BasicBlock;
class DominatorTree;
class Function;
class Instruction;
class Type;
class Value;
}  // namespace llvm

// Arrays of structures: lanes beside each other read or write fields of structures beside each other. What a thread
// does to the fields of one structure is gathered here, so that a warp reads or writes all of its structures at once.

namespace cupola::cpu::build {

class Shapes;

/// Loads, or stores, of one thread to fields of the same size in a structure. Lane i's structure lies i * stride()
/// bytes after lane 0's.
struct Group {
  struct Member {
    llvm::Instruction* access;
    int64_t offset;  ///< in bytes, from some place that is the same for the members
  };

  llvm::SmallVector<Member, 8> members;  ///< in the order of the program
  /// Where all of them are done: the first of the loads, the last of the stores.
  llvm::Instruction* place = nullptr;
  unsigned bytes = 0;   ///< of a field
  unsigned fields = 0;  ///< of a structure: from lane to lane, in the size of a field
  int64_t first = 0;    ///< the lowest offset

  bool is_store() const;
  unsigned stride() const { return bytes * fields; }
  unsigned field_of(const Member& member) const { return static_cast<unsigned>(member.offset - first) / bytes; }
  /// Fields up to the last one that a member uses.
  unsigned used_fields() const;
  /// Bit i: a member uses field i.
  unsigned used() const;
};

/// The groups of a function whose members may be done together, for anything the thread could tell.
class Groups {
 public:
  Groups(llvm::Function& function, const Shapes& shapes, llvm::DominatorTree& dominators);

  /// The group that a load or a store is in; null: none.
  const Group* of(const llvm::Instruction* access) const { return of_.lookup(access); }
  const std::vector<std::unique_ptr<Group>>& all() const { return groups_; }

 private:
  std::vector<std::unique_ptr<Group>> groups_;
  llvm::DenseMap<const llvm::Instruction*, const Group*> of_;
};

}  // namespace cupola::cpu::build
