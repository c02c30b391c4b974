#include "backend/metal/metallib/check.h"

#include <set>

#include "backend/metal/metallib/module_summary.h"

namespace cupola::metallib {
namespace {

constexpr std::string_view kRequiredMetadata[] = {"air.kernel", "air.version", "air.language_version"};

class Checker {
 public:
  Checker(const Library& library, const CheckOptions& options) : library_(library), options_(options) {}

  std::vector<std::string> run() {
    if (options_.require_functions && library_.functions.empty()) problem("function list: it is empty");
    check_target();
    std::set<std::string> names;
    for (const Function& function : library_.functions) {
      if (!names.insert(function.name).second) problem(function, "it is in the list twice");
      check_function(function);
    }
    return std::move(problems_);
  }

 private:
  void problem(std::string line) { problems_.push_back(std::move(line)); }
  void problem(const Function& function, const std::string& what) {
    problem(formatted("function '{}': {}", printable(function.name), what));
  }

  void check_target() {
    newest_ = nullptr;
    for (const Release& release : releases())
      if (release.container == library_.header.version) newest_ = &release;
    if (!newest_)
      return problem(formatted("header: container version {} is none of Apple's that are known",
                               text_of(library_.header.version)));
    if (!library_.header.for_macos) problem("header: it is not for macOS");
  }

  void check_function(const Function& function) {
    if (!is_hash_right(function))
      problem(function, formatted("HASH is {}, but the module's SHA-256 is {}", hex(function.hash),
                                  hex(sha256(function.module))));
    check_versions(function);
    if (const auto constants = function_constants(function); !constants) problem(function, constants.error().message);
    if (const auto line = debug_line(function); !line) problem(function, line.error().message);
    const Result<ModuleSummary> module = summarize(function.module);
    if (!module) return problem(function, module.error().message);
    check_module(function, *module);
  }

  void check_versions(const Function& function) {
    if (!newest_) return;
    if (function.air > newest_->air || function.language > newest_->language)
      problem(function, formatted("AIR {} and MSL {} are newer than container {} knows: {} and {}",
                                  text_of(function.air), text_of(function.language), text_of(newest_->container),
                                  text_of(newest_->air), text_of(newest_->language)));
  }

  void check_module(const Function& function, const ModuleSummary& module) {
    if (!module.triple.starts_with("air64"))
      problem(function, formatted("the module is for '{}', not for air64", printable(module.triple)));
    if (module.opaque_pointers)
      problem(function, "the module has opaque pointers, which Metal's compiler does not read");
    if (std::ranges::find(module.defined, function.name) == module.defined.end())
      problem(function, "the module defines no function of that name");
    check_version_of_module(function, "air.version", module.air_version, function.air);
    check_version_of_module(function, "air.language_version", module.language_version, function.language);
    if (function.kind != FunctionKind::Kernel || !options_.require_metadata) return;
    for (const std::string_view name : kRequiredMetadata)
      if (!has_metadata(module, name)) problem(function, formatted("the module has no metadata '{}'", name));
    if (has_metadata(module, "air.kernel") && std::ranges::find(module.kernels, function.name) == module.kernels.end())
      problem(function, "air.kernel of the module does not name it");
  }

  void check_version_of_module(const Function& function, std::string_view name, const std::vector<uint64_t>& found,
                               Version expected) {
    if (found.size() < 2) return;  // whether it must be there is require_metadata's question
    if (found[0] != expected.major || found[1] != expected.minor)
      problem(function,
              formatted("{} of the module is {}.{}, VERS says {}", name, found[0], found[1], text_of(expected)));
  }

  const Library& library_;
  const CheckOptions options_;
  const Release* newest_ = nullptr;  // of those that write this version of the container
  std::vector<std::string> problems_;
};

}  // namespace

std::vector<std::string> check(const Library& library, const CheckOptions& options) {
  return Checker(library, options).run();
}

}  // namespace cupola::metallib
