// cupola cache, as a user calls it, on a folder made here.

#include <gmock/gmock.h>

#include <filesystem>

#include "cupolac/run.h"
#include "cupolac/shell.h"
#include "image/cache.h"
#include "image/sample_image.h"

namespace cupola::tool {
namespace {

using cupolac::ShellOutput;
using testing::AllOf;
using testing::HasSubstr;
using testing::MatchesRegex;

class CacheCommand : public testing::Test {
 protected:
  ShellOutput cupola(const std::string& arguments, const std::string& environment = "") const {
    return cupolac::run_shell("CUPOLA_CACHE_DIR=" + folder() + " " + environment +
                              " " CUPOLA_BUILD_DIR "/bin/cupola cache " + arguments);
  }
  std::string folder() const { return scratch_.path() + "/kernels"; }
  void put(const std::string& key) const {
    image::DiskCache(folder()).put(key, image::serialize(image::sample_image()));
  }
  void age(const std::string& key, int days) const {
    std::filesystem::last_write_time(folder() + "/" + key + ".cupola",
                                     std::filesystem::file_time_type::clock::now() - std::chrono::days(days));
  }

 private:
  const cupolac::Scratch scratch_ = cupolac::Scratch::temporary().value();
};

TEST_F(CacheCommand, ListsWhatIsThere) {
  put("aa11");
  put("bb22");
  age("bb22", 3);
  const ShellOutput output = cupola("list");
  EXPECT_EQ(output.status, 0);
  EXPECT_THAT(output.text, MatchesRegex("bb22 +[0-9]+ B  20..-..-.. ..:..  cpu:x86-64-v3:1: _Z3addPfi k\n"
                                        "aa11 +[0-9]+ B  20..-..-.. ..:..  cpu:x86-64-v3:1: _Z3addPfi k\n"));
}

TEST_F(CacheCommand, SaysFolderSizeAndLimits) {
  put("aa11");
  EXPECT_EQ(cupola("path").text, folder() + "\n");
  EXPECT_THAT(cupola("stat", "CUPOLA_CACHE_MIB=64 CUPOLA_CACHE_DAYS=7").text,
              AllOf(HasSubstr("folder   " + folder() + "\n"), HasSubstr("entries  1\n"), HasSubstr(" B of 64.0 MiB\n"),
                    HasSubstr("kept     7 days after the last use\n")));
}

TEST_F(CacheCommand, VerifyRemovesDamagedEntriesAndFails) {
  put("aa11");
  put("bb22");
  EXPECT_EQ(cupola("verify").text, "2 of 2 entries are whole\n");
  std::filesystem::resize_file(folder() + "/bb22.cupola", 50);
  const ShellOutput output = cupola("verify");
  EXPECT_EQ(output.status, 1);
  EXPECT_EQ(output.text, "removed  bb22: damaged\n1 of 2 entries are whole\n");
  EXPECT_EQ(cupola("verify").status, 0);
}

TEST_F(CacheCommand, TrimAndClearRemove) {
  for (const char* key : {"aa11", "bb22", "cc33"}) put(key);
  age("bb22", 30);
  EXPECT_THAT(cupola("trim --days 20").text, HasSubstr("removed 1 entries and 0 unfinished ones, "));
  EXPECT_THAT(cupola("clear").text, HasSubstr("removed 2 entries and 0 unfinished ones, "));
  EXPECT_THAT(cupola("stat").text, HasSubstr("entries  0\n"));
}

TEST_F(CacheCommand, SaysWhyThereIsNone) {
  const ShellOutput off = cupola("list", "CUPOLA_CACHE=0");
  EXPECT_EQ(off.status, 1);
  EXPECT_THAT(off.text, HasSubstr("the cache is off"));
  const ShellOutput refused = cupola("list", "CUPOLA_CACHE_DIR=/dev/null/x");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.text, HasSubstr("the cache folder /dev/null/x cannot be used"));
}

}  // namespace
}  // namespace cupola::tool
