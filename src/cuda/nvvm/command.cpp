#include "cuda/nvvm/command.h"

#include "cuda/compiler_options.h"
#include "image/architecture.h"

namespace cupola::nvvm {
namespace {

enum class Effect { Arch, Lto, Flush, Contract, Roots, Quotients, KeepInline, Ignored };

constexpr CompilerOption kOptions[] = {
#define NVVM_OPTION(name, values, effect, why) {name, values},
#include "cuda/nvvm/options.def"
#undef NVVM_OPTION
};
constexpr Effect kEffects[] = {
#define NVVM_OPTION(name, values, effect, why) Effect::effect,
#include "cuda/nvvm/options.def"
#undef NVVM_OPTION
};

}  // namespace

Result<Command> read_command(std::span<const char* const> options) {
  Command command;
  for (const char* word : options) {
    if (!word) return fail(ErrorCode::InvalidValue, "an option is null");
    TRY(const CompilerOption* row, find_option(kOptions, word));
    const std::string_view value = split_option(word).value;
    switch (kEffects[row - kOptions]) {
      case Effect::Arch:
        command.architecture = image::real_architecture(value);
        if (command.architecture.empty() || !value.starts_with("compute_"))
          return fail(ErrorCode::InvalidValue, "'{}' is no architecture; compute_89 is one", value);
        break;
      case Effect::Lto:
        command.lto = true;
        break;
      case Effect::Flush:
        command.code.flush_denormals = value == "1";
        break;
      case Effect::Contract:
        command.code.contract = value == "1";
        break;
      case Effect::Roots:
        command.code.approximate_roots = value == "0";
        break;
      case Effect::Quotients:
        command.code.approximate_quotients = value == "0";
        break;
      case Effect::KeepInline:
        command.code.keep_inline = true;
        break;
      case Effect::Ignored:
        break;
    }
  }
  return command;
}

}  // namespace cupola::nvvm
