#include "cupolac/plan.h"

#include <map>
#include <set>

#include "cupolac/lists.h"
#include "image/clang_target.h"
#include "image/device_unit.h"

namespace cupola::cupolac {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

void append(Words& to, const Words& words) {
  to.insert(to.end(), words.begin(), words.end());
}

/// Options of -Xcompiler that say what the source means, and so hold for device code too.
Words language_options(const Words& host_options) {
  Words kept;
  for (size_t i = 0; i < host_options.size(); ++i) {
    const std::string& word = host_options[i];
    const bool takes_next = word == "-D" || word == "-U" || word == "-I" || word == "-isystem" || word == "-include";
    const bool joined = word.starts_with("-D") || word.starts_with("-U") || word.starts_with("-I");
    if (takes_next && i + 1 < host_options.size()) {
      kept.push_back(word);
      kept.push_back(host_options[++i]);
    } else if (joined || word == "-w" || (word.starts_with("-W") && !word.starts_with("-Wl"))) {
      kept.push_back(word);
    }
  }
  return kept;
}

class Planner {
 public:
  Planner(const Options& options, const Installation& installation, const std::string& scratch)
      : options_(options), installation_(installation), scratch_(scratch) {}

  Result<Plan> plan() {
    plan_.notes = options_.notes;
    find_user_headers();
    for (const Input& input : options_.inputs) TRY(add_input(input));
    if (options_.goal == Goal::Link) add_link();
    if (options_.goal == Goal::DeviceLink) add_device_link();
    if (options_.goal == Goal::Archive) add_archive();
    return std::move(plan_);
  }

 private:
  /// Cupola's headers come first among the system's folders, and no CUDA toolkit's come before them.
  void find_user_headers() {
    const Words& given = options_.preprocessor;
    for (size_t i = 0; i < given.size(); ++i) {
      const bool joined = given[i].starts_with("-I");
      const bool separate = given[i] == "-isystem" || given[i] == "-include";
      const std::string folder = joined ? given[i].substr(2) : given[i] == "-isystem" ? given[i + 1] : "";
      if (!folder.empty() && is_foreign_toolkit(folder, installation_.headers)) {
        plan_.warnings.push_back(formatted("'{}' holds another CUDA toolkit's headers and is left out", folder));
      } else {
        user_headers_.push_back(given[i]);
        if (separate) user_headers_.push_back(given[i + 1]);
      }
      if (separate) ++i;
    }
  }

  // ---- words that several commands share ----

  Words preprocessor() const {
    Words words = {"-isystem", installation_.headers.string(), "-D__NVCC__=1"};
    append(words, user_headers_);
    if (!installation_.refusals.empty()) append(words, {"-isystem", installation_.refusals.string()});
    if (options_.per_thread_stream) words.push_back("-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
    return words;
  }

  Words cuda() const {
    const Architecture& architecture = options_.architecture;
    Words words = {"-x", "cuda", "--cuda-gpu-arch=" + architecture.sm(),
                   // A folder that is not there: a toolkit on this machine is never looked at.
                   "--cuda-path=" + (installation_.headers / "no-toolkit").string(), "-nocudainc", "-nocudalib",
                   std::string("--cuda-feature=") + image::kPtxFeature, "-fdeclspec", "-Xclang",
                   std::string("-target-sdk-version=") + image::kSdkVersion,
                   "-std=" + (options_.standard.empty() ? "gnu++17" : options_.standard), "-Qunused-arguments",
                   "-Wno-unknown-warning-option"};
    append(words, preprocessor());
    append(words, {"-include", "cuda_runtime.h", formatted("-D__CUDA_ARCH_LIST__={}0", architecture.number)});
    if (options_.extended_lambda) words.push_back("-D__CUDACC_EXTENDED_LAMBDA__=1");
    if (options_.relaxed_constexpr) words.push_back("-D__CUDACC_RELAXED_CONSTEXPR__=1");
    if (options_.device_debug) words.push_back("-D__CUDACC_DEBUG__=1");
    if (options_.relocatable) append(words, {"-D__CUDACC_RDC__=1", "-fgpu-rdc"});
    if (options_.fast_math) words.push_back("-fgpu-approx-transcendentals");
    if (options_.per_thread_stream) append(words, {"-Xclang", "-fgpu-default-stream=per-thread"});
    append(words, options_.warnings);
    return words;
  }

  Words host_options() const {
    Words words;
    if (!options_.optimize.empty()) words.push_back("-O" + options_.optimize);
    if (options_.debug) words.push_back("-g");
    if (options_.profile) words.push_back("-pg");
    if (options_.shared) words.push_back("-fPIC");
    append(words, options_.host_options);
    return words;
  }

  Words dependency_words(const std::string& source, const std::string& object) const {
    Words words;
    if (options_.dependencies == Options::Dependencies::None) return words;
    words.push_back(options_.dependencies == Options::Dependencies::All ? "-MD" : "-MMD");
    const std::string rule = options_.dependency_file.empty() ? named_output(source, ".d") : options_.dependency_file;
    append(words, {"-MF", rule});
    const bool kept = options_.goal == Goal::Objects;
    append(words, dependency_targets(kept ? object : fs::path(source).stem().string() + ".o"));
    return words;
  }

  Words dependency_targets(const std::string& object) const {
    Words words;
    for (const std::string& target : options_.dependency_targets) append(words, {"-MT", target});
    if (options_.dependency_targets.empty()) append(words, {"-MT", object});
    if (options_.dependency_phony) words.push_back("-MP");
    return words;
  }

  /// -ccbin may name a folder; its g++ is meant then.
  Words host_compiler() const {
    if (options_.host_compiler.empty())
      return {installation_.clang.string(), "-Qunused-arguments", "-Wno-unknown-warning-option"};
    std::error_code error;
    if (fs::is_directory(options_.host_compiler, error)) return {(fs::path(options_.host_compiler) / "g++").string()};
    return {options_.host_compiler};
  }

  // ---- names of files ----

  /// The output of a goal that makes one file an input: -o, or the input's name with another extension.
  std::string named_output(const std::string& source, const std::string& extension) const {
    if (!options_.output.empty() && extension != ".d") return options_.output;
    fs::path path = fs::path(source).stem();
    path += extension;
    if (extension == ".d" && !options_.output.empty()) path = fs::path(options_.output).replace_extension(".d");
    return (fs::path(options_.output_folder) / path).string();
  }

  /// A file between the steps; two inputs of one name in different folders get different ones.
  std::string between(const std::string& source, const std::string& extension) {
    std::string stem = fs::path(source).stem().string();
    for (int i = 2;; ++i) {
      std::string path = (fs::path(scratch_) / (stem + extension)).string();
      if (taken_.insert(path).second) return path;
      stem = formatted("{}.{}", fs::path(source).stem().string(), i);
    }
  }

  // ---- steps ----

  Result<> add_input(const Input& input) {
    if (input.kind == FileKind::Object || input.kind == FileKind::Library) {
      if (options_.goal != Goal::Link && options_.goal != Goal::Archive && options_.goal != Goal::DeviceLink)
        return fail(ErrorCode::InvalidValue, "'{}' needs no compiling; leave it out", input.path);
      objects_[input.path] = input.path;
      return {};
    }
    if (options_.goal == Goal::Metallib) return add_metallib(input);
    const bool links = options_.goal == Goal::Link || options_.goal == Goal::DeviceLink;
    if (input.kind == FileKind::DeviceCode && links) return {};  // the device link finds it on the link line
    if (input.kind == FileKind::Metal)
      return fail(ErrorCode::InvalidValue, "'{}' is Metal's source: --device=metal, on a Mac with Xcode, takes it",
                  input.path);
    if (input.kind == FileKind::Bitcode || input.kind == FileKind::DeviceCode)
      return fail(ErrorCode::InvalidValue, "don't know what to do with '{}' here; -dlink and linking take device code",
                  input.path);
    const bool cuda_file = input.kind == FileKind::Cuda;
    switch (options_.goal) {
      case Goal::Preprocess:
        return add_preprocessing(input, "preprocess", {"-E"});
      case Goal::Dependencies: {
        Words words = {options_.dependencies == Options::Dependencies::All ? "-M" : "-MM"};
        append(words, dependency_targets(fs::path(input.path).stem().string() + ".o"));
        return add_preprocessing(input, "dependencies", words);
      }
      case Goal::Fatbin:
      case Goal::Ptx:
        if (!cuda_file)
          return fail(ErrorCode::InvalidValue, "'{}' has no device code; only .cu files have", input.path);
        plan_.chains.push_back(device_chain(input));
        return {};
      case Goal::Link:
      case Goal::DeviceLink:
      case Goal::Objects:
      case Goal::Archive:
      case Goal::Metallib:
      case Goal::Pack:
      case Goal::PackPtx:
      case Goal::PackMetallib:
      case Goal::PackUnit:
      case Goal::LinkUnits:
      case Goal::Help:
      case Goal::Version:
      case Goal::ListArchitectures:
      case Goal::ListCode:
        break;
    }
    const std::string object =
        options_.goal == Goal::Objects ? named_output(input.path, ".o") : between(input.path, ".o");
    objects_[input.path] = object;
    plan_.chains.push_back(cuda_file ? cuda_chain(input, object) : std::vector<Step>{host_step(input, object)});
    return {};
  }

  Result<> add_preprocessing(const Input& input, const char* name, const Words& what) {
    Words command;
    if (input.kind == FileKind::Cuda) {
      command = {installation_.clang.string()};
      append(command, cuda());
      append(command, {"--cuda-host-only"});
      append(command, host_options());
    } else {
      command = host_command(input);
    }
    append(command, what);
    command.push_back(input.path);
    const std::string& output =
        options_.goal == Goal::Dependencies && options_.output.empty() ? options_.dependency_file : options_.output;
    if (!output.empty()) append(command, {"-o", output});
    plan_.chains.push_back({{name, command}});
    return {};
  }

  /// What tells one compilation of a file from another in the same program.
  std::string unit_of(const Input& input, const std::string& object) const {
    std::error_code error;
    std::string difference =
        fs::absolute(input.path, error).string() + '\n' + fs::absolute(options_.output, error).string();
    if (options_.goal == Goal::Objects) difference += '\n' + fs::absolute(object, error).string();
    for (const std::string& word : options_.preprocessor) difference += '\n' + word;
    return image::unit_name(fs::path(input.path).stem().string(), difference);
  }

  /// To kir, the kernel code of a file.
  std::string add_device(std::vector<Step>& chain, const Input& input, const Words& further) {
    const std::string kir = between(input.path, ".kir.bc");
    Words command = {installation_.clang.string()};
    append(command, cuda());
    append(command, {"--cuda-device-only", "-O2", "-Xclang", "-disable-llvm-passes", "-emit-llvm",
                     options_.contract ? "-ffp-contract=fast" : "-ffp-contract=off"});
    if (options_.flush_denormals) command.push_back("-fgpu-flush-denormals-to-zero");
    const std::string estimates =
        image::estimates(!options_.precise_quotients, !options_.precise_roots, options_.fast_math);
    if (!estimates.empty()) append(command, {"-Xclang", "-mrecip=" + estimates});
    if (options_.device_debug)
      command.push_back("-g");
    else if (options_.debug || options_.line_info)
      command.push_back("-gline-tables-only");
    append(command, language_options(options_.host_options));
    append(command, further);
    append(command, {"-c", input.path, "-o", kir});
    chain.push_back({"device", command});
    return kir;
  }

  /// A step of cupolac's own. CMake reads the architecture from its words.
  Words own_step(const Words& what) const {
    Words words = {installation_.cupolac.string()};
    append(words, what);
    append(words, {"-arch", "compute_" + std::to_string(options_.architecture.number) + options_.architecture.suffix});
    if (options_.verbose) words.push_back("-v");
    return words;
  }

  void add_pack(std::vector<Step>& chain, const Words& what, const std::string& kir, const std::string& output) const {
    Words pack = own_step(what);
    append(pack, {kir, "-o", output});
    chain.push_back({"pack", pack});
  }

  /// -ptx, -fatbin, -cubin. Relocatable code is a unit by itself there too.
  std::vector<Step> device_chain(const Input& input) {
    std::vector<Step> chain;
    const bool ptx = options_.goal == Goal::Ptx;
    const std::string output = named_output(input.path, ptx ? ".ptx" : options_.cubin ? ".cubin" : ".fatbin");
    Words further, what = {ptx ? "--pack-ptx" : "--pack-fatbin"};
    if (options_.relocatable) {
      further.push_back("-cuid=" + unit_of(input, output));
      what.push_back("-rdc=true");
    }
    add_pack(chain, what, add_device(chain, input, further), output);
    return chain;
  }

  /// --device=metal. What Metal cannot have is said with the source's lines.
  Result<> add_metallib(const Input& input) {
    const std::string output = named_output(input.path, ".metallib");
    std::vector<Step> chain;
    switch (input.kind) {
      case FileKind::Cuda:
        add_pack(chain, {"--pack-metallib"}, add_device(chain, input, {"-gline-tables-only"}), output);
        break;
      case FileKind::DeviceCode:
      case FileKind::Bitcode:
        add_pack(chain, {"--pack-metallib"}, input.path, output);
        break;
      case FileKind::Metal:
        chain.push_back({"metal", {"xcrun", "-sdk", "macosx", "metal", "-fno-fast-math", input.path, "-o", output}});
        break;
      case FileKind::Cxx:
      case FileKind::C:
      case FileKind::Assembly:
      case FileKind::Object:
      case FileKind::Library:
        return fail(ErrorCode::InvalidValue, "'{}' has no device code for --device=metal", input.path);
    }
    plan_.chains.push_back(std::move(chain));
    return {};
  }

  std::vector<Step> cuda_chain(const Input& input, const std::string& object) {
    std::vector<Step> chain;
    const std::string unit = options_.relocatable ? unit_of(input, object) : "";
    const std::string packed = between(input.path, options_.relocatable ? ".unit" : ".fatbin");
    Words identity, what = {"--pack-fatbin"}, embedding = {"-Xclang", "-fcuda-include-gpubinary", "-Xclang", packed};
    if (options_.relocatable) {
      identity = {"-cuid=" + unit};
      what = {"--pack-unit", unit};
      embedding = {"-Xclang", "-fembed-offload-object=" + packed, "-DCUPOLA_DEVICE_UNIT=" + unit, "-include",
                   "cupola/device_unit.h"};
    }
    add_pack(chain, what, add_device(chain, input, identity), packed);
    Words command = {installation_.clang.string()};
    append(command, cuda());
    append(command, {"--cuda-host-only"});
    append(command, identity);
    append(command, embedding);
    append(command, host_options());
    append(command, dependency_words(input.path, object));
    append(command, {"-c", input.path, "-o", object});
    chain.push_back({"host", command});
    return chain;
  }

  /// The compiler and its words for a file without device code, up to what is to be done with it.
  Words host_command(const Input& input) const {
    Words command = host_compiler();
    const bool c = input.kind == FileKind::C;
    append(command, {"-x", c ? "c" : input.kind == FileKind::Assembly ? "assembler-with-cpp" : "c++"});
    if (!options_.standard.empty() && input.kind == FileKind::Cxx) command.push_back("-std=" + options_.standard);
    append(command, preprocessor());
    append(command, options_.warnings);
    append(command, host_options());
    return command;
  }

  Step host_step(const Input& input, const std::string& object) const {
    Words command = host_command(input);
    append(command, dependency_words(input.path, object));
    append(command, {"-c", input.path, "-o", object});
    return {"compile", command};
  }

  /// Files, libraries and linker words in the order given, but no library before the first file, because a linker takes
  /// from a library only what is missing by then.
  Words link_line() const {
    Words line, early;
    bool file = false;
    for (const LinkWord& word : options_.link_line) switch (word.kind) {
        case LinkWord::Kind::Input:
          if (!objects_.contains(word.text)) break;  // device code alone
          line.push_back(objects_.at(word.text));
          file = true;
          break;
        case LinkWord::Kind::Linker:
          append(line, {"-Xlinker", word.text});
          break;
        case LinkWord::Kind::Library:
          if (word.text != "cudadevrt") (file ? line : early).push_back("-l" + word.text);
          break;
      }
    append(line, early);
    return line;
  }

  /// True if a file or library of the link may hold relocatable device code.
  bool may_hold_units() const {
    bool any = options_.relocatable;
    for (const LinkWord& word : options_.link_line)
      any |= word.kind == LinkWord::Kind::Library && !options_.library_paths.empty();
    for (const Input& input : options_.inputs)
      any |= input.kind == FileKind::Object || input.kind == FileKind::DeviceCode ||
             (input.kind == FileKind::Library && fs::path(input.path).extension() == ".a");
    return any;
  }

  /// The device link's words: the files and libraries that the host's link takes.
  Words units_line(const std::string& fatbin) const {
    Words words = own_step({"--link-units", fatbin});
    for (const std::string& folder : options_.library_paths) words.push_back("-L" + folder);
    for (const LinkWord& word : options_.link_line) {
      if (word.kind == LinkWord::Kind::Library) words.push_back("-l" + word.text);
      if (word.kind != LinkWord::Kind::Input) continue;
      const auto object = objects_.find(word.text);
      words.push_back(object == objects_.end() ? word.text : object->second);
    }
    return words;
  }

  /// Links device code into an object.
  void add_registration(const std::string& object) {
    const std::string source = between("device_link", ".c"), fatbin = between("device_link", ".fatbin");
    Words units = units_line(fatbin);
    append(units, {"-o", source});
    plan_.last.push_back({"link-units", units});
    Words command = {installation_.clang.string(), "-x", "c", "-std=gnu2x", "-O1", "-fPIC", "-w", "-Qunused-arguments"};
    append(command, {"-c", source, "-o", object});
    plan_.last.push_back({"register", command});
  }

  /// -dlink.
  void add_device_link() {
    const std::string extension = !options_.only_device_code ? ".o" : options_.cubin ? ".cubin" : ".fatbin";
    std::string output = options_.output;
    if (output.empty()) output = (fs::path(options_.output_folder) / ("a_dlink" + extension)).string();
    if (options_.only_device_code)
      plan_.last.push_back({"link-units", units_line(output)});
    else
      add_registration(output);
  }

  void add_link() {
    const std::string device_link = may_hold_units() ? between("device_link", ".o") : "";
    if (!device_link.empty()) add_registration(device_link);
    const std::string libraries = installation_.libraries.string();
    const std::string output = linked_output();
    // Without -ccbin under the name that CMake is to link with.
    Words command = host_compiler();
    if (options_.host_compiler.empty()) command = {installation_.host_link().string()};
    if (options_.shared) command.push_back("-shared");
    if (options_.debug) command.push_back("-g");
    if (options_.profile) command.push_back("-pg");
    append(command, options_.host_options);
    command.push_back("-L" + libraries);  // before the user's folders: ours is the libcudart that is found
    for (const std::string& folder : options_.library_paths) command.push_back("-L" + folder);
    append(command, link_line());
    if (!device_link.empty()) command.push_back(device_link);
    append(command, {"-o", output});
    if (options_.runtime == "shared") command.push_back("-lcudart");
    if (options_.runtime == "static") append(command, {"-lcudart_static", "-ldl", "-lpthread"});
    command.push_back("-Wl,-rpath," + libraries);
    plan_.last.push_back({"link", command});
    if (!options_.run) return;
    Words program = {fs::path(output).has_parent_path() ? output : "./" + output};
    append(program, options_.run_arguments);
    plan_.last.push_back({"run", program});
  }

  std::string linked_output() const {
    if (!options_.output.empty()) return options_.output;
    return (fs::path(options_.output_folder) / (options_.shared ? "a.so" : "a.out")).string();
  }

  void add_archive() {
    const std::string output =
        options_.output.empty() ? (fs::path(options_.output_folder) / "a.a").string() : options_.output;
    Words command = {installation_.archiver.string(), "rcs"};
    append(command, options_.archive_options);
    command.push_back(output);
    for (const Input& input : options_.inputs)
      if (input.kind != FileKind::Library) command.push_back(objects_.at(input.path));
    plan_.last.push_back({"archive", command});
  }

  const Options& options_;
  const Installation& installation_;
  const std::string& scratch_;
  Words user_headers_;
  std::map<std::string, std::string> objects_;  ///< an input's path, and the file that stands for it in the link
  std::set<std::string> taken_;
  Plan plan_;
};

}  // namespace

Result<Plan> make_plan(const Options& options, const Installation& installation, const std::string& scratch) {
  return Planner(options, installation, scratch).plan();
}

}  // namespace cupola::cupolac
