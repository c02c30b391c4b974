#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cupolac/architecture.h"
#include "cupolac/file_kind.h"

namespace cupola::cupolac {

/// What a run of cupolac ends with.
enum class Goal {
  Link,
  Objects,
  DeviceLink,
  Preprocess,
  Dependencies,
  Fatbin,
  Ptx,
  Metallib,
  Archive,
  Help,
  Version,
  ListArchitectures,
  ListCode,
  Pack,
  PackPtx,
  PackMetallib,
  PackUnit,
  LinkUnits
};

/// A word of the link line: a file that was given, -lNAME, or a word for the linker.
struct LinkWord {
  enum class Kind { Input, Library, Linker };
  Kind kind;
  std::string text;
};

struct Input {
  std::string path;
  FileKind kind;
};

/// What a command line asks for.
struct Options {
  Goal goal = Goal::Link;
  bool shared = false, run = false, cubin = false;
  bool relocatable = false;       ///< device code is linked with that of other files
  bool only_device_code = false;  ///< of DeviceLink: a fat binary, no object
  std::vector<Input> inputs;
  std::vector<LinkWord> link_line;  ///< inputs, libraries and linker options in the order given
  std::string output, output_folder;

  std::vector<std::string> preprocessor;   ///< -D, -U, -I, -isystem, -include as clang takes them, in order
  std::vector<std::string> library_paths;  ///< folders
  std::string standard;                    ///< "c++17"; empty: the default

  Architecture architecture;
  std::string optimize;  ///< "2" for -O2; empty: not given
  bool debug = false, device_debug = false, line_info = false, profile = false;
  bool fast_math = false, flush_denormals = false, contract = true, precise_quotients = true, precise_roots = true;
  bool per_thread_stream = false, extended_lambda = false, relaxed_constexpr = false;

  enum class Dependencies { None, All, User };
  Dependencies dependencies = Dependencies::None;  ///< -M, -MD: All; -MM, -MMD: User
  bool dependency_phony = false;
  std::string dependency_file;
  std::vector<std::string> dependency_targets;

  std::string runtime = "shared";  ///< shared, static or none
  std::string host_compiler;
  std::vector<std::string> host_options, archive_options, run_arguments;
  std::vector<std::string> warnings;  ///< -w, -Werror, -Wno-...

  bool dry_run = false, verbose = false, keep = false;
  std::string keep_folder;
  unsigned threads = 1;
  std::string unit;                ///< of PackUnit: its name; of LinkUnits: the fat binary to write
  std::vector<std::string> notes;  ///< printed with -v: what was accepted and has no effect
};

/// Reads a command line (without argv[0]). Errors: InvalidValue or NotSupported, one line that names the option.
Result<Options> parse_options(const std::vector<std::string>& arguments);

/// The text of --help: one line an option.
std::string help_text();

}  // namespace cupola::cupolac
