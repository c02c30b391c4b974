#include "cuda/nvjitlink/link_command.h"

#include "cuda/compiler_options.h"
#include "image/architecture.h"

namespace cupola::nvjitlink {
namespace {

enum class Effect { Arch, Lto, Ptx, Verbose, Time, Ignored };

constexpr CompilerOption kOptions[] = {
#define NVJITLINK_OPTION(name, values, effect, why) {name, values},
#include "cuda/nvjitlink/options.def"
#undef NVJITLINK_OPTION
};
constexpr Effect kEffects[] = {
#define NVJITLINK_OPTION(name, values, effect, why) Effect::effect,
#include "cuda/nvjitlink/options.def"
#undef NVJITLINK_OPTION
};

void refuse(LinkCommand& command, nvJitLinkResult result, std::string why) {
  if (command.result != NVJITLINK_SUCCESS) return;  // the first is reported
  command.result = result;
  command.error = std::move(why);
}

void apply(LinkCommand& command, Effect effect, std::string_view value) {
  switch (effect) {
    case Effect::Arch:
      command.architecture = image::real_architecture(value);
      command.is_virtual = value.starts_with("compute_");
      if (command.architecture.empty())  // the codes are those of CUDA 13.0's library
        refuse(command,
               value.starts_with("sm_") || command.is_virtual ? NVJITLINK_ERROR_UNRECOGNIZED_ARCH
                                                              : NVJITLINK_ERROR_UNRECOGNIZED_OPTION,
               formatted("'{}' is no architecture; sm_89 is one", value));
      break;
    case Effect::Lto:
      command.lto = true;
      break;
    case Effect::Ptx:
      command.ptx = true;
      break;
    case Effect::Verbose:
      command.verbose = true;
      break;
    case Effect::Time:
      command.time = true;
      break;
    case Effect::Ignored:
      break;
  }
}

}  // namespace

LinkCommand read_command(std::span<const char* const> options) {
  LinkCommand command;
  bool has_architecture = false;
  for (const char* word : options) {
    const Result<const CompilerOption*> row = find_option(kOptions, word ? word : "");
    if (!row) {
      refuse(command, NVJITLINK_ERROR_UNRECOGNIZED_OPTION, row.error().message);
      continue;
    }
    const Effect effect = kEffects[*row - kOptions];
    has_architecture |= effect == Effect::Arch;
    apply(command, effect, split_option(word).value);
  }
  if (!has_architecture) refuse(command, NVJITLINK_ERROR_MISSING_ARCH, "-arch=sm_NN is missing");
  if (command.ptx && !command.lto) refuse(command, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS, "-ptx needs -lto");
  if (command.is_virtual && !command.lto)
    refuse(command, NVJITLINK_ERROR_INCOMPATIBLE_OPTIONS, "-arch=compute_NN needs -lto: without it there is no PTX");
  return command;
}

}  // namespace cupola::nvjitlink
