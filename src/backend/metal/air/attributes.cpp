#include "backend/metal/air/attributes.h"

#include <llvm/Bitcode/LLVMBitCodes.h>
#include <llvm/Support/ModRef.h>

#include <optional>

namespace cupola::air {
namespace {

using namespace llvm::bitc;

enum AttributeForm : uint64_t { kPlain = 0, kText = 3, kTextWithValue = 4 };

constexpr uint64_t kOfFunction = 0xFFFFFFFF, kOfResult = 0;  // parameters follow

std::optional<uint64_t> number_of(llvm::Attribute::AttrKind kind) {
  switch (kind) {
#define AIR_ATTRIBUTE(name, number) \
  case llvm::Attribute::name:       \
    return number;
#include "backend/metal/air/attributes.def"
#undef AIR_ATTRIBUTE
    default:
      return std::nullopt;
  }
}

void append(std::vector<uint64_t>& record, llvm::StringRef text) {
  record.insert(record.end(), text.bytes_begin(), text.bytes_end());
  record.push_back(0);
}

void append_plain(std::vector<uint64_t>& record, uint64_t number) {
  record.push_back(kPlain);
  record.push_back(number);
}

/// LLVM 22's memory(...) in LLVM 14's words, where they say as much or less.
void append_memory(std::vector<uint64_t>& record, llvm::MemoryEffects effects) {
  if (effects.doesNotAccessMemory()) return append_plain(record, ATTR_KIND_READ_NONE);
  if (effects.onlyReadsMemory()) append_plain(record, ATTR_KIND_READ_ONLY);
  if (effects.onlyWritesMemory()) append_plain(record, ATTR_KIND_WRITEONLY);
  if (effects.onlyAccessesArgPointees()) append_plain(record, ATTR_KIND_ARGMEMONLY);
}

std::vector<uint64_t> record_of(uint64_t place, llvm::AttributeSet set) {
  std::vector<uint64_t> record = {place};
  for (const llvm::Attribute attribute : set) {
    if (attribute.isStringAttribute()) {
      const llvm::StringRef value = attribute.getValueAsString();
      record.push_back(value.empty() ? kText : kTextWithValue);
      append(record, attribute.getKindAsString());
      if (!value.empty()) append(record, value);
    } else if (attribute.hasAttribute(llvm::Attribute::Memory)) {
      append_memory(record, attribute.getMemoryEffects());
    } else if (attribute.hasAttribute(llvm::Attribute::Captures)) {
      if (llvm::capturesNothing(attribute.getCaptureInfo())) append_plain(record, ATTR_KIND_NO_CAPTURE);
    } else if (const auto number = number_of(attribute.getKindAsEnum())) {
      append_plain(record, *number);
    }
  }
  return record;
}

}  // namespace

uint64_t AttributeTable::id(llvm::AttributeList list) {
  std::vector<uint64_t> groups;
  for (const unsigned index : list.indexes()) {
    const uint64_t place = index == llvm::AttributeList::FunctionIndex ? kOfFunction
                           : index == llvm::AttributeList::ReturnIndex ? kOfResult
                                                                       : index;
    std::vector<uint64_t> record = record_of(place, list.getAttributes(index));
    if (record.size() == 1) continue;
    groups.push_back(groups_.emplace(std::move(record), groups_.size() + 1).first->second);
  }
  return groups.empty() ? 0 : lists_.emplace(std::move(groups), lists_.size() + 1).first->second;
}

void AttributeTable::write(llvm::BitstreamWriter& out) const {
  if (lists_.empty()) return;
  std::vector<std::vector<uint64_t>> groups(groups_.size()), lists(lists_.size());
  for (const auto& [record, number] : groups_) {
    groups[number - 1] = {number};
    groups[number - 1].insert(groups[number - 1].end(), record.begin(), record.end());
  }
  for (const auto& [list, number] : lists_) lists[number - 1] = list;
  out.EnterSubblock(PARAMATTR_GROUP_BLOCK_ID, 3);
  for (const auto& group : groups) out.EmitRecord(PARAMATTR_GRP_CODE_ENTRY, group);
  out.ExitBlock();
  out.EnterSubblock(PARAMATTR_BLOCK_ID, 3);
  for (const auto& list : lists) out.EmitRecord(PARAMATTR_CODE_ENTRY, list);
  out.ExitBlock();
}

}  // namespace cupola::air
