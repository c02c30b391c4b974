#include "base/dynlib.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace cupola {
namespace {

TEST(DynLib, MissingLibraryIsAnErrorThatNamesIt) {
  Result<DynLib> opened = DynLib::open("/nonexistent/libnothing.so");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::SharedObjectInitFailed);
  EXPECT_NE(opened.error().message.find("libnothing.so"), std::string::npos);
}

#if defined(__linux__)
TEST(DynLib, SymbolsAreFoundOrNamed) {
  Result<DynLib> math = DynLib::open("libm.so.6");
  ASSERT_TRUE(math) << math.error().message;
  Result<void*> cosine = math->symbol("cos");
  ASSERT_TRUE(cosine);
  EXPECT_EQ(reinterpret_cast<double (*)(double)>(*cosine)(0.0), 1.0);
  Result<void*> missing = math->symbol("no_such_function");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code, ErrorCode::SharedObjectSymbolNotFound);
  EXPECT_NE(missing.error().message.find("no_such_function"), std::string::npos);
}

TEST(FolderOfCode, IsWhereTheProgramLies) {
  static int here;
  namespace fs = std::filesystem;
  EXPECT_EQ(fs::canonical(folder_of_code(&here)), fs::canonical("/proc/self/exe").parent_path());
  EXPECT_EQ(folder_of_code(nullptr), ".");
}
#endif

}  // namespace
}  // namespace cupola
