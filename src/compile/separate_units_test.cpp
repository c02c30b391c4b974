#include "compile/separate_units.h"

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/Support/SourceMgr.h>

// Oracle: the names that clang 22 gives with -fgpu-rdc.

namespace cupola {
namespace {

/// The names of what `use` refers to, after unite_internal_names().
std::vector<std::string> used_by(const std::string& definitions) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(definitions, error, context);
  if (!module) return {error.getMessage().str()};
  unite_internal_names(*module);
  std::vector<std::string> names;
  for (const llvm::Use& each : module->getNamedGlobal("use")->getInitializer()->operands())
    names.push_back(each->getName().str());
  return names;
}

using Names = std::vector<std::string>;

TEST(UniteInternalNames, AUseGetsTheNameThatClangGaveTheDefinition) {
  EXPECT_EQ(used_by(R"(
    @_ZL6hidden = external global i32
    @_ZL6hidden__static__7112a8d6b9198b13 = externally_initialized global i32 3
    @_ZL5fixed = external constant i32
    @_ZL5fixed__static__1a2b3c801_0f1e2d3c4b5a6978 = externally_initialized constant i32 4
    declare void @_ZL1kPi(ptr)
    define weak_odr ptx_kernel void @_ZL1kPi__intern__7112a8d6b9198b13(ptr %p) { ret void }
    @use = global [3 x ptr] [ptr @_ZL6hidden, ptr @_ZL5fixed, ptr @_ZL1kPi])"),
            (Names{"_ZL6hidden__static__7112a8d6b9198b13", "_ZL5fixed__static__1a2b3c801_0f1e2d3c4b5a6978",
                   "_ZL1kPi__intern__7112a8d6b9198b13"}));
}

TEST(UniteInternalNames, AProgramsOwnNamesStay) {
  EXPECT_EQ(used_by(R"(
    @cache = external global i32
    @cache__static__size = externally_initialized global i32 3
    @cache__static__ = externally_initialized global i32 3
    @cache__static__bad = externally_initialized global i32 3
    @cache__intern__7112a8d6b9198b13 = externally_initialized global i32 3
    @cache__static__7112a8d6b9198b13 = internal global i32 3
    @use = global [1 x ptr] [ptr @cache])"),
            Names{"cache"});
}

TEST(UniteInternalNames, ADefinitionOfThePlainNameStays) {
  EXPECT_EQ(used_by(R"(
    @_ZL6hidden = internal global i32 5
    @_ZL6hidden__static__7112a8d6b9198b13 = externally_initialized global i32 3
    @use = global [1 x ptr] [ptr @_ZL6hidden])"),
            Names{"_ZL6hidden"});
}

}  // namespace
}  // namespace cupola
