#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>

#include "backend/metal/metallib/check.h"
#include "base/file.h"

// Files that Apple's compiler made are not ours to give away: CUPOLA_METALLIB_CORPUS names a folder that has some.

namespace cupola::metallib {
namespace {

namespace fs = std::filesystem;

TEST(Corpus, AppleBuiltFilesAreReadCheckedAndWrittenByteForByte) {
  const char* folder = std::getenv("CUPOLA_METALLIB_CORPUS");
  if (!folder) GTEST_SKIP() << "CUPOLA_METALLIB_CORPUS names no folder of Apple-built .metallib files";
  size_t files = 0, functions = 0;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".metallib") continue;
    SCOPED_TRACE(entry.path().string());
    const Result<std::string> contents = read_file(entry.path());
    ASSERT_TRUE(contents) << contents.error().message;
    const Bytes bytes = std::as_bytes(std::span(*contents));
    EXPECT_TRUE(is_metallib(bytes));
    const Result<Library> library = read(bytes);
    ASSERT_TRUE(library) << library.error().message;
    const auto written = write(*library);
    ASSERT_TRUE(written) << written.error().message;
    EXPECT_TRUE(std::ranges::equal(*written, bytes));
    for (const Function& function : library->functions) EXPECT_TRUE(is_hash_right(function)) << function.name;
    for (const std::string& problem : check(*library, {true, true})) ADD_FAILURE() << problem;
    ++files;
    functions += library->functions.size();
  }
  EXPECT_GT(files, 0u) << "no .metallib file below '" << folder << "'";
  std::printf("%zu files, %zu functions\n", files, functions);
}

}  // namespace
}  // namespace cupola::metallib
