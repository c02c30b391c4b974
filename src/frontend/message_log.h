#pragma once

#include <clang/Basic/Diagnostic.h>

#include <string>

namespace cupola::frontend {

/// Collects clang's messages as NVRTC's logs have them: `name(line): error: words`, the line, a mark below it. One
/// compilation at a time.
class MessageLog : public clang::DiagnosticConsumer {
 public:
  /// Names of files lose this prefix.
  explicit MessageLog(std::string program_folder) : hidden_(std::move(program_folder) + "/") {}

  void HandleDiagnostic(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& message) override;

  /// The text; with the number of errors at its end if there are any. `name` is the program's.
  std::string finished(const std::string& name) const;

 private:
  void append_place(clang::DiagnosticsEngine::Level level, const clang::Diagnostic& message);
  void append_line(const clang::Diagnostic& message);

  const std::string hidden_;
  std::string text_;
};

}  // namespace cupola::frontend
