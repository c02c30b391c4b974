#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

// Oracle: tests/api/driver_names.txt, the public names that libcuda.so.1 of CUDA 13.0 exports.
namespace {

std::set<std::string> table() {
  std::set<std::string> names;
#define CU_FN(base, suffix, since, status, signature) names.insert(#base #suffix);
#define CU_ABSENT(name, why) names.insert(#name);
#include "cuda/driver/driver.def"
  return names;
}

std::set<std::string> published() {
  std::ifstream file(CUPOLA_DRIVER_NAMES);
  return {std::istream_iterator<std::string>(file), {}};
}

std::set<std::string> without(std::set<std::string> names, const std::set<std::string>& others) {
  std::erase_if(names, [&](const std::string& name) { return others.contains(name); });
  return names;
}

/// Names that the library defines for others, from its dynamic symbol table.
std::set<std::string> exported(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
  if (bytes.size() < sizeof(Elf64_Ehdr)) return {};
  Elf64_Ehdr header;
  std::memcpy(&header, bytes.data(), sizeof header);
  std::vector<Elf64_Shdr> sections(header.e_shnum);
  std::memcpy(sections.data(), bytes.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
  std::set<std::string> names;
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_DYNSYM) continue;
    const char* strings = bytes.data() + sections[section.sh_link].sh_offset;
    for (size_t at = 0; at < section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym symbol;
      std::memcpy(&symbol, bytes.data() + section.sh_offset + at, sizeof symbol);
      if (symbol.st_shndx != SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) != STB_LOCAL)
        names.insert(strings + symbol.st_name);
    }
  }
  return names;
}

}  // namespace

TEST(Exports, AreExactlyTheTable) {
  EXPECT_EQ(exported(CUPOLA_LIBCUDA), table());
}

TEST(Exports, AreThePublicNames) {
  const std::set<std::string> none, public_names = published(), names = exported(CUPOLA_LIBCUDA);
  EXPECT_EQ(public_names.size(), 637u);
  EXPECT_EQ(without(public_names, names), none) << "are not exported";
  EXPECT_EQ(without(names, public_names), none) << "are nobody's";
}

TEST(Exports, RefuseWhatTheTableRefuses) {
  void* library = dlopen(CUPOLA_LIBCUDA, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const char* const names[] = {
#define CU_REFUSED(base, suffix, since, signature, why) #base #suffix,
#define CU_ABSENT(name, why) #name,
#include "cuda/driver/driver.def"
  };
  for (const char* name : names) {
    auto call = reinterpret_cast<int (*)()>(dlsym(library, name));
    ASSERT_NE(call, nullptr) << name;
    EXPECT_EQ(call(), 801) << name;  // CUDA_ERROR_NOT_SUPPORTED
  }
}
