#include "frontend/clang_run.h"

#include <clang/Frontend/CompilerInvocation.h>

namespace cupola::frontend {

Files::Files()
    : all_(llvm::makeIntrusiveRefCnt<llvm::vfs::OverlayFileSystem>(llvm::vfs::createPhysicalFileSystem())),
      in_memory_(llvm::makeIntrusiveRefCnt<llvm::vfs::InMemoryFileSystem>()) {
  all_->pushOverlay(in_memory_);
}

void Files::add(const std::string& path, llvm::StringRef text) {
  in_memory_->addFileNoOwn(path, 0, llvm::MemoryBufferRef(text, path));
}

Result<bool> run_clang(const std::vector<std::string>& words, const Files& files, MessageLog& log,
                       clang::FrontendAction& action) {
  std::vector<const char*> pointers;
  for (const std::string& word : words) pointers.push_back(word.c_str());
  auto invocation = std::make_shared<clang::CompilerInvocation>();
  clang::DiagnosticOptions word_options;
  const auto word_messages = clang::CompilerInstance::createDiagnostics(*files.all(), word_options, &log, false);
  if (!clang::CompilerInvocation::CreateFromArgs(*invocation, pointers, *word_messages))
    return fail(ErrorCode::InvalidValue, "frontend: clang does not take its options: {}", log.finished("options"));
  invocation->getFrontendOpts().DisableFree = false;
  clang::CompilerInstance compiler(std::move(invocation));
  compiler.setVirtualFileSystem(files.all());
  compiler.createDiagnostics(&log, false);
  compiler.createFileManager();
  compiler.createSourceManager();
  return compiler.ExecuteAction(action);
}

}  // namespace cupola::frontend
