#include "kir/pass_analyses.h"

#include <gtest/gtest.h>
#include <llvm/Transforms/InstCombine/InstCombine.h>

#include "kir/test_module.h"

// Oracle: what LLVM documents of each pass that runs here.

namespace cupola::kir {
namespace {

constexpr const char* kText = R"(
  target triple = "x86_64-unknown-linux-gnu"
  declare double @fabs(double)
  define double @f(double %x) {
    %y = call double @fabs(double %x)
    ret double %y
  })";

/// InstCombine takes fabs for an intrinsic where the C library is known.
bool takes_fabs_for_an_intrinsic(PassAnalyses& analyses) {
  TestModule module(kText);
  llvm::FunctionPassManager combine;
  combine.addPass(llvm::InstCombinePass());
  llvm::ModulePassManager passes;
  passes.addPass(llvm::createModuleToFunctionPassAdaptor(std::move(combine)));
  passes.run(*module, analyses.modules);
  return module.text().contains("llvm.fabs");
}

TEST(PassAnalyses, TheLibraryIsThatOfTheTriple) {
  PassAnalyses analyses;
  EXPECT_TRUE(takes_fabs_for_an_intrinsic(analyses));
}

TEST(PassAnalyses, AGivenLibraryTakesItsPlace) {
  llvm::TargetLibraryInfoImpl none(llvm::Triple("x86_64-unknown-linux-gnu"));
  none.disableAllFunctions();
  PassAnalyses analyses(nullptr, std::move(none));
  EXPECT_FALSE(takes_fabs_for_an_intrinsic(analyses));
}

}  // namespace
}  // namespace cupola::kir
