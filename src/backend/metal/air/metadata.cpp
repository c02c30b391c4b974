#include "backend/metal/air/metadata.h"

#include <llvm/Bitcode/LLVMBitCodes.h>

namespace cupola::air {

using namespace llvm::bitc;

MetadataTable::MetadataTable(const llvm::Module& module, ConstantTable& constants, Pointees& pointees)
    : constants_(constants), pointees_(pointees) {
  std::vector<const llvm::NamedMDNode*> all;
  for (const llvm::NamedMDNode& named : module.named_metadata())
    if (!named.getName().starts_with("llvm.dbg.")) all.push_back(&named);
  for (const llvm::NamedMDNode* named : all)
    for (const llvm::MDNode* node : named->operands()) collect(*node);
  uint64_t number = 0;
  for (const llvm::MDString* text : strings_) numbers_[text] = ++number;
  for (const llvm::Metadata* other : others_) numbers_[other] = ++number;
  for (const llvm::Metadata* other : others_) {
    if (const auto* constant = llvm::dyn_cast<llvm::ConstantAsMetadata>(other)) {
      const TypeId type = pointees_.type_of(*constant->getValue());
      records_.push_back({METADATA_VALUE, {type, constants_.id(*constant->getValue(), type)}});
      continue;
    }
    const auto* node = llvm::cast<llvm::MDNode>(other);
    Record record = {node->isDistinct() ? METADATA_DISTINCT_NODE : METADATA_NODE, {}};
    for (const llvm::MDOperand& each : node->operands()) record.values.push_back(operand(each));
    records_.push_back(std::move(record));
  }
  for (const llvm::NamedMDNode* named : all) {
    Named row = {named->getName(), {}};
    for (const llvm::MDNode* node : named->operands()) row.nodes.push_back(operand(node) - 1);
    named_.push_back(std::move(row));
  }
}

void MetadataTable::collect(const llvm::Metadata& metadata) {
  if (!numbers_.emplace(&metadata, 0).second) return;
  if (const auto* text = llvm::dyn_cast<llvm::MDString>(&metadata)) return strings_.push_back(text);
  if (llvm::isa<llvm::ConstantAsMetadata>(metadata)) return others_.push_back(&metadata);
  const auto* node = llvm::dyn_cast<llvm::MDTuple>(&metadata);
  if (!node) {
    unknown_ = &metadata;
    return;
  }
  others_.push_back(node);
  for (const llvm::MDOperand& each : node->operands())
    if (each) collect(*each);
}

uint64_t MetadataTable::operand(const llvm::Metadata* metadata) {
  return metadata ? numbers_.at(metadata) : 0;
}

void MetadataTable::write(llvm::BitstreamWriter& out) const {
  if (named_.empty()) return;
  out.EnterSubblock(METADATA_BLOCK_ID, 4);
  if (!strings_.empty()) {
    // Lengths as a bitstream, then the characters.
    llvm::SmallVector<char, 0> blob;
    {
      llvm::BitstreamWriter lengths(blob);
      for (const llvm::MDString* text : strings_) lengths.EmitVBR(static_cast<uint32_t>(text->getLength()), 6);
      lengths.FlushToWord();
    }
    const uint64_t offset = blob.size();
    for (const llvm::MDString* text : strings_) blob.append(text->getString().begin(), text->getString().end());
    auto form = std::make_shared<llvm::BitCodeAbbrev>();
    form->Add(llvm::BitCodeAbbrevOp(METADATA_STRINGS));
    form->Add(llvm::BitCodeAbbrevOp(llvm::BitCodeAbbrevOp::VBR, 6));
    form->Add(llvm::BitCodeAbbrevOp(llvm::BitCodeAbbrevOp::VBR, 6));
    form->Add(llvm::BitCodeAbbrevOp(llvm::BitCodeAbbrevOp::Blob));
    const unsigned abbreviation = out.EmitAbbrev(std::move(form));
    const uint64_t values[] = {METADATA_STRINGS, strings_.size(), offset};
    out.EmitRecordWithBlob(abbreviation, values, llvm::StringRef(blob.data(), blob.size()));
  }
  for (const Record& record : records_) out.EmitRecord(record.code, record.values);
  for (const Named& named : named_) {
    emit_text(out, METADATA_NAME, named.name);
    out.EmitRecord(METADATA_NAMED_NODE, named.nodes);
  }
  out.ExitBlock();
}

}  // namespace cupola::air
