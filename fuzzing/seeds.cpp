#include <cstdio>
#include <filesystem>
#include <fstream>

#include "image/compile_request.h"
#include "image/fatbin.h"
#include "image/sample_image.h"

// fuzz-seeds FOLDER: writes a valid input for each fuzzer to FOLDER/NAME, from where mutation reaches past the headers.

namespace {

using namespace cupola;

bool write_seed(const std::filesystem::path& folder, const char* name, std::span<const std::byte> bytes) {
  std::filesystem::create_directories(folder / name);
  std::ofstream file(folder / name / "seed", std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  return file.good();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fuzz-seeds FOLDER\n");
    return 2;
  }
  const std::vector<std::byte> code(40, std::byte{'B'});
  const image::FatbinEntry entries[] = {{image::FatbinKind::Kir, 89, 0, code, 0},
                                        {image::FatbinKind::Ptx, 75, 0, code, 0}};
  const bool written =
      write_seed(argv[1], "kernel_image", image::serialize(image::sample_image())) &&
      write_seed(argv[1], "compile_request",
                 image::serialize(image::CompileRequest{"cpu:x86-64-v3", "", {{image::CodeKind::Kir, code}}})) &&
      write_seed(argv[1], "fatbin", image::write_fatbin(entries));
  return written ? 0 : 1;
}
