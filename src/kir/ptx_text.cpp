#include "kir/ptx_text.h"

#include <llvm/ADT/SmallVector.h>
#include <llvm/ADT/StringExtras.h>

namespace cupola::kir {
namespace {

/// Without comments; operand forms "${0}" and "${0:x}" become "$0".
std::string plain(llvm::StringRef text) {
  std::string result;
  for (size_t i = 0; i < text.size(); ++i) {
    const llvm::StringRef rest = text.drop_front(i);
    if (rest.starts_with("//")) {
      i += rest.find_first_of("\n") == llvm::StringRef::npos ? rest.size() : rest.find_first_of("\n");
    } else if (rest.starts_with("/*")) {
      i += rest.find("*/") == llvm::StringRef::npos ? rest.size() : rest.find("*/") + 1;
    } else if (rest.starts_with("${")) {
      const llvm::StringRef inside = rest.drop_front(2).take_until([](char c) { return c == '}'; });
      result += "$" + inside.split(':').first.str();
      i += inside.size() + 2;
    } else {
      result += text[i];
    }
  }
  return result;
}

/// Cuts at commas that stand outside of brackets and braces.
std::vector<std::string> operands_of(llvm::StringRef text) {
  std::vector<std::string> result;
  std::string current;
  int depth = 0;
  for (const char c : text) {
    depth += c == '[' || c == '{' ? 1 : c == ']' || c == '}' ? -1 : 0;
    if (c == ',' && depth == 0) {
      result.push_back(llvm::StringRef(current).trim().str());
      current.clear();
    } else {
      current += c;
    }
  }
  if (const llvm::StringRef last = llvm::StringRef(current).trim(); !last.empty()) result.push_back(last.str());
  return result;
}

PtxStatement cut(llvm::StringRef text) {
  PtxStatement statement;
  if (text.consume_front("@")) {
    statement.guard = text.take_until(llvm::isSpace).str();
    text = text.drop_front(statement.guard.size()).ltrim();
  }
  const llvm::StringRef mnemonic = text.take_until(llvm::isSpace);
  llvm::SmallVector<llvm::StringRef, 8> words;
  mnemonic.split(words, '.');
  for (const llvm::StringRef word : words)
    if (!word.empty()) statement.words.push_back(word.ltrim(':').str());
  statement.operands = operands_of(text.drop_front(mnemonic.size()));
  return statement;
}

/// Whether a brace at `text[at]` opens or closes a scope rather than a vector operand: only white space or ';' precedes
/// it.
bool begins_statement(const std::string& current) {
  return llvm::StringRef(current).trim().empty();
}

}  // namespace

Result<std::vector<PtxStatement>> parse_inline_ptx(llvm::StringRef text) {
  std::vector<PtxStatement> statements;
  std::string current;
  const auto finish = [&]() -> Result<> {
    const llvm::StringRef statement = llvm::StringRef(current).trim();
    if (!statement.empty() && !statement.starts_with(".reg")) {
      const bool label = statement.take_until(llvm::isSpace).contains(':') && !statement.contains("::");
      if (label || statement.starts_with("."))
        return fail(ErrorCode::NotSupported, "inline PTX '{}' is not supported yet", statement.str());
      statements.push_back(cut(statement));
    }
    current.clear();
    return {};
  };
  for (const char c : plain(text)) {
    if (c == ';')
      TRY(finish());
    else if ((c == '{' || c == '}') && begins_statement(current))
      current.clear();
    else
      current += c;
  }
  TRY(finish());
  return statements;
}

}  // namespace cupola::kir
