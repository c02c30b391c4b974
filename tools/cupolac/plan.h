#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cupolac/installation.h"
#include "cupolac/options.h"

namespace cupola::cupolac {

/// One command to run.
struct Step {
  std::string
      name;  ///< device, pack, host, compile, preprocess, dependencies, metal, link-units, register, link, archive, run
  std::vector<std::string> command;
};

/// What is to be done. Chains are independent of each other; a chain's steps run in order, and `last` runs when all are
/// done.
struct Plan {
  std::vector<std::vector<Step>> chains;
  std::vector<Step> last;
  std::vector<std::string> notes;     ///< lines for -v
  std::vector<std::string> warnings;  ///< lines for standard error
};

/// The steps for a command line. `scratch` is the folder for files between the steps. Touches no file.
///
/// A .cu file takes three: `device` compiles kernels to kir (LLVM bitcode, nothing optimised: src/kir gives it CUDA's
/// meaning first), `pack` puts that into a fat binary, `host` compiles the rest with the fat binary embedded.
/// With -rdc=true the first two make a device unit, which `host` embeds, and before the link `link-units` links the
/// units of all objects and static libraries and `register` compiles what embeds and registers the result.
Result<Plan> make_plan(const Options& options, const Installation& installation, const std::string& scratch);

}  // namespace cupola::cupolac
