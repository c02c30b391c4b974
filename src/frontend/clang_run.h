#pragma once

#include <clang/Frontend/CompilerInstance.h>
#include <clang/Frontend/FrontendAction.h>
#include <llvm/Support/VirtualFileSystem.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "frontend/message_log.h"

namespace cupola::frontend {

/// Files in memory above those of the machine.
class Files {
 public:
  Files();
  /// `text` must live as long as this, and be followed by a zero byte.
  void add(const std::string& path, llvm::StringRef text);
  llvm::IntrusiveRefCntPtr<llvm::vfs::FileSystem> all() const { return all_; }

 private:
  llvm::IntrusiveRefCntPtr<llvm::vfs::OverlayFileSystem> all_;
  llvm::IntrusiveRefCntPtr<llvm::vfs::InMemoryFileSystem> in_memory_;
};

/// One run of clang. Returns false if `log` has errors then. Error: InvalidValue for words that clang does not take.
Result<bool> run_clang(const std::vector<std::string>& words, const Files& files, MessageLog& log,
                       clang::FrontendAction& action);

}  // namespace cupola::frontend
