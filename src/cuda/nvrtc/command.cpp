#include "cuda/nvrtc/command.h"

#include <algorithm>
#include <optional>
#include <string_view>

#include "cuda/compiler_options.h"
#include "image/architecture.h"
#include "image/source_request.h"

namespace cupola::nvrtc {
namespace {

enum class Kind { Flag, Value };
enum class Effect {
  Arch,
  Relocatable,
  WholeProgram,
  RelocatableValue,
  Lto,
  Refused,
  Debug,
  Lines,
  Ignored,
  FlushDenormals,
  Contract,
  PreciseQuotients,
  PreciseRoots,
  FastMath,
  Define,
  Undefine,
  Include,
  PreInclude,
  NoSourceInclude,
  Standard,
  MoveForward,
  InitializerList,
  DefaultDevice,
  Int128,
  Minimal,
  NoWarnings,
  WarningsAsErrors,
  Reorder,
  Time,
  SyntaxOnly
};

struct Row {
  std::string_view long_name, short_name;
  Kind kind;
  std::string_view values;
  Effect effect;
  std::string_view why;
};

constexpr Row kRows[] = {
#define NVRTC_OPTION(long_name, short_name, kind, values, effect, why) \
  {long_name, short_name, Kind::kind, values, Effect::effect, why},
#include "cuda/nvrtc/options.def"
#undef NVRTC_OPTION
};

/// An option of the command line, with its value if there is one.
struct Option {
  const Row* row;
  std::optional<std::string_view> value;
};

const Row* find_row(std::string_view name) {
  const auto row = std::ranges::find_if(
      kRows, [&](const Row& candidate) { return candidate.long_name == name || candidate.short_name == name; });
  return row == std::end(kRows) ? nullptr : &*row;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// "-name", "-name=value", or for a name of one letter "-Nvalue"; the value may be the next word.
Result<Option> read_option(std::string_view word, std::span<const char* const>& rest) {
  const std::string_view name_and_value = word.substr(word.starts_with("--") ? 2 : 1);
  const size_t equals = name_and_value.find('=');
  Option option{find_row(name_and_value.substr(0, equals)), {}};
  if (option.row && equals != name_and_value.npos) option.value = name_and_value.substr(equals + 1);
  const auto one_letter = name_and_value.substr(0, 1);
  if (const Row* row = find_row(one_letter); !option.row && row && row->kind == Kind::Value)
    option = {row, trimmed(name_and_value.substr(1))};
  if (!option.row)
    return fail(ErrorCode::InvalidValue, "unrecognized option '{}'; docs/nvrtc.md lists the options", word);
  if (option.row->kind == Kind::Flag || option.value) return option;
  if (rest.empty() || !rest.front()) return fail(ErrorCode::InvalidValue, "option '{}' needs a value", word);
  option.value = rest.front();
  rest = rest.subspan(1);
  return option;
}

Result<> check_value(const Option& option) {
  const Row& row = *option.row;
  if (row.effect == Effect::Refused)
    return fail(ErrorCode::InvalidValue, "option '--{}' is not supported: {}", row.long_name, row.why);
  if (row.kind == Kind::Flag) {
    if (!option.value || *option.value == "true" || *option.value == "false") return {};
    return fail(ErrorCode::InvalidValue, "option '--{}' takes no value", row.long_name);
  }
  if (row.values == "*" || is_among(*option.value, row.values)) return {};
  return fail(ErrorCode::InvalidValue, "invalid value '{}' for option '--{}'; it takes one of {}", *option.value,
              row.long_name, row.values);
}

Result<> set_architecture(std::string_view value, Command& command) {
  const std::optional<image::ArchitectureName> name = image::parse_architecture(value);
  const bool is_real = name && name->kind == "sm", is_virtual = name && name->kind == "compute";
  const int least = !name || name->suffix.empty() ? 0 : name->suffix == "a" ? 90 : 100;  // that has such code
  if ((!is_real && !is_virtual) || !image::is_known_architecture(name->number) || name->number < least)
    return fail(ErrorCode::InvalidValue,
                "invalid value '{}' for option '--gpu-architecture' (-arch); it takes compute_NN and sm_NN with NN one "
                "of {}",
                value, image::kArchitectureList.substr(2));
  command.architecture = formatted("sm_{}{}", name->number, name->suffix);
  command.real_architecture = is_real;
  return {};
}

void set(Command& command, image::SourceFlag flag, bool on) {
  command.flags = on ? command.flags | flag : command.flags & ~flag;
}

/// -DNAME, -DNAME=VALUE, -DNAME(PARAMETERS)=VALUE.
void define(std::string_view macro, Command& command) {
  macro = macro.substr(0, macro.find('\n'));
  const size_t equals = macro.find('=');
  const std::string_view value = equals == macro.npos ? "1" : macro.substr(equals + 1);
  command.prologue += formatted("#define {} {}\n", macro.substr(0, equals), value);
}

struct Reading {
  Command command;
  std::string pre_includes;
};

Result<> apply(const Option& option, Reading& reading) {
  Command& command = reading.command;
  const std::string_view value = option.value.value_or("true");
  const bool on = value != "false";
  switch (option.row->effect) {
    case Effect::Arch:
      return set_architecture(value, command);
    case Effect::Relocatable:
    case Effect::RelocatableValue:
      set(command, image::kRelocatable, on);
      return {};
    case Effect::WholeProgram:
      set(command, image::kRelocatable, !on);
      return {};
    case Effect::Lto:
      command.lto = on;
      return {};
    case Effect::Debug:
      set(command, image::kDebug, on);
      return {};
    case Effect::Lines:
      set(command, image::kLineNumbers, on);
      return {};
    case Effect::FlushDenormals:
      set(command, image::kFlushDenormals, on);
      return {};
    case Effect::Contract:
      set(command, image::kNoContraction, !on);
      return {};
    case Effect::PreciseQuotients:
      set(command, image::kApproximateQuotients, !on);
      return {};
    case Effect::PreciseRoots:
      set(command, image::kApproximateRoots, !on);
      return {};
    case Effect::FastMath:
      set(command, image::kFastMath, on);
      if (!on) return {};
      for (const auto flag : {image::kFlushDenormals, image::kApproximateQuotients, image::kApproximateRoots})
        set(command, flag, true);
      set(command, image::kNoContraction, false);
      return {};
    case Effect::Define:
      define(value, command);
      return {};
    case Effect::Undefine:
      command.prologue += formatted("#undef {}\n", value.substr(0, value.find('\n')));
      return {};
    case Effect::Include:
      command.include_folders.emplace_back(value);
      return {};
    case Effect::PreInclude:
      reading.pre_includes += formatted("#include \"{}\"\n", value.substr(0, value.find('\n')));
      return {};
    case Effect::NoSourceInclude:
      set(command, image::kNoSourceFolder, on);
      return {};
    case Effect::Standard:
      command.standard = value;
      return {};
    case Effect::MoveForward:
      set(command, image::kNoMoveForward, !on);
      return {};
    case Effect::InitializerList:
      set(command, image::kNoInitializerList, !on);
      return {};
    case Effect::DefaultDevice:
      set(command, image::kDefaultDevice, on);
      return {};
    case Effect::Int128:
      set(command, image::kInt128, on);
      return {};
    case Effect::Minimal:
      set(command, image::kMinimal, on);
      return {};
    case Effect::NoWarnings:
      set(command, image::kNoWarnings, on);
      return {};
    case Effect::WarningsAsErrors:
      if (value == "all-warnings") set(command, image::kWarningsAsErrors, true);
      return {};
    case Effect::Reorder:
      set(command, image::kReorder, on);
      return {};
    case Effect::Time:
      command.time_file = value;
      return {};
    case Effect::SyntaxOnly:
      set(command, image::kSyntaxOnly, on);
      return {};
    case Effect::Ignored:
    case Effect::Refused:
      return {};
  }
  return {};
}

}  // namespace

std::span<const int> supported_architectures() {
  return image::kArchitectures;
}

Result<Command> read_command(std::span<const char* const> options) {
  Reading reading;
  while (!options.empty()) {
    const std::string_view word = options.front() ? options.front() : "";
    options = options.subspan(1);
    if (!word.starts_with('-'))
      return fail(ErrorCode::InvalidValue, "unrecognized option '{}'; options begin with '-'", word);
    TRY(const Option option, read_option(word, options));
    TRY(check_value(option));
    TRY(apply(option, reading));
  }
  // As for other compilers, macros are there when the headers are read.
  reading.command.prologue += reading.pre_includes;
  return std::move(reading.command);
}

}  // namespace cupola::nvrtc
