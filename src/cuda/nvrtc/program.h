#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "cuda/nvrtc/command.h"
#include "image/source_request.h"

namespace cupola::nvrtc {

/// What a flow callback is asked.
struct FlowCallback {
  int (*function)(void* payload, void* reserved) = nullptr;
  void* payload = nullptr;
  bool cancels() const { return function && function(payload, nullptr) == 1; }
};

enum class Outcome { Success, InvalidOption, Compilation, Cancelled, TimeFile, Internal };

/// A source and what became of it. One thread at a time.
class Program {
 public:
  Program(std::string source, std::string name, std::vector<image::SourceHeader> headers);

  /// Compiles with nvrtcCompileProgram's options (docs/nvrtc.md; no null among them is meant, one counts as an empty
  /// word), and asks the flow callback between the steps. What an earlier call made is gone; what this one has to say
  /// is in log(). Answers: InvalidOption; Compilation for what is wrong with the source or its code; Cancelled by the
  /// callback; TimeFile where -time's file cannot be written, but the code is there; Internal without Cupola's
  /// compiler; Success. ptx(), cubin() and ltoir() are empty but for what was asked for and made.
  Outcome compile(std::span<const char* const> options);

  void add_name_expression(std::string expression) { name_expressions_.push_back(std::move(expression)); }
  void set_flow_callback(FlowCallback callback) { flow_ = callback; }

  /// Whether compile() was called: names are fixed then.
  bool was_compiled() const { return was_compiled_; }
  /// Whether the last compile() made code.
  bool compiled() const { return compiled_; }
  const std::string& log() const { return log_; }
  const std::string& ptx() const { return ptx_; }
  const std::vector<std::byte>& cubin() const { return cubin_; }
  const std::vector<std::byte>& ltoir() const { return ltoir_; }
  /// Null for what was not added.
  const std::string* lowered_name(const std::string& expression) const;

 private:
  class Stopwatch;

  Outcome compile(const Command& command, Stopwatch& stopwatch);
  Result<image::SourceAnswer> to_kir(const Command& command) const;
  Result<> from_kir(const Command& command, std::vector<std::byte> kir);
  void name_what_was_lowered(std::vector<std::string> lowered);

  const std::string source_, name_;
  const std::vector<image::SourceHeader> headers_;
  std::vector<std::string> name_expressions_;
  FlowCallback flow_;

  bool was_compiled_ = false, compiled_ = false;
  std::string log_, ptx_;
  std::vector<std::byte> cubin_, ltoir_;
  std::map<std::string, std::string> lowered_names_;
};

}  // namespace cupola::nvrtc
