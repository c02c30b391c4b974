#include "cupolac/options.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string_view>

#include "base/file.h"
#include "base/format.h"
#include "cupolac/apply_option.h"
#include "cupolac/lists.h"

// nvcc's options are irregular: long names and short ones; values after a blank, an equals sign or nothing; lists. The
// table options.def holds the names, Parser::find knows the spellings, and apply_option says what each option sets.

namespace cupola::cupolac {
namespace {

/// The kinds of warnings that nvcc's -Werror names; all but the first are of its own making.
constexpr std::string_view kWarningKinds[] = {
    "all-warnings",           "cross-execution-space-call", "reorder",
    "default-stream-launch",  "missing-launch-bounds",      "ext-lambda-captures-this",
    "deprecated-declarations"};

/// -Wno-NAME options of nvcc's own, which clang does not know.
constexpr std::string_view kWarningsOfNvcc[] = {"-Wno-deprecated-gpu-targets"};

class Parser {
 public:
  Result<Options> parse(const std::vector<std::string>& arguments) {
    arguments_ = arguments;
    forward_unknown_ = std::ranges::any_of(arguments, [](std::string_view argument) {
      return argument.starts_with("-") && argument.contains("forward-unknown-") && !argument.contains("linker");
    });
    for (next_ = 0; next_ < arguments_.size();) {
      const std::string argument = arguments_[next_++];
      if (argument.size() > 1 && argument.starts_with("@")) {
        TRY(read_options_files(argument.substr(1)));
      } else if (argument.size() > 1 && argument.starts_with("-")) {
        TRY(option(argument));
      } else {
        files_.push_back(argument);
        request_.options.link_line.push_back({LinkWord::Kind::Input, argument});
      }
    }
    return finish();
  }

 private:
  struct Spelling {
    const Row* row = nullptr;
    std::optional<std::string> value;  ///< what is joined or follows '='
  };

  static Spelling find(std::string_view argument) {
    const bool two_hyphens = argument.starts_with("--");
    std::string_view name = argument.substr(two_hyphens ? 2 : 1);
    if (const Row* row = find_row(name)) return {row, {}};
    if (const size_t equals = name.find('='); equals != name.npos)
      if (const Row* row = find_row(name.substr(0, equals))) return {row, std::string(name.substr(equals + 1))};
    if (two_hyphens || name.empty()) return {};
    const Row* row = find_row(name.substr(0, 1));
    if (row && row->action == Action::Use && row->kind != Kind::Flag) return {row, std::string(name.substr(1))};
    return {};
  }

  Result<> option(const std::string& argument) {
    Spelling spelling = find(argument);
    if (!spelling.row) return unknown(argument);
    const Row& row = *spelling.row;
    if (row.action == Action::Refuse) return fail(ErrorCode::NotSupported, "{}: {}", argument, row.text);
    if (row.kind == Kind::Flag && spelling.value && *spelling.value != "true") {
      if (*spelling.value == "false") return {};  // every flag is off unless given
      return fail(ErrorCode::InvalidValue, "'{}': only =true or =false can follow this option", argument);
    }
    if (row.kind != Kind::Flag && !spelling.value && !standalone(row.id)) {
      if (next_ == arguments_.size()) return fail(ErrorCode::InvalidValue, "'{}' needs a value", argument);
      spelling.value = arguments_[next_++];
    }
    if (row.action == Action::Ignore) {
      request_.options.notes.push_back(formatted("{} has no effect: {}", argument, row.text));
      return {};
    }
    if (row.id == Id::OptionsFile) return read_options_files(*spelling.value);
    return apply_option(request_, row.id, argument, spelling.value.value_or(""));
  }

  /// -Werror may stand alone, as it does for other compilers.
  bool standalone(Id id) const {
    if (id != Id::WarningsAsErrors) return false;
    if (next_ == arguments_.size()) return true;
    const std::vector<std::string> kinds = split_list(arguments_[next_]);
    return !kinds.empty() && !contains(kWarningKinds, kinds[0]);
  }

  Result<> unknown(const std::string& argument) {
    if (contains(kWarningsOfNvcc, argument)) {
      request_.options.notes.push_back(argument + " has no effect: clang has no such warning");
      return {};
    }
    if (argument.starts_with("-Wno-")) {
      request_.options.warnings.push_back(argument);
      return {};
    }
    if (forward_unknown_) {
      request_.options.host_options.push_back(argument);
      return {};
    }
    return fail(ErrorCode::InvalidValue, "unknown option '{}'; see cupolac --help", argument);
  }

  Result<> read_options_files(const std::string& names);
  Result<Options> finish();

  std::vector<std::string> arguments_;
  size_t next_ = 0;
  bool forward_unknown_ = false;
  std::vector<std::string> files_;
  Request request_;
};

/// The words of each file take the place of the option.
Result<> Parser::read_options_files(const std::string& names) {
  std::vector<std::string> words;
  for (const std::string& name : split_list(names)) {
    const Result<std::string> text = read_file(name);
    if (!text) return fail(text.error().code, "options file {}", text.error().message);
    std::ranges::move(split_words(*text), std::back_inserter(words));
  }
  if (arguments_.size() + words.size() > 100'000)
    return fail(ErrorCode::InvalidValue, "options file '{}' includes itself", names);
  arguments_.insert(arguments_.begin() + static_cast<std::ptrdiff_t>(next_), words.begin(), words.end());
  return {};
}

/// What can only be said when the whole line was read.
Result<Options> Parser::finish() {
  Options& o = request_.options;
  if (!o.keep_folder.empty()) o.keep = true;
  if (request_.device_link) {
    o.only_device_code = o.goal == Goal::Fatbin;
    o.goal = Goal::DeviceLink;
  }
  o.architecture = choose(request_.architectures);
  const bool asks =
      o.goal == Goal::Help || o.goal == Goal::Version || o.goal == Goal::ListArchitectures || o.goal == Goal::ListCode;
  if (asks) return o;
  for (const std::string& file : files_) {
    TRY(FileKind kind, kind_of_file(file, request_.language));
    o.inputs.push_back({file, kind});
  }
  if (o.inputs.empty()) return fail(ErrorCode::InvalidValue, "no input files; see cupolac --help");
  if (o.goal == Goal::Metallib && o.relocatable)
    return fail(ErrorCode::InvalidValue, "--device=metal makes a whole .metallib of each file: leave -rdc=true out");
  const bool one_each = o.goal == Goal::Objects || o.goal == Goal::Fatbin || o.goal == Goal::Ptx ||
                        o.goal == Goal::Metallib || o.goal == Goal::Preprocess;
  if (one_each && o.inputs.size() > 1 && !o.output.empty())
    return fail(ErrorCode::InvalidValue, "-o takes one file, but {} inputs make one each", o.inputs.size());
  return o;
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& arguments) {
  return Parser().parse(arguments);
}

}  // namespace cupola::cupolac
