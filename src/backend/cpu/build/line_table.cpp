#include "backend/cpu/build/line_table.h"

#include <llvm/DebugInfo/DWARF/DWARFContext.h>
#include <llvm/DebugInfo/DWARF/DWARFDebugLine.h>
#include <llvm/IR/DebugInfo.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Object/ELFObjectFile.h>

#include <algorithm>
#include <unordered_map>

namespace cupola::cpu::build {

void keep_line_numbers(llvm::Module& module) {
  if (!module.getNamedMetadata("llvm.dbg.cu")) {
    llvm::StripDebugInfo(module);
    return;
  }
  llvm::stripNonLineTableDebugInfo(module);
  for (llvm::Function& function : module) {
    llvm::DISubprogram* scope = function.getSubprogram();
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (!scope)
        instruction.setDebugLoc({});
      else if (llvm::isa<llvm::CallBase>(instruction) && !instruction.getDebugLoc())
        instruction.setDebugLoc(llvm::DILocation::get(module.getContext(), 0, 0, scope));
    }
  }
}

namespace {

using LineTable = llvm::DWARFDebugLine::LineTable;

/// Numbers of files in the image, by their names.
class Files {
 public:
  explicit Files(std::vector<std::string>& names) : names_(names) {}

  uint32_t number(const LineTable& table, uint64_t file) {
    std::string name;
    if (!table.getFileNameByIndex(file, "", llvm::DILineInfoSpecifier::FileLineInfoKind::RawValue, name)) name = "?";
    const auto [at, added] = numbers_.try_emplace(name, static_cast<uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    return at->second;
  }

 private:
  std::vector<std::string>& names_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

}  // namespace

image::LineTable line_table(const llvm::object::ELFObjectFileBase& object,
                            const std::map<uint64_t, uint64_t>& section_offsets) {
  image::LineTable made;
  const auto ignore = [](llvm::Error error) { llvm::consumeError(std::move(error)); };
  const auto context = llvm::DWARFContext::create(object, llvm::DWARFContext::ProcessDebugRelocations::Process, nullptr,
                                                  "", ignore, ignore);
  Files files(made.files);
  for (const auto& unit : context->compile_units()) {
    const LineTable* table = context->getLineTableForUnit(unit.get());
    if (!table) continue;
    for (const llvm::DWARFDebugLine::Row& row : table->Rows) {
      const auto section = section_offsets.find(row.Address.SectionIndex);
      if (section == section_offsets.end()) continue;
      const bool nowhere = row.EndSequence || row.Line == 0;
      made.rows.push_back({section->second + row.Address.Address, nowhere ? 0 : files.number(*table, row.File),
                           nowhere ? 0 : row.Line});
    }
  }
  std::ranges::stable_sort(made.rows, {}, &image::LineTable::Row::offset);
  // Of several rows at one place the last counts; a row that repeats the one before says nothing.
  std::vector<image::LineTable::Row> rows;
  for (const image::LineTable::Row& row : made.rows) {
    if (!rows.empty() && rows.back().offset == row.offset) rows.pop_back();
    if (rows.empty() || rows.back().line != row.line || rows.back().file != row.file) rows.push_back(row);
  }
  made.rows = std::move(rows);
  return made;
}

}  // namespace cupola::cpu::build
