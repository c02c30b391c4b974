#include "cupolac/foreign_libraries.h"

#include <gmock/gmock.h>

#include <fstream>

#include "cupolac/lists.h"
#include "cupolac/run.h"

namespace cupola::cupolac {
namespace {

namespace fs = std::filesystem;

class ForeignLibraries : public testing::Test {
 protected:
  ForeignLibraries() {
    for (const char* name : {"system/libcublas.so", "system/libnvrtc.so", "system/libnvvm.a", "system/libfft.so",
                             "system/libcudadevrt.a", "own/libnvvm.so", "user/libcublas.a"}) {
      fs::create_directories((root_ / name).parent_path());
      std::ofstream(root_ / name) << "";
    }
  }
  /// What is wrong with that command line; empty if nothing is.
  std::string refusal(const std::string& line) const {
    const Result<Options> options = parse_options(split_words("a.cu " + line));
    if (!options) return options.error().message;
    const Result<> checked = check_libraries(*options, root_ / "own", {root_ / "missing", root_ / "system"});
    return checked ? "" : checked.error().message;
  }
  Scratch scratch_ = Scratch::temporary().value();
  fs::path root_ = scratch_.path();
};

TEST_F(ForeignLibraries, AreRefusedByName) {
  EXPECT_EQ(refusal("-lcublas"), "-lcublas: Cupola has no such library, and " +
                                     (root_ / "system/libcublas.so").string() +
                                     " belongs to another CUDA toolkit, which does not go with Cupola's libraries; -L "
                                     "takes it all the same");
}

TEST_F(ForeignLibraries, AreNotTakenForThoseThatCupolaWouldHave) {
  EXPECT_EQ(refusal("-lnvrtc"), "-lnvrtc: there is no libnvrtc.so in '" + (root_ / "own").string() + "', and " +
                                    (root_ / "system/libnvrtc.so").string() +
                                    " belongs to another CUDA toolkit, which does not go with Cupola's libraries: "
                                    "build all of Cupola (scripts/build)");
}

TEST_F(ForeignLibraries, AreNoneOfTheOthers) {
  EXPECT_EQ(refusal("-lnvvm"), "") << "Cupola's own";
  EXPECT_EQ(refusal("-lfft"), "") << "no toolkit's name";
  EXPECT_EQ(refusal("-lcudadevrt"), "") << "no program needs it";
  EXPECT_EQ(refusal("-lcusparse"), "") << "the linker says that there is none";
  EXPECT_EQ(refusal("-L" + (root_ / "user").string() + " -lcublas"), "") << "asked for";
}

}  // namespace
}  // namespace cupola::cupolac
