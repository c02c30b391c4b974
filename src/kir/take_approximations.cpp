// Functions of float for which a GPU has an instruction: PTX has that, as NVIDIA's libdevice does. The CPU keeps the
// full functions, which cost it little more.

#include <llvm/ADT/StringRef.h>
#include <llvm/IR/Module.h>

#include "kir/nvvm_ir.h"
#include "kir/passes.h"

namespace cupola::kir {
namespace {

/// A function of libdevice and what the device library has for it (src/device/approximations.cu).
struct Approximation {
  llvm::StringLiteral name, approximation;
};
constexpr Approximation kApproximations[] = {
    {"__nv_exp2f", "__cupola_approximate_exp2f"},          {"__nv_fast_cosf", "__cupola_approximate_cosf"},
    {"__nv_fast_exp10f", "__cupola_approximate_exp10f"},   {"__nv_fast_expf", "__cupola_approximate_expf"},
    {"__nv_fast_log10f", "__cupola_approximate_log10f"},   {"__nv_fast_log2f", "__cupola_approximate_log2f"},
    {"__nv_fast_logf", "__cupola_approximate_logf"},       {"__nv_fast_powf", "__cupola_approximate_powf"},
    {"__nv_fast_sincosf", "__cupola_approximate_sincosf"}, {"__nv_fast_sinf", "__cupola_approximate_sinf"},
    {"__nv_fast_tanf", "__cupola_approximate_tanf"},       {"__nv_fast_tanhf", "__cupola_approximate_tanhf"},
};

}  // namespace

void take_approximations(llvm::Module& module) {
  for (const Approximation& row : kApproximations) {
    llvm::Function* function = module.getFunction(row.name);
    const bool program_s_own = function && !function->isDeclaration() && !function->hasFnAttribute(kLibdevice);
    if (!function || program_s_own) continue;
    function->deleteBody();  // external from now on
    function->setName(row.approximation);
  }
}

}  // namespace cupola::kir
