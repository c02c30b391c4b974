#include "kir/ptx_instructions.h"

#include "kir/ptx_emission.h"

namespace cupola::kir {
namespace ptx {

/// "{a, b}" to its parts.
llvm::SmallVector<llvm::StringRef, 4> parts_of(llvm::StringRef operand) {
  llvm::SmallVector<llvm::StringRef, 4> parts;
  operand.trim().drop_front().drop_back().split(parts, ',');
  for (llvm::StringRef& part : parts) part = part.trim();
  return parts;
}

unsigned space_of(const Emission& e) {
  return e.has("shared") ? 3 : e.has("local") ? 5 : 0;
}

namespace {

const Row* row_of(const PtxStatement& statement) {
  if (statement.words.empty()) return nullptr;
  for (const llvm::ArrayRef<Row> rows : {move_rows(), integer_rows(), memory_rows()})
    for (const Row& row : rows)
      if (statement.words[0] == row.name) return &row;
  return nullptr;
}

}  // namespace
}  // namespace ptx

bool is_pure_ptx(const PtxStatement& statement) {
  const ptx::Row* row = ptx::row_of(statement);
  return row && row->pure && !llvm::is_contained(statement.words, "cc");
}

bool emit_ptx(const PtxStatement& statement, PtxRegisters& registers) {
  const ptx::Row* row = ptx::row_of(statement);
  return row && row->emit(ptx::Emission{statement, registers});
}

}  // namespace cupola::kir
