#include "frontend/message_log.h"

#include <clang/Basic/SourceManager.h>
#include <llvm/ADT/SmallString.h>

#include "base/format.h"

namespace cupola::frontend {
namespace {

using Level = clang::DiagnosticsEngine::Level;

const char* word_of(Level level) {
  switch (level) {
    case Level::Ignored:
    case Level::Note:
      return "note";
    case Level::Remark:
      return "remark";
    case Level::Warning:
      return "warning";
    case Level::Error:
      return "error";
    case Level::Fatal:
      return "catastrophic error";
  }
  return "error";
}

constexpr size_t kLongestLine = 400;  // of a program, as part of a message

}  // namespace

void MessageLog::HandleDiagnostic(Level level, const clang::Diagnostic& message) {
  DiagnosticConsumer::HandleDiagnostic(level, message);  // counts
  append_place(level, message);
  llvm::SmallString<256> words;
  message.FormatDiagnostic(words);
  text_ += words.str();
  text_ += '\n';
  append_line(message);
}

void MessageLog::append_place(Level level, const clang::Diagnostic& message) {
  if (message.hasSourceManager() && message.getLocation().isValid()) {
    const clang::PresumedLoc place = message.getSourceManager().getPresumedLoc(message.getLocation());
    if (place.isValid()) {
      llvm::StringRef name = place.getFilename();
      name.consume_front(hidden_);
      text_ += formatted("{}({}): ", name.str(), place.getLine());
    }
  }
  text_ += word_of(level);
  text_ += ": ";
}

void MessageLog::append_line(const clang::Diagnostic& message) {
  if (!message.hasSourceManager() || message.getLocation().isInvalid()) {
    text_ += '\n';
    return;
  }
  const clang::SourceManager& sources = message.getSourceManager();
  const auto [file, offset] = sources.getDecomposedExpansionLoc(message.getLocation());
  const llvm::StringRef text = sources.getBufferData(file);
  const size_t begin = text.substr(0, offset).rfind('\n') + 1;  // npos + 1 is 0
  const llvm::StringRef line = text.substr(begin).take_until([](char c) { return c == '\n' || c == '\r'; });
  if (line.size() <= kLongestLine) {
    text_ += "  " + line.str() + "\n  ";
    for (const char c : line.take_front(offset - begin)) text_ += c == '\t' ? '\t' : ' ';
    text_ += "^\n";
  }
  text_ += '\n';
}

std::string MessageLog::finished(const std::string& name) const {
  if (getNumErrors() == 0) return text_;
  return formatted("{}{} error{} detected in the compilation of \"{}\".\n", text_, getNumErrors(),
                   getNumErrors() == 1 ? "" : "s", name);
}

}  // namespace cupola::frontend
