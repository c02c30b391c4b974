#include "cupolac/foreign_headers.h"

#include <gmock/gmock.h>

#include <fstream>

#include "cupolac/installation.h"
#include "cupolac/run.h"
#include "cupolac/shell.h"

namespace cupola::cupolac {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class ForeignHeaders : public testing::Test {
 protected:
  ForeignHeaders() {
    write("system/cublas_v2.h");
    write("system/cuda_runtime_api.h");
    write("system/cuda_runtime.h");
    write("other/cudaless.h");
    write("system/stdio.h");
    write("system/curl.h");
    write("system/cuda/std/atomic");
    write("system/crt/inner/detail.hpp");
    write("own/cuda_runtime.h");
    write("own/cuda_runtime_api.h");
  }
  void write(const std::string& name) {
    fs::create_directories((root_ / name).parent_path());
    std::ofstream(root_ / name) << "";
  }
  Scratch scratch_ = Scratch::temporary().value();
  fs::path root_ = scratch_.path();
};

TEST_F(ForeignHeaders, AreAToolkitsThatCupolaLacks) {
  const auto found = find_foreign_headers({root_ / "missing", root_ / "other", root_ / "system"}, root_ / "own");
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found.at("crt/inner/detail.hpp"), root_ / "system/crt/inner/detail.hpp");
  EXPECT_EQ(found.at("cublas_v2.h"), root_ / "system/cublas_v2.h");
}

TEST_F(ForeignHeaders, AreRefusedByName) {
  ASSERT_TRUE(write_refusals(find_foreign_headers({root_ / "system"}, root_ / "own"), root_ / "refused"));
  std::ofstream(root_ / "a.cpp") << "#include <cublas_v2.h>\n";
  const ShellOutput output =
      run_shell(find_clang()->string() + " -fsyntax-only -isystem " + root_.string() + "/refused -idirafter " +
                root_.string() + "/system " + root_.string() + "/a.cpp");
  EXPECT_NE(output.status, 0);
  EXPECT_THAT(output.text, HasSubstr("Cupola has no <cublas_v2.h>: " + root_.string() + "/system/cublas_v2.h belongs"));
}

}  // namespace
}  // namespace cupola::cupolac
