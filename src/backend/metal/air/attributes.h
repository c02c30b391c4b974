#pragma once

#include <llvm/Bitstream/BitstreamWriter.h>
#include <llvm/IR/Attributes.h>

#include <map>
#include <vector>

namespace cupola::air {

/// The attributes of functions and calls that LLVM 14 knows by the names of attributes.def; string attributes all.
/// Others are hints of later versions, which are left out.
class AttributeTable {
 public:
  /// The number of a list, from 1; 0 for an empty one.
  uint64_t id(llvm::AttributeList list);
  void write(llvm::BitstreamWriter& out) const;

 private:
  using Group = std::vector<uint64_t>;  ///< as a record, without its number
  std::map<Group, uint64_t> groups_;
  std::map<std::vector<uint64_t>, uint64_t> lists_;  ///< numbers of groups
};

}  // namespace cupola::air
