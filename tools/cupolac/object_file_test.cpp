// Oracle: objects and archives that clang and llvm-ar write.

#include "image/object_file.h"

#include <gmock/gmock.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "cupolac/installation.h"
#include "cupolac/run.h"
#include "cupolac/shell.h"

namespace cupola::cupolac {
namespace {

using image::ArchiveMember;
using image::is_archive;
using image::members_of;
using image::section_of;

class ObjectFile : public testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(path("a.c")) << "const char text[] __attribute__((section(\"my_section\"))) = \"contents\";\n";
    const auto clang = find_clang();
    ASSERT_TRUE(clang) << clang.error().message;
    const ShellOutput output = run_shell("cd " + scratch_.path() + " && " + clang->string() + " -x c -c a.c -o a.o");
    ASSERT_EQ(output.status, 0) << output.text;
    std::error_code error;
    archiver_ = std::filesystem::canonical(*clang, error).parent_path() / "llvm-ar";
  }
  std::string path(const std::string& name) const { return scratch_.path() + "/" + name; }
  std::string read(const std::string& name) const {
    std::ifstream in(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void archive(const std::string& options, const std::string& members) const {
    const ShellOutput output =
        run_shell("cd " + scratch_.path() + " && " + archiver_.string() + " " + options + " " + members);
    ASSERT_EQ(output.status, 0) << output.text;
  }

  Scratch scratch_ = Scratch::temporary().value();
  std::filesystem::path archiver_;
};

TEST_F(ObjectFile, SectionsAreFoundByName) {
  const std::string object = read("a.o");
  EXPECT_EQ(section_of(object, "my_section"), std::string_view("contents\0", 9));
  EXPECT_EQ(section_of(object, "other"), "");
  EXPECT_EQ(section_of("no object", "my_section"), "");
}

TEST_F(ObjectFile, ObjectsThatAreCutOffHaveNoSection) {
  const std::string object = read("a.o");
  uint64_t table = 0;  // of sections; clang writes it last
  std::memcpy(&table, object.data() + 0x28, sizeof table);
  for (size_t size = 0; size < table; size += 7)
    EXPECT_EQ(section_of(std::string_view(object).substr(0, size), "my_section"), "") << size;
}

TEST_F(ObjectFile, ArchivesOfEachKindListTheirMembers) {
  const std::string long_name = "a_name_of_more_than_sixteen_characters.o";
  std::filesystem::copy_file(path("a.o"), path(long_name));
  for (const char* format : {"gnu", "bsd"}) {
    archive(std::string("rcs --format=") + format, std::string(format) + ".a a.o " + long_name);
    const std::string bytes = read(std::string(format) + ".a");
    ASSERT_TRUE(is_archive(bytes));
    const auto members = members_of(bytes);
    ASSERT_TRUE(members) << members.error().message;
    ASSERT_EQ(members->size(), 2u) << format;
    EXPECT_EQ((*members)[0].name, "a.o");
    EXPECT_EQ((*members)[1].name, long_name);
    for (const ArchiveMember& member : *members)
      EXPECT_EQ(section_of(member.bytes, "my_section"), std::string_view("contents\0", 9)) << format;
  }
}

TEST_F(ObjectFile, ThinArchivesNameFiles) {
  archive("rcsT", "thin.a a.o");
  const auto members = members_of(read("thin.a"));
  ASSERT_TRUE(members) << members.error().message;
  ASSERT_EQ(members->size(), 1u);
  EXPECT_EQ((*members)[0].name, "a.o");
  EXPECT_TRUE((*members)[0].bytes.empty());
}

TEST_F(ObjectFile, ArchivesThatAreCutOffAreRefused) {
  archive("rcS", "a.a a.o");
  const std::string bytes = read("a.a");
  for (size_t size = 9; size < 60; size += 10)
    EXPECT_FALSE(members_of(std::string_view(bytes).substr(0, size))) << size;
  EXPECT_FALSE(members_of(std::string_view(bytes).substr(0, bytes.size() - 8)));
}

}  // namespace
}  // namespace cupola::cupolac
