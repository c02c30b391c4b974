#include "cupolac/options.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <thread>

#include "cupolac/lists.h"

// nvcc's options are irregular: long names and short ones; values after a blank, an equals sign or nothing; lists. The
// table options.def holds the names, Parser::find knows the spellings, and the apply functions say what each option
// sets.

namespace cupola::cupolac {
namespace {

enum class Id {
#define OPTION(id, long_name, short_name, kind, doc) id,
#include "cupolac/options.def"
  None
};

enum class Kind { Flag, Value, List };
enum class Action { Use, Alias, Ignore, Refuse };

struct Row {
  Action action;
  Id id;
  std::string_view long_name, short_name;
  Kind kind;
  std::string_view text;
};

constexpr Row kRows[] = {
#define OPTION(id, long_name, short_name, kind, doc) {Action::Use, Id::id, long_name, short_name, Kind::kind, doc},
#define ALIAS(id, long_name, short_name, kind) {Action::Alias, Id::id, long_name, short_name, Kind::kind, ""},
#define IGNORED(long_name, short_name, kind, why) {Action::Ignore, Id::None, long_name, short_name, Kind::kind, why},
#define REFUSED(long_name, short_name, kind, instead) \
  {Action::Refuse, Id::None, long_name, short_name, Kind::kind, instead},
#include "cupolac/options.def"
};

const Row* find_row(std::string_view name) {
  for (const Row& row : kRows)
    if (row.long_name == name || row.short_name == name) return &row;
  return nullptr;
}

/// The kinds of warnings that nvcc's -Werror names; all but the first are of its own making.
constexpr std::string_view kWarningKinds[] = {
    "all-warnings",           "cross-execution-space-call", "reorder",
    "default-stream-launch",  "missing-launch-bounds",      "ext-lambda-captures-this",
    "deprecated-declarations"};

/// -Wno-NAME options of nvcc's own, which clang does not know.
constexpr std::string_view kWarningsOfNvcc[] = {"-Wno-deprecated-gpu-targets"};

bool is_library(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const std::string extension = path.extension().string();
  return extension == ".a" || extension == ".so" || extension == ".dylib" || name.contains(".so.");
}

/// What a file is by its name, or by -x.
Result<FileKind> kind_of_file(const std::string& path, const std::string& language) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".o" || extension == ".obj") return FileKind::Object;
  if (is_library(path)) return FileKind::Library;
  if (language == "cu") return FileKind::Cuda;
  if (language == "c++") return FileKind::Cxx;
  if (language == "c") return FileKind::C;
  if (extension == ".cu") return FileKind::Cuda;
  if (extension == ".c") return FileKind::C;
  for (const char* cxx : {".cpp", ".cc", ".cxx", ".C", ".c++"})
    if (extension == cxx) return FileKind::Cxx;
  if (extension == ".s" || extension == ".S") return FileKind::Assembly;
  if (extension == ".bc") return FileKind::Bitcode;
  for (const char* code : {".ptx", ".cubin", ".fatbin"})
    if (extension == code)
      return fail(ErrorCode::NotSupported, "'{}': only sources, objects and libraries are taken, not device code",
                  path);
  return fail(ErrorCode::InvalidValue, "don't know what to do with '{}'; -x cu, -x c++ or -x c says what it is", path);
}

class Parser {
 public:
  Result<Options> parse(const std::vector<std::string>& arguments) {
    arguments_ = arguments;
    forward_unknown_ = std::ranges::any_of(arguments, [](std::string_view argument) {
      return argument.starts_with("-") && argument.contains("forward-unknown-") && !argument.contains("linker");
    });
    for (next_ = 0; next_ < arguments_.size();) {
      const std::string argument = arguments_[next_++];
      if (argument.size() > 1 && argument.starts_with("-")) {
        TRY(option(argument));
      } else {
        files_.push_back(argument);
        options_.link_line.push_back({LinkWord::Kind::Input, argument});
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
      options_.notes.push_back(formatted("{} has no effect: {}", argument, row.text));
      return {};
    }
    return apply(row.id, argument, spelling.value.value_or(""));
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
      options_.notes.push_back(argument + " has no effect: clang has no such warning");
      return {};
    }
    if (argument.starts_with("-Wno-")) {
      options_.warnings.push_back(argument);
      return {};
    }
    if (forward_unknown_) {
      options_.host_options.push_back(argument);
      return {};
    }
    return fail(ErrorCode::InvalidValue, "unknown option '{}'; see cupolac --help", argument);
  }

  Result<> apply(Id id, const std::string& argument, const std::string& value);
  Result<> request(const std::string& names);
  Result<> read_threads(const std::string& argument, const std::string& value);
  Result<> read_options_files(const std::string& names);
  Result<Options> finish();

  /// Appends each value of a list with the word that clang wants before it.
  void preprocess(const char* word, const std::string& values) {
    for (const std::string& value : split_list(values)) {
      if (word[2] == '\0') {  // -D, -U, -I
        options_.preprocessor.push_back(word + value);
      } else {
        options_.preprocessor.push_back(word);
        options_.preprocessor.push_back(value);
      }
    }
  }

  Result<> truth(bool& target, const std::string& argument, const std::string& value) {
    TRY(one_of(argument, value, {"true", "false"}));
    target = value == "true";
    return {};
  }

  static Result<> one_of(const std::string& argument, const std::string& value,
                         const std::vector<std::string>& allowed) {
    if (contains(allowed, value)) return {};
    std::string list;
    for (const std::string& word : allowed) list += (list.empty() ? "" : ", ") + word;
    return fail(ErrorCode::InvalidValue, "'{}': the value must be one of {}, not '{}'", argument, list, value);
  }

  static void append(std::vector<std::string>& to, std::vector<std::string> words) {
    to.insert(to.end(), std::make_move_iterator(words.begin()), std::make_move_iterator(words.end()));
  }

  std::vector<std::string> arguments_;
  size_t next_ = 0;
  bool forward_unknown_ = false;
  std::vector<std::string> files_;
  std::string language_;
  std::vector<Architecture> requested_;
  Options options_;
};

Result<> Parser::apply(Id id, const std::string& argument, const std::string& value) {
  Options& o = options_;
  switch (id) {
    case Id::Compile:
      o.goal = Goal::Objects;
      break;
    case Id::Preprocess:
      o.goal = Goal::Preprocess;
      break;
    case Id::Fatbin:
      o.goal = Goal::Fatbin;
      break;
    case Id::Cubin:
      o.goal = Goal::Fatbin, o.cubin = true;
      break;
    case Id::Archive:
      o.goal = Goal::Archive;
      break;
    case Id::Shared:
      o.shared = true;
      break;
    case Id::Link:
      o.goal = Goal::Link;
      break;
    case Id::Run:
      o.run = true;
      break;
    case Id::RunArguments:
      append(o.run_arguments, split_forwarded(value));
      break;
    case Id::Dependencies:
      o.goal = Goal::Dependencies, o.dependencies = Options::Dependencies::All;
      break;
    case Id::UserDependencies:
      o.goal = Goal::Dependencies, o.dependencies = Options::Dependencies::User;
      break;
    case Id::DependenciesToo:
      o.dependencies = Options::Dependencies::All;
      break;
    case Id::UserDependenciesToo:
      o.dependencies = Options::Dependencies::User;
      break;
    case Id::DependencyFile:
      o.dependency_file = value;
      break;
    case Id::DependencyTarget:
      o.dependency_targets.push_back(value);
      break;
    case Id::DependencyPhony:
      o.dependency_phony = true;
      break;

    case Id::Output:
      o.output = value;
      break;
    case Id::OutputFolder:
      o.output_folder = value;
      break;
    case Id::Language:
      language_ = value;
      return one_of(argument, value, {"cu", "c++", "c"});
    case Id::Define:
      preprocess("-D", value);
      break;
    case Id::Undefine:
      preprocess("-U", value);
      break;
    case Id::Include:
      preprocess("-I", value);
      break;
    case Id::SystemInclude:
      preprocess("-isystem", value);
      break;
    case Id::PreInclude:
      preprocess("-include", value);
      break;
    case Id::LibraryPath:
      append(o.library_paths, split_list(value));
      break;
    case Id::Library:
      for (const std::string& name : split_list(value)) o.link_line.push_back({LinkWord::Kind::Library, name});
      break;
    case Id::OptionsFile:
      return read_options_files(value);

    case Id::Optimize:
      o.optimize = value == "fast" ? "3" : value;
      return one_of(argument, o.optimize, {"0", "1", "2", "3"});
    case Id::Debug:
      o.debug = true;
      break;
    case Id::DeviceDebug:
      o.device_debug = true;
      break;
    case Id::LineInfo:
      o.line_info = true;
      break;
    case Id::Profile:
      o.profile = true;
      break;
    case Id::Standard:
      o.standard = value;
      break;
    case Id::Architecture:
    case Id::Code:
    case Id::GenerateCode:
      return request(value);
    case Id::FastMath:
      o.fast_math = o.flush_denormals = true;
      break;
    case Id::FlushDenormals:
      return truth(o.flush_denormals, argument, value);
    case Id::Contract:
      return truth(o.contract, argument, value);
    case Id::DefaultStream:
      o.per_thread_stream = value == "per-thread";
      return one_of(argument, value, {"legacy", "null", "per-thread"});
    case Id::ExtendedLambda:
      o.extended_lambda = true;
      break;
    case Id::RelaxedConstexpr:
      o.relaxed_constexpr = true;
      break;
    case Id::Runtime:
      o.runtime = value;
      return one_of(argument, value, {"shared", "static", "none"});
    case Id::RelocatableCode:
      TRY(one_of(argument, value, {"true", "false"}));
      if (value == "true")
        return fail(ErrorCode::NotSupported,
                    "{}: relocatable device code is not supported; keep device code that calls each other in one file",
                    argument);
      break;

    case Id::HostCompiler:
      o.host_compiler = value;
      break;
    case Id::ForHost:
      append(o.host_options, split_forwarded(value));
      break;
    case Id::ForLinker:
      for (std::string& word : split_forwarded(value)) o.link_line.push_back({LinkWord::Kind::Linker, std::move(word)});
      break;
    case Id::ForArchiver:
      append(o.archive_options, split_forwarded(value));
      break;
    case Id::ForwardUnknown:
      break;  // seen before the first option was read

    case Id::NoWarnings:
      o.warnings.push_back("-w");
      break;
    case Id::WarningsAsErrors:
      if (value.empty() || contains(split_list(value), "all-warnings")) o.warnings.push_back("-Werror");
      break;
    case Id::DryRun:
      o.dry_run = true;
      break;
    case Id::Verbose:
      o.verbose = true;
      break;
    case Id::Keep:
      o.keep = true;
      break;
    case Id::KeepFolder:
      o.keep_folder = value;
      break;
    case Id::Threads:
      return read_threads(argument, value);
    case Id::ListArchitectures:
      o.goal = Goal::ListArchitectures;
      break;
    case Id::ListCode:
      o.goal = Goal::ListCode;
      break;
    case Id::Help:
      o.goal = Goal::Help;
      break;
    case Id::Version:
      o.goal = Goal::Version;
      break;
    case Id::PackFatbin:
      o.goal = Goal::Pack;
      break;
    case Id::None:
      break;
  }
  return {};
}

Result<> Parser::request(const std::string& names) {
  TRY(std::vector<Architecture> architectures, parse_architectures(names));
  requested_.insert(requested_.end(), architectures.begin(), architectures.end());
  return {};
}

Result<> Parser::read_threads(const std::string& argument, const std::string& value) {
  unsigned count = 0;
  const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (status != std::errc() || end != value.data() + value.size() || count > 1024)
    return fail(ErrorCode::InvalidValue, "'{}': '{}' is not a number of threads", argument, value);
  options_.threads = count ? count : std::max(1u, std::thread::hardware_concurrency());
  return {};
}

/// The words of each file take the place of the option.
Result<> Parser::read_options_files(const std::string& names) {
  std::vector<std::string> words;
  for (const std::string& name : split_list(names)) {
    std::ifstream file(name);
    if (!file) return fail(ErrorCode::InvalidValue, "options file '{}' cannot be read", name);
    append(words, split_words(std::string(std::istreambuf_iterator<char>(file), {})));
  }
  if (arguments_.size() + words.size() > 100'000)
    return fail(ErrorCode::InvalidValue, "options file '{}' includes itself", names);
  arguments_.insert(arguments_.begin() + static_cast<std::ptrdiff_t>(next_), words.begin(), words.end());
  return {};
}

/// What can only be said when the whole line was read.
Result<Options> Parser::finish() {
  Options& o = options_;
  if (!o.keep_folder.empty()) o.keep = true;
  o.architecture = choose(requested_);
  const bool asks =
      o.goal == Goal::Help || o.goal == Goal::Version || o.goal == Goal::ListArchitectures || o.goal == Goal::ListCode;
  if (asks) return o;
  for (const std::string& file : files_) {
    TRY(FileKind kind, kind_of_file(file, language_));
    o.inputs.push_back({file, kind});
  }
  if (o.inputs.empty()) return fail(ErrorCode::InvalidValue, "no input files; see cupolac --help");
  const bool one_each = o.goal == Goal::Objects || o.goal == Goal::Fatbin || o.goal == Goal::Preprocess;
  if (one_each && o.inputs.size() > 1 && !o.output.empty())
    return fail(ErrorCode::InvalidValue, "-o takes one file, but {} inputs make one each", o.inputs.size());
  return o;
}

}  // namespace

Result<Options> parse_options(const std::vector<std::string>& arguments) {
  return Parser().parse(arguments);
}

std::string help_text() {
  std::string text =
      "usage: cupolac [option...] file...\n"
      "Compiles CUDA programs for Cupola; takes nvcc's options. An option may be written with one hyphen or two.\n\n";
  for (const Row& row : kRows) {
    if (row.action == Action::Alias) continue;
    std::string names = formatted("-{}", row.short_name);
    if (row.long_name != row.short_name) names = formatted("--{}, {}", row.long_name, names);
    if (row.kind == Kind::Value) names += " VALUE";
    if (row.kind == Kind::List) names += " VALUE,...";
    const char* prefix = row.action == Action::Ignore ? "no effect: " : row.action == Action::Refuse ? "refused: " : "";
    text += formatted("  {:<46} {}{}\n", names, prefix, row.text);
  }
  return text;
}

}  // namespace cupola::cupolac
