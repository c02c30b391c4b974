#pragma once

#include <llvm/ADT/DenseMap.h>

#include <string>
#include <vector>

#include "base/result.h"

namespace llvm {
class Constant;
class StructType;
class Type;
}  // namespace llvm

namespace cupola::metal::build {

/// The types of a module in MSL's words. Integers are unsigned, so that they wrap; pointers point at bytes.
class MslTypes {
 public:
  /// "uint", "device uchar*", "Pair3". Error: NotSupported for a type that MSL lacks, in LLVM's words.
  Result<std::string> name(llvm::Type* type);

  /// A pointer to values of `type` in a space: "device float*".
  Result<std::string> pointer_to(llvm::Type* type, unsigned space);

  /// The constant as an expression.
  Result<std::string> constant(const llvm::Constant& constant);

  /// The structs that were named, each after those it holds.
  const std::vector<std::string>& declarations() const { return declarations_; }

 private:
  Result<std::string> struct_name(llvm::StructType* type);

  llvm::DenseMap<llvm::Type*, std::string> structs_;
  std::vector<std::string> declarations_;
};

/// "int" for "uint": the signed type of so many bits.
const char* signed_name(unsigned bits);
const char* unsigned_name(unsigned bits);
const char* space_name(unsigned space);

}  // namespace cupola::metal::build
