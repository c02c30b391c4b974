#include "backend/metal/metallib/container.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "backend/metal/metallib/sample_module.h"

// The oracle of the layout is docs/metallib.md: HandMade builds its bytes from that page, not with write.

namespace cupola::metallib {
namespace {

using testing::HasSubstr;

Bytes bytes_of(std::string_view text) {
  return std::as_bytes(std::span(text));
}

/// A container byte by byte, with two functions, all sections and tags that nobody knows. Places are noted by name.
struct HandMade {
  std::vector<std::byte> bytes;
  std::map<std::string, size_t> at;

  HandMade() {
    // header
    text("MTLB");
    note("version"), number<uint16_t>(0x8001), number<uint16_t>(2), number<uint16_t>(7);
    note("type"), number<uint8_t>(0);
    number<uint8_t>(0x81);                                         // 64-bit macOS
    number<uint16_t>(13), number<uint8_t>(5), number<uint8_t>(1);  // 13.5.1
    note("size"), number<uint64_t>(0);
    for (const char* part : {"functions", "public", "private", "modules"})  // offset, size
      note(std::string(part) + ".range"), number<uint64_t>(0), number<uint64_t>(0);

    note("functions");
    note("count"), number<uint32_t>(2);
    function("add", 0, 0, 0, 3);
    function("sub", 8, 27, 3, 2);
    note("functions.end");

    note("extension");
    section("HSRD"), section("HDYN"), section("RLST");
    text("UUID"), number<uint16_t>(16), text("0123456789abcdef");
    text("NEWX"), number<uint16_t>(3), text("new");
    text("ENDT");

    note("public"), number<uint32_t>(8), text("ENDT");
    const std::string constant("\1\0used\0\x35\7\0\1", 11);
    number<uint32_t>(8 + 6 + 11), text("CNST"), number<uint16_t>(11), text(constant), text("ENDT");
    note("private"), number<uint32_t>(8 + 6 + 13), text("DEBI"), number<uint16_t>(13);
    number<uint32_t>(42), text(std::string("/a.metal\0", 9)), text("ENDT");
    number<uint32_t>(8), text("ENDT");
    note("modules"), text("abcde");

    note("HSRD"), number<uint32_t>(1), text(std::string("-O2\0/home\0", 10));
    number<uint32_t>(4 + 4 + 9 + 4), note("archive"), text("SARC"), number<uint32_t>(9),
        text(std::string("id\0BZhBZh", 9));
    text("ENDT");
    note("HDYN"), text("NAME"), number<uint16_t>(8), text(std::string("lib.bin\0", 8)), text("ENDT");
    note("RLST"), number<uint32_t>(2);
    note("first reflection"), number<uint32_t>(4 + 8 + 4 + 4), text("RBUF"), number<uint32_t>(4), text("AIRR"),
        text("ENDT");
    note("second reflection"), number<uint32_t>(4 + 8 + 4), text("RBUF"), number<uint32_t>(0), text("ENDT");
    note("end");
    settle();
  }

  void note(const std::string& name) { at[name] = bytes.size(); }
  template <typename T>
  void number(T value) {
    const auto all = std::as_bytes(std::span(&value, 1));
    bytes.insert(bytes.end(), all.begin(), all.end());
  }
  void text(std::string_view value) { bytes.insert(bytes.end(), bytes_of(value).begin(), bytes_of(value).end()); }
  void section(const std::string& name) {
    text(name), number<uint16_t>(16), note(name + ".range"), number<uint64_t>(0), number<uint64_t>(0);
  }

  void function(const std::string& name, uint64_t public_at, uint64_t private_at, uint64_t module_at,
                uint64_t module_bytes) {
    const size_t start = bytes.size();
    note(name), number<uint32_t>(0);
    text("NAME"), number<uint16_t>(4), note(name + ".name"), text(name), number<uint8_t>(0);
    text("TYPE"), number<uint16_t>(1), number<uint8_t>(2);
    text("HASH"), note(name + ".hash length"), number<uint16_t>(32), note(name + ".hash");
    for (const std::byte byte : sha256(bytes_of("abcde").subspan(module_at, module_bytes))) bytes.push_back(byte);
    text("MDSZ"), number<uint16_t>(8), note(name + ".bytes"), number(module_bytes);
    text("OFFT"), number<uint16_t>(24), note(name + ".place"), number(public_at), number(private_at), number(module_at);
    text("VATY"), number<uint16_t>(2), text("??");
    text("VERS"), number<uint16_t>(8);
    for (const uint16_t part : {2, 5, 3, 0}) number(part);
    text("SOFF"), number<uint16_t>(8), note(name + ".source"), number<uint64_t>(0);
    text("RFLT"), number<uint16_t>(8), note(name + ".reflection"), number<uint64_t>(0);
    note(name + ".end"), text("ENDT");
    set(start, static_cast<uint32_t>(bytes.size() - start));
  }

  template <typename T>
  void set(size_t offset, T value) {
    std::memcpy(bytes.data() + offset, &value, sizeof value);
  }

  /// Fills in what was not known yet.
  void settle() {
    const auto range = [&](const std::string& name, size_t start, size_t end) {
      set(at[name + ".range"], uint64_t{start});
      set(at[name + ".range"] + 8, uint64_t{end - start});
    };
    set(at["size"], uint64_t{bytes.size()});
    range("functions", at["functions"], at["functions.end"] - 4);  // its number does not count
    range("public", at["public"], at["private"]);
    range("private", at["private"], at["modules"]);
    range("modules", at["modules"], at["HSRD"]);
    range("HSRD", at["HSRD"], at["HDYN"]);
    range("HDYN", at["HDYN"], at["RLST"]);
    range("RLST", at["RLST"], at["end"]);
    for (const char* name : {"add", "sub"}) set(at[std::string(name) + ".source"], at["archive"] - at["HSRD"]);
    set(at["add.reflection"], at["first reflection"] - at["RLST"]);
    set(at["sub.reflection"], at["second reflection"] - at["RLST"]);
  }
};

std::string error_of(Bytes bytes) {
  const Result<Library> library = read(bytes);
  return library ? "no error" : library.error().message;
}

TEST(Container, HandMadeFileIsRead) {
  const HandMade made;
  const Result<Library> library = read(made.bytes);
  ASSERT_TRUE(library) << library.error().message;
  const Header& header = library->header;
  EXPECT_TRUE(header.for_macos);
  EXPECT_EQ(header.version, (ContainerVersion{1, 2, 7}));
  EXPECT_EQ(header.type, FileType::Executable);
  EXPECT_FALSE(header.stub);
  EXPECT_EQ(header.platform, Platform::MacOs);
  EXPECT_TRUE(header.is_64bit);
  EXPECT_EQ(header.os, (OsVersion{13, 5, 1}));
  ASSERT_EQ(library->functions.size(), 2u);
  const Function &add = library->functions[0], &sub = library->functions[1];
  EXPECT_EQ(add.name, "add");
  EXPECT_EQ(add.kind, FunctionKind::Kernel);
  EXPECT_EQ(add.air, (Version{2, 5}));
  EXPECT_EQ(add.language, (Version{3, 0}));
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(sub.module.data()), sub.module.size()), "de");
  EXPECT_TRUE(is_hash_right(add) && is_hash_right(sub));
  EXPECT_EQ(add.source, 4u + 10 + 4);
  EXPECT_EQ(add.reflection, 4u);
  ASSERT_EQ(add.tags.size(), 9u);
  EXPECT_EQ(text_of(add.tags[5].name), "VATY");
}

TEST(Container, ContentsOfHandMadeFileAreRead) {
  const HandMade made;
  const Result<Library> library = read(made.bytes);
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(find_extension(*library, "UUID")->contents.size(), 16u);
  EXPECT_EQ(find_extension(*library, "NEWX")->contents.size(), 3u);
  EXPECT_FALSE(find_extension(*library, "NEWX")->is_section);
  const auto sources = metallib::sources(*library);
  ASSERT_TRUE(sources && *sources);
  EXPECT_EQ((*sources)->options, "-O2");
  EXPECT_EQ((*sources)->directory, "/home");
  ASSERT_EQ((*sources)->archives.size(), 1u);
  EXPECT_EQ((*sources)->archives[0].id, "id");
  EXPECT_EQ((*sources)->archives[0].contents.size(), 6u);
  EXPECT_EQ(library_name(*library).value(), "lib.bin");
  const auto found = reflections(*library);
  ASSERT_TRUE(found && found->size() == 2u);
  EXPECT_EQ((*found)[0].buffer.size(), 4u);
  const auto constants = function_constants(library->functions[1]);
  ASSERT_TRUE(constants && constants->size() == 1u);
  EXPECT_EQ((*constants)[0].name, "used");
  EXPECT_EQ((*constants)[0].type, 0x35);
  EXPECT_EQ((*constants)[0].index, 7);
  EXPECT_TRUE((*constants)[0].active);
  const auto line = debug_line(library->functions[0]);
  ASSERT_TRUE(line && *line);
  EXPECT_EQ((*line)->line, 42u);
  EXPECT_EQ((*line)->path, "/a.metal");
}

TEST(Container, WhatIsReadIsWrittenByteForByte) {
  const HandMade made;
  const Result<Library> library = read(made.bytes);
  ASSERT_TRUE(library) << library.error().message;
  EXPECT_EQ(write(*library), made.bytes);
}

// One of Apple's linkers leaves the size field out of what it counts.
TEST(Container, MetadataSizesWithoutThemselvesStayThatWay) {
  const HandMade made;
  Result<Library> library = read(made.bytes);
  ASSERT_TRUE(library) << library.error().message;
  library->metadata_size = GroupSize::WithoutItself;
  const auto written = write(*library);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->size(), made.bytes.size());
  EXPECT_NE(*written, made.bytes);
  const Result<Library> again = read(*written);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->metadata_size, GroupSize::WithoutItself);
  EXPECT_EQ(write(*again), *written);
}

TEST(Container, AChangedFileKeepsItsOffsetsRight) {
  const HandMade made;
  Result<Library> library = read(made.bytes);
  ASSERT_TRUE(library) << library.error().message;
  library->functions[0].name = "a longer name";
  library->functions[0].module = bytes_of("a longer module");
  const auto written = write(*library);
  ASSERT_TRUE(written) << written.error().message;
  const Result<Library> again = read(*written);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(again->functions[0].name, "a longer name");
  EXPECT_EQ(again->functions[0].module.size(), 15u);
  EXPECT_FALSE(is_hash_right(again->functions[0]));
  EXPECT_TRUE(is_hash_right(again->functions[1]));
  EXPECT_EQ(library_name(*again).value(), "lib.bin");
}

TEST(Container, ThoseBefore1_2_3HaveNoHeaderExtension) {
  Library library;
  library.header.version = {1, 2, 2};
  const auto written = write(library);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(written->size(), 88u + 4);
  const Result<Library> again = read(*written);
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_FALSE(again->extension);
}

TEST(Container, EveryTruncationIsAnError) {
  const HandMade made;
  for (size_t length = 0; length < made.bytes.size(); ++length) {
    const std::vector<std::byte> cut(made.bytes.begin(),
                                     made.bytes.begin() + length);  // as long as it says: sanitizers see more
    ASSERT_THAT(error_of(cut), HasSubstr("metallib: ")) << length;
    HandMade shorter = made;  // and when the header says so too
    shorter.bytes.resize(length);
    if (length < 24) continue;
    shorter.set(shorter.at["size"], uint64_t{length});
    ASSERT_THAT(error_of(shorter.bytes), HasSubstr("metallib: ")) << length;
  }
}

TEST(Container, EveryFlippedBitIsAnErrorOrReadsBackTheSame) {
  const HandMade made;
  std::vector<std::byte> bytes = made.bytes;
  int accepted = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] ^= std::byte{1} << bit % 8;
    const Result<Library> library = read(bytes);
    if (library) {
      ++accepted;
      ASSERT_EQ(write(*library), bytes) << "bit " << bit;
    } else {
      ASSERT_EQ(library.error().code, ErrorCode::InvalidImage) << "bit " << bit;
      ASSERT_THAT(library.error().message, HasSubstr("metallib: ")) << "bit " << bit;
      ASSERT_EQ(library.error().message.find('\n'), std::string::npos) << "bit " << bit;
    }
    bytes[bit / 8] ^= std::byte{1} << bit % 8;
  }
  EXPECT_GT(accepted, 0);  // names, hashes and modules may hold anything
}

struct Broken {
  const char* place;
  size_t plus;
  uint64_t value;
  size_t bytes;
  const char* message;
};

class BrokenContainer : public testing::TestWithParam<Broken> {};

TEST_P(BrokenContainer, SaysWhatIsWrong) {
  HandMade made;
  const Broken& broken = GetParam();
  ASSERT_TRUE(made.at.contains(broken.place)) << broken.place;
  std::memcpy(made.bytes.data() + (made.at[broken.place] + broken.plus), &broken.value, broken.bytes);
  EXPECT_THAT(error_of(made.bytes), HasSubstr(broken.message));
}

constexpr uint64_t kHuge = 0xFFFFFFFFFFFFFFF0;

INSTANTIATE_TEST_SUITE_P(
    Container, BrokenContainer,
    testing::Values(
        Broken{"version", 0, 0x8002, 2, "header: container version 2.2.7; this build reads 1.x"},
        Broken{"version", 0, 0x4D, 1, "header: container version 77.2.7; this build reads 1.x"},
        Broken{"size", 0, 5, 8, "header: it says that the file has 5 bytes; it has "},
        Broken{"functions.range", 0, 89, 8, "function list: it is at 89, not behind the header at 88"},
        Broken{"functions.range", 8, kHuge, 8,
               "header: function list: 18446744073709551600 bytes at 88 leave the file"},
        Broken{"public.range", 0, kHuge, 8, "header: public metadata: "},
        Broken{"public.range", 0, 100, 8, "header extension: the public metadata at 100 are before "},
        Broken{"private.range", 0, 100, 8, "public metadata: it ends at "},
        Broken{"modules.range", 0, 100, 8, "header extension: HSRD is at "},
        Broken{"count", 0, 3, 4, "function list: 4 bytes are wanted at "},
        Broken{"count", 0, 1, 4, "function list: it ends at "}, Broken{"count", 0, 0, 4, "function list: it ends at "},
        Broken{"add", 0, 3, 4, "function list: the group at 92 has 3 bytes, too few for its size"},
        Broken{"add", 0, 40, 4, "function list: 32 bytes are wanted at "},
        Broken{"add", 0, 100000, 4, "function list: the group at 92 has 100000 bytes, but it ends at "},
        Broken{"add.end", 0, 0x21212121, 4, "function list: 2 bytes are wanted at "},
        Broken{"add.name", 3, 'x', 1, "function list: the string at 102 has no end before 106"},
        Broken{"add.name", 1, 0, 1, "function list: NAME at 102 has 4 bytes, but ends at 104"},
        Broken{"add.name", 0, 0, 1, "function list: the function before 103 has no name"},
        Broken{"add", 4, 'M', 1, "function list: the function at 92 has no NAME"},
        Broken{"add.hash length", 0, 31, 2, "function list: "},
        Broken{"add.bytes", 0, 4, 8, "modules: function 'sub' has its own at 3, but the next is at 4"},
        Broken{"sub.bytes", 0, 3, 8, "modules: 3 bytes are wanted at "},
        Broken{"sub.bytes", 0, 1, 8, "modules: it ends at "},
        Broken{"add.place", 0, 8, 8, "public metadata: function 'add' has its own at 8, but the next is at 0"},
        Broken{"sub.place", 8, 0, 8, "private metadata: function 'sub' has its own at 0, but the next is at 27"},
        Broken{"sub.place", 16, 0, 8, "modules: function 'sub' has its own at 0, but the next is at 3"},
        Broken{"add.source", 0, 1, 8, "function 'add': SOFF is 1, where no source archive is"},
        Broken{"sub.reflection", 0, 5, 8, "function 'sub': RFLT is 5, where no reflection is"},
        Broken{"HDYN.range", 0, 90, 8, "header extension: HDYN is at 90, but what comes before it ends at "},
        Broken{"RLST.range", 8, kHuge, 8, "header extension: RLST: 18446744073709551600 bytes at "},
        Broken{"RLST.range", 8, 4, 8, "belong to no section"},
        Broken{"HSRD.range", static_cast<size_t>(-3), 'C', 1, "HSRC, from its start: the group at 8 has "},
        Broken{"public", 0, 9, 4, "public metadata: the group at "},
        Broken{"RLST", 0, 3, 4, "RLST, from its start: 4 bytes are wanted at "},
        Broken{"first reflection", 4, 'S', 1, "RLST, from its start: the entry at 4 has no RBUF"},
        Broken{"archive", 0, 'R', 1, "HSRD, from its start: "},
        Broken{"HDYN", 13, 'x', 1, "HDYN's name: the string at 0 has no end before 8"}));

TEST(Container, ATagTwiceIsAnError) {
  HandMade made;
  std::memcpy(made.bytes.data() + made.at["sub.end"] - 14, "SOFF", 4);  // in place of RFLT
  EXPECT_THAT(error_of(made.bytes), HasSubstr("function list: the tag SOFF is there twice before "));
}

TEST(Container, BothKindsOfSourcesAreAnError) {
  Library library;
  library.header.version = {1, 2, 7};
  library.extension = {{"HSRC", bytes_of({"\0\0\0\0\0", 5}), true}, {"HSRD", bytes_of({"\0\0\0\0\0\0", 6}), true}};
  const auto written = write(library);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_THAT(error_of(*written), HasSubstr("it has both HSRC and HSRD"));
}

TEST(Container, WhatTheFormatCannotHoldIsNotWritten) {
  const HandMade made;
  const Result<Library> library = read(made.bytes);
  ASSERT_TRUE(library) << library.error().message;
  const auto error_of_write = [](const Library& changed) {
    const auto written = write(changed);
    return written ? "no error" : written.error().message;
  };
  Library changed = *library;
  changed.functions[0].name = std::string("a\0b", 3);
  EXPECT_THAT(error_of_write(changed), HasSubstr("is empty or holds a zero byte"));
  changed.functions[0].name = std::string(65535, 'x');
  EXPECT_THAT(error_of_write(changed), HasSubstr("the tag NAME has 65536 bytes; it can hold 65535"));
  changed = *library;
  changed.functions[0].tags.clear();
  EXPECT_THAT(error_of_write(changed), HasSubstr("is to be written without NAME"));
}

TEST(Container, IsToldByItsBeginning) {
  const HandMade made;
  EXPECT_TRUE(is_metallib(made.bytes));
  EXPECT_TRUE(is_metallib(Bytes(made.bytes).first(88)));
  EXPECT_FALSE(is_metallib(Bytes(made.bytes).first(87)));
  EXPECT_FALSE(is_metallib(Bytes(made.bytes).subspan(1)));
  EXPECT_FALSE(is_metallib({}));
  EXPECT_EQ(stated_size(Bytes(made.bytes).first(24)), made.bytes.size());
  EXPECT_FALSE(stated_size(Bytes(made.bytes).first(23)));
  EXPECT_FALSE(stated_size(Bytes(made.bytes).subspan(1)));
}

}  // namespace
}  // namespace cupola::metallib
