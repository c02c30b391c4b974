#include "cupola/program_file.h"

#include <cstring>
#include <string_view>

#include "base/file.h"
#include "cupolac/installation.h"

#if __has_include(<elf.h>)
#include <elf.h>

namespace cupola::tool {
namespace {

namespace fs = std::filesystem;

#if defined(__aarch64__)
constexpr uint16_t kOwnMachine = EM_AARCH64;
#else
constexpr uint16_t kOwnMachine = EM_X86_64;
#endif

/// Reads tables of the file with every offset checked.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  template <typename T>
  bool load(uint64_t offset, T& value) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof value) return false;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return true;
  }

  /// The text at `offset` of the table that begins at `table`.
  std::string text(uint64_t table, uint64_t offset) const {
    if (table > bytes_.size() || offset >= bytes_.size() - table) return "";
    const std::string_view rest = bytes_.substr(table + offset);
    return std::string(rest.substr(0, rest.find('\0')));
  }

  bool holds(std::string_view needle) const { return bytes_.contains(needle); }

 private:
  std::string_view bytes_;
};

void read_dynamic(const Reader& file, const Elf64_Shdr& section, const Elf64_Shdr& strings, ProgramFile& program) {
  program.dynamic = true;
  Elf64_Dyn entry;
  for (uint64_t at = 0; at + sizeof entry <= section.sh_size; at += sizeof entry) {
    if (!file.load(section.sh_offset + at, entry) || entry.d_tag == DT_NULL) break;
    const std::string value = file.text(strings.sh_offset, entry.d_un.d_val);
    if (entry.d_tag == DT_NEEDED) program.needed.push_back(value);
    if (entry.d_tag == DT_RPATH) program.rpath = cupolac::split_at_colons(value);
    if (entry.d_tag == DT_RUNPATH)
      program.rpath.clear();  // then DT_RPATH is not looked at, and the environment comes first
  }
}

bool has_runtime_functions(const Reader& file, const Elf64_Shdr& section, const Elf64_Shdr& strings) {
  Elf64_Sym symbol;
  for (uint64_t at = 0; at + sizeof symbol <= section.sh_size; at += sizeof symbol) {
    if (!file.load(section.sh_offset + at, symbol)) break;
    if (symbol.st_shndx == SHN_UNDEF || ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
    const std::string name = file.text(strings.sh_offset, symbol.st_name);
    if (name == "cudaGetErrorString" || name == "__cudaRegisterFatBinary" || name == "cudaMalloc") return true;
  }
  return false;
}

bool links_to(const ProgramFile& program, std::string_view prefix) {
  for (const std::string& soname : program.needed)
    if (soname.starts_with(prefix)) return true;
  return false;
}

}  // namespace

Result<std::optional<ProgramFile>> ProgramFile::read(const fs::path& path) {
  TRY(const std::string bytes, read_file(path));
  if (!bytes.starts_with(ELFMAG)) return std::optional<ProgramFile>();
  const Reader file(bytes);
  Elf64_Ehdr header;
  if (!file.load(0, header)) return fail(ErrorCode::InvalidImage, "'{}' ends within its header", path.string());
  ProgramFile program;
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return program;  // machine stays 0
  program.machine = header.e_machine;
  auto section = [&](uint64_t index, Elf64_Shdr& into) {
    return file.load(header.e_shoff + index * sizeof(Elf64_Shdr), into);
  };
  Elf64_Shdr names;
  if (!section(header.e_shstrndx, names))
    return fail(ErrorCode::InvalidImage, "'{}' has no section names", path.string());
  for (uint16_t i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr one, strings;
    if (!section(i, one) || !section(one.sh_link, strings))
      return fail(ErrorCode::InvalidImage, "'{}' ends within its sections", path.string());
    const std::string name = file.text(names.sh_offset, one.sh_name);
    if (one.sh_type == SHT_DYNAMIC) read_dynamic(file, one, strings, program);
    if (one.sh_type == SHT_SYMTAB || one.sh_type == SHT_DYNSYM)
      program.defines_runtime |= has_runtime_functions(file, one, strings);
    if (name == ".nv_fatbin" || name == ".nvFatBinSegment") program.has_device_code = true;
  }
  program.runtime_is_ours = file.holds("CUPOLA_LIBRARY_PATH");
  return program;
}

std::string why_not(const ProgramFile& program) {
  if (program.machine != kOwnMachine) return "it is a program for another kind of machine";
  const bool shared_runtime = links_to(program, "libcudart.so.");
  for (const std::string& soname : program.needed)
    if (soname.starts_with("libcudart.so.") && soname != "libcudart.so.13")
      return "it needs " + soname + ", and Cupola provides libcudart.so.13: compile it anew with cupolac";
  const bool inside = program.defines_runtime || (program.has_device_code && !shared_runtime);
  if (inside && !program.runtime_is_ours && !shared_runtime)
    return "NVIDIA's CUDA runtime is linked into it, which only works with NVIDIA's driver: compile it with cupolac, "
           "or link "
           "its objects anew with -L<Cupola's lib> -lcudart or Cupola's libcudart_static.a";
  if (!program.dynamic)
    return "it is linked statically, so that no library can be given to it: link it anew with cupolac";
  for (const std::string& folder : program.rpath)
    for (const char* name : {"libcudart.so.13", "libcuda.so.1"}) {
      std::error_code error;
      if (links_to(program, name) && fs::exists(fs::path(folder) / name, error))
        return "its RPATH leads to " + (fs::path(folder) / name).string() +
               " before all else: link it anew, or take the RPATH out (patchelf --remove-rpath)";
    }
  return "";
}

}  // namespace cupola::tool

#else  // macOS: its loader's limits are not looked at

namespace cupola::tool {

Result<std::optional<ProgramFile>> ProgramFile::read(const std::filesystem::path&) {
  return std::optional<ProgramFile>();
}

std::string why_not(const ProgramFile&) {
  return "";
}

}  // namespace cupola::tool
#endif
