#include "backend/metal/metallib/check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/metal/metallib/sample_module.h"

namespace cupola::metallib {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// A container of one module, changed before it is checked.
std::vector<std::string> problems_of(
    const SampleModule& sample, void (*change)(Library&) = [](Library&) {},
    const CheckOptions& options = {true, true}) {
  const std::vector<std::byte> module = sample_module(sample);
  const auto built = build(std::vector<FunctionSource>{{"add", FunctionKind::Kernel, module, {}, {}}});
  if (!built) return {built.error().message};
  Result<Library> library = read(*built);
  if (!library) return {library.error().message};
  change(*library);
  return check(*library, options);
}

TEST(Check, FindsNothingInAGoodContainer) {
  EXPECT_THAT(problems_of({}), IsEmpty());
}

TEST(Check, WrongHash) {
  EXPECT_THAT(problems_of({}, [](Library& library) { library.functions[0].hash[0] ^= std::byte{1}; }),
              ElementsAre(HasSubstr("function 'add': HASH is ")));
}

TEST(Check, NameTwice) {
  EXPECT_THAT(problems_of({}, [](Library& library) { library.functions.push_back(library.functions[0]); }),
              ElementsAre("function 'add': it is in the list twice"));
}

TEST(Check, VersionsThatTheContainerDoesNotKnow) {
  EXPECT_THAT(
      problems_of({.air = {2, 6, 0}, .language = {3, 1, 0}},
                  [](Library& library) { library.functions[0].air = {2, 6}, library.functions[0].language = {3, 1}; }),
      IsEmpty());  // macOS 14 has the same container as macOS 13
  EXPECT_THAT(
      problems_of({.air = {2, 7, 0}, .language = {3, 2, 0}},
                  [](Library& library) { library.functions[0].air = {2, 7}, library.functions[0].language = {3, 2}; }),
      ElementsAre("function 'add': AIR 2.7 and MSL 3.2 are newer than container 1.2.7 knows: 2.6 and 3.1"));
  EXPECT_THAT(problems_of({}, [](Library& library) { library.header.version.patch = 99; }),
              ElementsAre("header: container version 1.2.99 is none of Apple's that are known"));
}

TEST(Check, VersionsThatAreNotTheModules) {
  EXPECT_THAT(problems_of({.air = {2, 4, 0}}),
              ElementsAre("function 'add': air.version of the module is 2.4, VERS says 2.5"));
  EXPECT_THAT(problems_of({.language = {2, 4, 0}}),
              ElementsAre("function 'add': air.language_version of the module is 2.4, VERS says 3.0"));
}

TEST(Check, ModulesThatAreNotAir) {
  EXPECT_THAT(problems_of({.triple = "x86_64-linux-gnu"}),
              ElementsAre("function 'add': the module is for 'x86_64-linux-gnu', not for air64"));
  EXPECT_THAT(problems_of({.opaque_pointers = true}),
              ElementsAre("function 'add': the module has opaque pointers, which Metal's compiler does not read"));
  EXPECT_THAT(problems_of({},
                          [](Library& library) {
                            library.functions[0].module = std::as_bytes(std::span("no bitcode"));
                            library.functions[0].hash = sha256(library.functions[0].module);
                          }),
              ElementsAre("function 'add': bitcode: it does not begin with 'BC' and 0xc0de"));
}

TEST(Check, ModuleWithoutTheFunction) {
  EXPECT_THAT(problems_of({.function = "other"}),
              ElementsAre("function 'add': the module defines no function of that name",
                          "function 'add': air.kernel of the module does not name it"));
}

TEST(Check, MetadataIsMissedOnlyWhereItIsRequired) {
  EXPECT_THAT(problems_of({.air_metadata = false}),
              ElementsAre("function 'add': the module has no metadata 'air.kernel'",
                          "function 'add': the module has no metadata 'air.version'",
                          "function 'add': the module has no metadata 'air.language_version'"));
  EXPECT_THAT(problems_of({.air_metadata = false}, [](Library&) {}, {}), IsEmpty());
}

TEST(Check, AnEmptyListIsMissedOnlyWhereOneIsRequired) {
  const auto no_functions = [](Library& library) { library.functions.clear(); };
  EXPECT_THAT(problems_of({}, no_functions), ElementsAre("function list: it is empty"));
  EXPECT_THAT(problems_of({}, no_functions, {}), IsEmpty());
}

TEST(Check, BrokenMetadata) {
  EXPECT_THAT(problems_of({},
                          [](Library& library) {
                            library.functions[0].public_metadata = {{"CNST", std::as_bytes(std::span("\1\0name"))}};
                          }),
              ElementsAre(HasSubstr("function 'add': metallib: CNST, from its start: ")));
  EXPECT_THAT(problems_of({},
                          [](Library& library) {
                            library.functions[0].private_metadata = {{"DEBI", std::as_bytes(std::span("\1"))}};
                          }),
              ElementsAre(HasSubstr("function 'add': metallib: DEBI, from its start: ")));
}

TEST(Check, OtherSystemsFiles) {
  EXPECT_THAT(problems_of({}, [](Library& library) { library.header.for_macos = false; }),
              ElementsAre("header: it is not for macOS"));
}

}  // namespace
}  // namespace cupola::metallib
