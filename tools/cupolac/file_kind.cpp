#include "cupolac/file_kind.h"

#include <filesystem>

namespace cupola::cupolac {
namespace {

bool is_library(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const std::string extension = path.extension().string();
  return extension == ".a" || extension == ".so" || extension == ".dylib" || name.contains(".so.");
}

}  // namespace

Result<FileKind> kind_of_file(const std::string& path, const std::string& language) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".o" || extension == ".obj") return FileKind::Object;
  if (is_library(path)) return FileKind::Library;
  if (language == "cu") return FileKind::Cuda;
  if (language == "c++") return FileKind::Cxx;
  if (language == "c") return FileKind::C;
  if (extension == ".cu") return FileKind::Cuda;
  if (extension == ".c") return FileKind::C;
  for (const char* cxx : {".cpp", ".cc", ".cxx", ".C", ".c++"})
    if (extension == cxx) return FileKind::Cxx;
  if (extension == ".s" || extension == ".S") return FileKind::Assembly;
  if (extension == ".bc" || extension == ".ll") return FileKind::Bitcode;
  if (extension == ".metal") return FileKind::Metal;
  for (const char* code : {".ptx", ".cubin", ".fatbin"})
    if (extension == code) return FileKind::DeviceCode;
  return fail(ErrorCode::InvalidValue, "don't know what to do with '{}'; -x cu, -x c++ or -x c says what it is", path);
}

}  // namespace cupola::cupolac
