// What libcudart.so.13 exports. Oracle: tests/api/runtime_names.txt, the public names of CUDA 13.0's.

#include <dlfcn.h>
#include <driver_types.h>
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

namespace {

std::set<std::string> table_names() {
  std::set<std::string> names;
#define CUDART_FN(name, suffix, since, status, signature) names.insert(#name #suffix);
#define CUDART_FN_AS(type, name, suffix, since, status, signature) names.insert(#name #suffix);
#define CUDART_INTERNAL(type, name, since, status, signature) names.insert(#name);
#define CUDART_ABSENT(name, why) names.insert(#name);
#include "cuda/cudart/runtime.def"
  return names;
}

std::set<std::string> published() {
  std::ifstream file(CUPOLA_RUNTIME_NAMES);
  return {std::istream_iterator<std::string>(file), {}};
}

std::set<std::string> without(std::set<std::string> names, const std::set<std::string>& others) {
  std::erase_if(names, [&](const std::string& name) { return others.contains(name); });
  return names;
}

/// The defined dynamic symbols of a 64-bit ELF file, without the version's own (absolute) symbol.
std::set<std::string> exported_names(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  std::set<std::string> names;
  if (bytes.size() < sizeof(Elf64_Ehdr)) return names;
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(bytes.data());
  const auto* sections = reinterpret_cast<const Elf64_Shdr*>(bytes.data() + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if (sections[i].sh_type != SHT_DYNSYM) continue;
    const char* strings = bytes.data() + sections[sections[i].sh_link].sh_offset;
    const auto* symbols = reinterpret_cast<const Elf64_Sym*>(bytes.data() + sections[i].sh_offset);
    for (size_t s = 0; s < sections[i].sh_size / sizeof(Elf64_Sym); ++s) {
      if (symbols[s].st_shndx == SHN_UNDEF || symbols[s].st_shndx == SHN_ABS) continue;
      names.insert(strings + symbols[s].st_name);
    }
  }
  return names;
}

TEST(Exports, AreExactlyTheTable) {
  EXPECT_EQ(exported_names(CUPOLA_CUDART), table_names());
}

TEST(Exports, AreThePublicNames) {
  const std::set<std::string> none, public_names = published(), names = exported_names(CUPOLA_CUDART);
  EXPECT_EQ(public_names.size(), 422u);
  EXPECT_EQ(without(public_names, names), none) << "are not exported";
  EXPECT_EQ(without(names, public_names), none) << "are nobody's";
}

TEST(Exports, CarryTheVersionNode) {
  void* library = dlopen(CUPOLA_CUDART, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  for (const std::string& name : table_names()) {
    EXPECT_NE(dlvsym(library, name.c_str(), "libcudart.so.13"), nullptr) << name;
  }
}

TEST(Exports, TodoFunctionsSayNotSupported) {
  void* library = dlopen(CUPOLA_CUDART, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto todo = reinterpret_cast<int (*)()>(dlsym(library, "cudaGetExportTable"));
  auto last = reinterpret_cast<cudaError_t (*)()>(dlsym(library, "cudaGetLastError"));
  ASSERT_NE(todo, nullptr);
  ASSERT_NE(last, nullptr);
  EXPECT_EQ(todo(), 801);
  EXPECT_EQ(last(), 801);
  EXPECT_EQ(last(), 0);
}

TEST(Exports, RefuseWhatTheTableRefuses) {
  void* library = dlopen(CUPOLA_CUDART, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const char* const names[] = {
#define CUDART_REFUSED(name, suffix, since, signature, why) #name #suffix,
#define CUDART_ABSENT(name, why) #name,
#include "cuda/cudart/runtime.def"
  };
  for (const char* name : names) {
    auto call = reinterpret_cast<int (*)()>(dlsym(library, name));
    ASSERT_NE(call, nullptr) << name;
    EXPECT_EQ(call(), 801) << name;  // cudaErrorNotSupported
  }
}

}  // namespace
