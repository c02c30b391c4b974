#include "cuda/nvrtc/program.h"

#include <chrono>
#include <fstream>

#include "base/settings.h"
#include "cuda/nvrtc/libraries.h"
#include "image/cache.h"
#include "image/fatbin.h"
#include "image/lto_code.h"

namespace cupola::nvrtc {

/// The times of the phases, for -time.
class Program::Stopwatch {
 public:
  void lap(const char* phase) {
    const auto now = std::chrono::steady_clock::now();
    const double milliseconds = std::chrono::duration<double, std::milli>(now - last_).count();
    text_ += formatted("{}, {:.3f}, ms\n", phase, milliseconds);
    last_ = now;
  }
  const std::string& text() const { return text_; }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
  std::string text_ = "phase name, phase time, unit\n";
};

Program::Program(std::string source, std::string name, std::vector<image::SourceHeader> headers)
    : source_(std::move(source)), name_(std::move(name)), headers_(std::move(headers)) {}

Result<image::SourceAnswer> Program::to_kir(const Command& command) const {
  image::SourceRequest request;
  request.name = name_;
  request.source = source_;
  request.prologue = command.prologue;
  request.headers = headers_;
  request.include_folders = command.include_folders;
  request.name_expressions = name_expressions_;
  request.architecture = command.architecture;
  request.standard = command.standard;
  request.cache = image::cache_folder(settings());
  request.flags = command.flags;
  return compile_source(request);
}

Result<> Program::from_kir(const Command& command, std::vector<std::byte> kir) {
  if (command.lto) {
    ltoir_ = image::write_lto(kir);
    return {};
  }
  const image::CompileRequest request{.target = "ptx:" + command.architecture,
                                      .units = {{image::CodeKind::Kir, kir}},
                                      .options = {.relocatable = (command.flags & image::kRelocatable) != 0}};
  TRY(const std::vector<std::byte> ptx, compile_code(request));
  ptx_.assign(reinterpret_cast<const char*>(ptx.data()), ptx.size());
  if (!command.real_architecture) return {};
  const auto sm = static_cast<uint32_t>(std::stoul(command.architecture.substr(3)));
  const image::FatbinEntry entries[] = {{.kind = image::FatbinKind::Kir, .sm = sm, .payload = kir},
                                        {.kind = image::FatbinKind::Ptx, .sm = sm, .payload = ptx}};
  TRY(cubin_, image::write_fatbin(entries));
  return {};
}

void Program::name_what_was_lowered(std::vector<std::string> lowered) {
  for (size_t i = 0; i < lowered.size() && i < name_expressions_.size(); ++i)
    lowered_names_[name_expressions_[i]] = std::move(lowered[i]);
}

Outcome Program::compile(const Command& command, Stopwatch& stopwatch) {
  if (flow_.cancels()) return Outcome::Cancelled;
  Result<image::SourceAnswer> answer = to_kir(command);
  stopwatch.lap("front end");
  if (!answer) {
    log_ = formatted("nvrtc: error: {}\n", answer.error().message);
    return answer.error().code == ErrorCode::InvalidSource ? Outcome::Compilation : Outcome::Internal;
  }
  log_ = std::move(answer->log);
  if (!answer->compiled) return Outcome::Compilation;
  if (flow_.cancels()) return Outcome::Cancelled;
  name_what_was_lowered(std::move(answer->lowered_names));
  if (const Result<> made = answer->kir.empty() ? Result<>() : from_kir(command, std::move(answer->kir)); !made) {
    log_ += formatted("{}: error: {}\n", name_, made.error().message);
    return made.error().code == ErrorCode::JitCompilerNotFound ? Outcome::Internal : Outcome::Compilation;
  }
  stopwatch.lap("code");
  compiled_ = true;
  return flow_.cancels() ? Outcome::Cancelled : Outcome::Success;
}

Outcome Program::compile(std::span<const char* const> options) {
  was_compiled_ = true;
  compiled_ = false;
  log_.clear(), ptx_.clear(), cubin_.clear(), ltoir_.clear(), lowered_names_.clear();
  const Result<Command> command = read_command(options);
  if (!command) {
    log_ = formatted("nvrtc: error: {}\n", command.error().message);
    return Outcome::InvalidOption;
  }
  Stopwatch stopwatch;
  const Outcome outcome = compile(*command, stopwatch);
  if (command->time_file == "-") {
    log_ += stopwatch.text();
  } else if (!command->time_file.empty()) {
    std::ofstream file(command->time_file, std::ios::app);
    if (!(file << stopwatch.text() << std::flush)) return Outcome::TimeFile;
  }
  return outcome;
}

const std::string* Program::lowered_name(const std::string& expression) const {
  const auto found = lowered_names_.find(expression);
  return found == lowered_names_.end() ? nullptr : &found->second;
}

}  // namespace cupola::nvrtc
