#pragma once

#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/Type.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace llvm {
class StructType;
}

namespace cupola::air {

using TypeId = uint32_t;

/// The types of a module with typed pointers, numbered as its bitcode numbers them. LLVM 22 has no such types, so this
/// is the only place that knows what a pointer points to. A pointer inside an aggregate points to i8.
class TypeTable {
 public:
  /// A type as LLVM has it; pointers become i8*. Types that AIR cannot have become void and are remembered in
  /// unknown().
  TypeId of(llvm::Type* type);
  TypeId pointer_to(TypeId pointee, unsigned address_space);
  TypeId function(TypeId result, const std::vector<TypeId>& parameters, bool variadic);

  TypeId array(uint64_t count, TypeId element);
  TypeId structure(const std::vector<TypeId>& elements);
  /// What an aggregate holds at that place.
  TypeId element(TypeId aggregate, size_t place) const;

  /// The first type that of() did not know; empty if none.
  const std::string& unknown() const { return unknown_; }

  struct Row {
    uint32_t code;  ///< llvm::bitc::TYPE_CODE_*
    std::vector<uint64_t> operands;
    std::string name;  ///< of a named structure
    friend auto operator<=>(const Row&, const Row&) = default;
  };
  const std::vector<Row>& rows() const { return rows_; }

 private:
  TypeId add(Row row);
  TypeId of_structure(llvm::StructType* type);

  std::vector<Row> rows_;
  std::map<Row, TypeId> known_;
  std::string unknown_;
};

}  // namespace cupola::air
