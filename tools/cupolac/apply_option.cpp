#include "cupolac/apply_option.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <thread>

#include "cupolac/lists.h"

namespace cupola::cupolac {
namespace {

/// Appends each value of a list with the word that clang wants before it.
void preprocess(Options& options, const char* word, const std::string& values) {
  for (const std::string& value : split_list(values)) {
    if (word[2] == '\0') {  // -D, -U, -I
      options.preprocessor.push_back(word + value);
    } else {
      options.preprocessor.push_back(word);
      options.preprocessor.push_back(value);
    }
  }
}

Result<> one_of(const std::string& argument, const std::string& value, const std::vector<std::string>& allowed) {
  if (contains(allowed, value)) return {};
  std::string list;
  for (const std::string& word : allowed) list += (list.empty() ? "" : ", ") + word;
  return fail(ErrorCode::InvalidValue, "'{}': the value must be one of {}, not '{}'", argument, list, value);
}

Result<> truth(bool& target, const std::string& argument, const std::string& value) {
  TRY(one_of(argument, value, {"true", "false"}));
  target = value == "true";
  return {};
}

void append(std::vector<std::string>& to, std::vector<std::string> words) {
  to.insert(to.end(), std::make_move_iterator(words.begin()), std::make_move_iterator(words.end()));
}

Result<> name_architectures(Request& request, const std::string& names) {
  TRY(std::vector<Architecture> architectures, parse_architectures(names));
  request.architectures.insert(request.architectures.end(), architectures.begin(), architectures.end());
  return {};
}

Result<> read_threads(unsigned& threads, const std::string& argument, const std::string& value) {
  unsigned count = 0;
  const auto [end, status] = std::from_chars(value.data(), value.data() + value.size(), count);
  if (status != std::errc() || end != value.data() + value.size() || count > 1024)
    return fail(ErrorCode::InvalidValue, "'{}': '{}' is not a number of threads", argument, value);
  threads = count ? count : std::max(1u, std::thread::hardware_concurrency());
  return {};
}

}  // namespace

Result<> apply_option(Request& request, Id id, const std::string& argument, const std::string& value) {
  Options& o = request.options;
  switch (id) {
    case Id::Compile:
      o.goal = Goal::Objects;
      break;
    case Id::DeviceObjects:
      o.goal = Goal::Objects, o.relocatable = true;
      break;
    case Id::WholeObjects:
      o.goal = Goal::Objects, o.relocatable = false;
      break;
    case Id::DeviceLink:
      request.device_link = true;
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
    case Id::Ptx:
      o.goal = Goal::Ptx;
      break;
    case Id::Device:
      o.goal = Goal::Metallib;
      return one_of(argument, value, {"metal"});
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
      request.language = value;
      return one_of(argument, value, {"cu", "c++", "c"});
    case Id::Define:
      preprocess(o, "-D", value);
      break;
    case Id::Undefine:
      preprocess(o, "-U", value);
      break;
    case Id::Include:
      preprocess(o, "-I", value);
      break;
    case Id::SystemInclude:
      preprocess(o, "-isystem", value);
      break;
    case Id::PreInclude:
      preprocess(o, "-include", value);
      break;
    case Id::LibraryPath:
      append(o.library_paths, split_list(value));
      break;
    case Id::Library:
      for (const std::string& name : split_list(value)) o.link_line.push_back({LinkWord::Kind::Library, name});
      break;
    case Id::OptionsFile:
      break;  // its words have taken its place

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
      return name_architectures(request, value);
    case Id::FastMath:
      o.fast_math = o.flush_denormals = o.contract = true;
      o.precise_quotients = o.precise_roots = false;
      break;
    case Id::FlushDenormals:
      return truth(o.flush_denormals, argument, value);
    case Id::PreciseQuotients:
      return truth(o.precise_quotients, argument, value);
    case Id::PreciseRoots:
      return truth(o.precise_roots, argument, value);
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
      return truth(o.relocatable, argument, value);

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
      return read_threads(o.threads, argument, value);
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
    case Id::PackPtx:
      o.goal = Goal::PackPtx;
      break;
    case Id::PackMetallib:
      o.goal = Goal::PackMetallib;
      break;
    case Id::PackUnit:
      o.goal = Goal::PackUnit, o.unit = value;
      break;
    case Id::LinkUnits:
      o.goal = Goal::LinkUnits, o.unit = value;
      break;
    case Id::None:
      break;
  }
  return {};
}

}  // namespace cupola::cupolac
