#include "doubles/air/air_program.h"

#include <llvm/Bitcode/BitcodeWriter.h>
#include <llvm/Linker/Linker.h>
#include <llvm/Support/raw_ostream.h>

#include "base/format.h"
#include "doubles/air/host_module.h"
#include "doubles/msl/build_program.h"

namespace cupola::doubles {
namespace {

/// Every function that is called and not there is an error.
constexpr std::string_view kFlags = " " CUPOLA_AIR_FUNCTIONS " -x ir -Wno-override-module -Wl,-z,defs";

}  // namespace

Result<std::shared_ptr<MslProgram>> compile_air(std::span<const AirFunction> functions) {
  llvm::LLVMContext context;
  ProgramSource source{"program.bc", std::string(kFlags), {}, {}, {}};
  llvm::Module whole("program", context);
  llvm::Linker linker(whole);
  for (const AirFunction& function : functions) {
    source.callers.push_back(formatted("call_{}", source.callers.size()));
    TRY(HostModule made, host_module(context, function, source.callers.back()));
    source.functions.push_back(std::move(made.function));
    if (linker.linkInModule(std::move(made.module)))
      return fail(ErrorCode::InvalidSource, "software Metal: {} cannot be linked with the others", function.name);
  }
  llvm::SmallVector<char, 0> bitcode;
  llvm::raw_svector_ostream out(bitcode);
  llvm::WriteBitcodeToFile(whole, out);
  source.contents = std::as_bytes(std::span(bitcode.data(), bitcode.size()));
  return build_program(std::move(source));
}

}  // namespace cupola::doubles
