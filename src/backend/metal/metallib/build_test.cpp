#include "backend/metal/metallib/build.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/metal/metallib/bitcode_wrapper.h"
#include "backend/metal/metallib/check.h"
#include "backend/metal/metallib/sample_module.h"

namespace cupola::metallib {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

std::string error_of(const std::vector<FunctionSource>& sources, const BuildTarget& target = {}) {
  const auto built = build(sources, target);
  return built ? "no error" : built.error().message;
}

TEST(Build, MakesAContainerOfMacos13UnlessTold) {
  const std::vector<std::byte> add = sample_module(), sub = sample_module({.function = "sub"});
  const auto built = build(std::vector<FunctionSource>{{"add", FunctionKind::Kernel, add, {}, {}},
                                                       {"sub", FunctionKind::Kernel, sub, {}, {}}});
  ASSERT_TRUE(built) << built.error().message;
  const Result<Library> library = read(*built);
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(library->header.version, (ContainerVersion{1, 2, 7}));
  EXPECT_EQ(library->header.os, (OsVersion{13, 0, 0}));
  EXPECT_EQ(library->header.platform, Platform::MacOs);
  ASSERT_EQ(library->functions.size(), 2u);
  EXPECT_EQ(library->functions[1].name, "sub");
  EXPECT_EQ(library->functions[1].air, (Version{2, 5}));
  EXPECT_EQ(library->functions[1].language, (Version{3, 0}));
  EXPECT_THAT(check(*library, {true, true}), IsEmpty());
}

TEST(Build, EveryReleaseHasItsVersions) {
  for (const Release& release : releases()) {
    const std::vector<std::byte> module =
        sample_module({.air = {release.air.major, release.air.minor, 0},
                       .language = {release.language.major, release.language.minor, 0}});
    const auto built =
        build(std::vector<FunctionSource>{{"add", FunctionKind::Kernel, module, {}, {}}}, {{release.macos, 1}});
    ASSERT_TRUE(built) << built.error().message;
    const Result<Library> library = read(*built);
    ASSERT_TRUE(library) << library.error().message;
    EXPECT_EQ(library->header.version, release.container);
    const bool has_platform = release.container >= ContainerVersion{1, 2, 6};
    EXPECT_EQ(library->header.os, (has_platform ? OsVersion{release.macos, 1} : OsVersion{}));
    EXPECT_THAT(check(*library, {true, true}), IsEmpty()) << release.macos;
  }
}

TEST(Build, SystemsBetweenTheRowsTakeTheOlderOne) {
  EXPECT_EQ(release_of(16)->macos, 15);
  EXPECT_EQ(release_of(27)->macos, 26);
  EXPECT_FALSE(release_of(10));
}

TEST(Build, IsTheSameForTheSameInput) {
  const std::vector<std::byte> module = sample_module();
  const std::vector<FunctionSource> sources = {{"add", FunctionKind::Kernel, module, {}, {}}};
  const auto once = build(sources), twice = build(sources);
  ASSERT_TRUE(once && twice);
  EXPECT_EQ(*once, *twice);
  const std::vector<std::byte> other = sample_module({.triple = "air64-apple-macosx13.1.0"});
  const auto changed = build(std::vector<FunctionSource>{{"add", FunctionKind::Kernel, other, {}, {}}});
  ASSERT_TRUE(changed);
  const auto uuid = [](const std::vector<std::byte>& bytes) {
    return hex(find_extension(*read(bytes), "UUID")->contents);
  };
  EXPECT_NE(uuid(*once), uuid(*changed));
  EXPECT_EQ(uuid(*once)[12], '4');
}

TEST(Build, WrapsBitcodeOnce) {
  const std::vector<std::byte> bare = sample_module(), once = wrapped(bare);
  EXPECT_EQ(once.size() % 16, 0u);
  EXPECT_TRUE(is_wrapped(once));
  const Result<Bytes> inside = unwrapped(once);
  ASSERT_TRUE(inside) << inside.error().message;
  EXPECT_EQ(std::vector<std::byte>(inside->begin(), inside->end()), bare);
  EXPECT_EQ(wrapped(once), once);
}

TEST(Build, RefusesWhatASystemWouldRefuse) {
  const std::vector<std::byte> module = sample_module(), text(64, std::byte{'x'});
  EXPECT_THAT(error_of({{"a", FunctionKind::Kernel, text, {}, {}}}),
              HasSubstr("function 'a': bitcode: it does not begin with 'BC'"));
  EXPECT_THAT(error_of({{"a", FunctionKind::Kernel, module, {}, {}}, {"a", FunctionKind::Kernel, module, {}, {}}}),
              HasSubstr("function 'a' is given twice"));
  EXPECT_THAT(error_of({{"", FunctionKind::Kernel, module, {}, {}}}), HasSubstr("is empty or holds a zero byte"));
  EXPECT_THAT(error_of({{"a", FunctionKind::Kernel, module, Version{2, 6}, {}}}),
              HasSubstr("function 'a' has AIR 2.6 and MSL 3.0; macOS 13 takes 2.5 and 3.0"));
  EXPECT_THAT(error_of({{"a", FunctionKind::Kernel, module, {}, Version{3, 2}}}), HasSubstr("MSL 3.2; macOS 13 takes"));
  EXPECT_THAT(error_of({}, {{10}}), HasSubstr("macOS 10 is older than 11, the first whose files are known"));
}

TEST(Build, OlderModulesGoIntoNewerContainers) {
  const std::vector<std::byte> module = sample_module();
  const auto built =
      build(std::vector<FunctionSource>{{"add", FunctionKind::Kernel, module, Version{2, 5}, Version{3, 0}}}, {{15}});
  ASSERT_TRUE(built) << built.error().message;
  const Result<Library> library = read(*built);
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(library->header.version, (ContainerVersion{1, 2, 8}));
  EXPECT_THAT(check(*library, {true, true}), IsEmpty());
}

}  // namespace
}  // namespace cupola::metallib
