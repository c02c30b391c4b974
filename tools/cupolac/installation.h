#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace cupola::cupolac {

/// Where things are. The build tree and an installation have the same layout: bin, lib, include/cuda.
struct Installation {
  std::filesystem::path cupolac;    ///< this program
  std::filesystem::path headers;    ///< include/cuda
  std::filesystem::path libraries;  ///< lib
  std::filesystem::path clang;      ///< clang++ 22, or what CUPOLA_CLANG names
  std::filesystem::path archiver;   ///< llvm-ar or ar

  /// A folder of headers that refuse those of another toolkit (foreign_headers.h); empty where there is none.
  std::filesystem::path refusals = {};

  /// Files of Cupola's own beside the libraries.
  std::filesystem::path own() const { return libraries / "cupola"; }
  /// The same things where build systems look for them in a CUDA toolkit: bin/nvcc, include, lib64. All links.
  std::filesystem::path toolkit() const { return own() / "toolkit"; }
  /// cupolac under a name by which it links: a compiler that adds the RUNPATH of Cupola's libraries.
  std::filesystem::path host_link() const { return own() / "host-link"; }
};

/// The path of the running program, links resolved.
std::filesystem::path program_path();

/// lib beside this program's folder.
std::filesystem::path library_folder();

/// The parts of a search path.
std::vector<std::string> split_at_colons(const std::string& text);

/// The program of this name in the folders of PATH; empty when there is none.
std::filesystem::path find_on_path(const std::string& name);

/// clang++ 22: CUPOLA_CLANG, clang++-22 on the PATH, Debian's and Homebrew's folders. Error: FileNotFound, with what
/// to install.
Result<std::filesystem::path> find_clang();

/// Folders relative to this program, and clang. Error: as find_clang().
Result<Installation> find_installation();

/// True for a folder with the headers of a CUDA toolkit that is not Cupola's own.
bool is_foreign_toolkit(const std::filesystem::path& folder, const std::filesystem::path& own_headers);

/// A search path such as CPATH without such folders.
std::string without_toolkits(const std::string& search_path, const std::filesystem::path& own_headers);

/// LIBRARY_PATH without the folders of another toolkit's libraries.
std::string without_toolkit_libraries(const std::string& search_path, const std::filesystem::path& own_libraries);

}  // namespace cupola::cupolac
