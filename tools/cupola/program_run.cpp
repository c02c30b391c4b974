#include "cupola/program_run.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "cupola/program_file.h"

namespace cupola::tool {
namespace {

namespace fs = std::filesystem;

#ifdef __APPLE__
constexpr const char* kLoaderPath = "DYLD_LIBRARY_PATH";
#else
constexpr const char* kLoaderPath = "LD_LIBRARY_PATH";
#endif

/// The reason why the program cannot run with Cupola, as an error.
Result<> check(const fs::path& path) {
  TRY(const std::optional<ProgramFile> program, ProgramFile::read(path));
  if (!program) return {};  // a script: what it starts is not looked at
  if (std::string reason = why_not(*program); !reason.empty())
    return fail(ErrorCode::NotSupported, "'{}' cannot run with Cupola: {}", path.string(), reason);
  return {};
}

/// What programs and Python packages that look for a CUDA toolkit or driver read; "Numba for CUDA GPUs, Environment
/// variables". The folder for Python holds a sitecustomize.py, which has Cupola's libraries loaded before any others
/// are looked for.
void lead_to(const fs::path& libraries) {
  const fs::path own = libraries / "cupola";
  std::error_code error;
  if (const fs::path toolkit = own / "toolkit"; fs::exists(toolkit / "lib64", error))
    for (const char* name : {"CUDA_HOME", "CUDA_PATH"}) setenv(name, toolkit.c_str(), 1);
  setenv("NUMBA_CUDA_DRIVER", (libraries / "libcuda.so.1").c_str(), 1);
  setenv("CUPOLA_LIBRARY_PATH", libraries.c_str(), 1);
  setenv(kLoaderPath, with_first(libraries.string(), std::getenv(kLoaderPath)).c_str(), 1);
  if (const fs::path python = own / "python"; fs::exists(python, error))
    setenv("PYTHONPATH", with_first(python.string(), std::getenv("PYTHONPATH")).c_str(), 1);
}

}  // namespace

std::string with_first(const std::string& first, const char* rest) {
  return rest && *rest ? first + ":" + rest : first;
}

Error run_program(const std::vector<std::string>& command, const fs::path& libraries) {
  const std::string& name = command[0];
  const fs::path path = name.contains('/') ? fs::path(name) : cupolac::find_on_path(name);
  if (path.empty()) return {ErrorCode::FileNotFound, "'" + name + "' is not in the folders of PATH"};
  if (auto fit = check(path); !fit) return fit.error();
  lead_to(libraries);
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execv(path.c_str(), words.data());
  return {ErrorCode::OperatingSystem, "'" + path.string() + "' cannot be run: " + std::strerror(errno)};
}

}  // namespace cupola::tool
