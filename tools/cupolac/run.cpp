#include "cupolac/run.h"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <thread>

#include "cupolac/lists.h"

extern char** environ;

namespace cupola::cupolac {
namespace {

namespace fs = std::filesystem;

std::string line_of(const Step& step) {
  std::string line = "#$";
  for (const std::string& word : step.command) line += " " + shell_word(word);
  return line + "\n";
}

void say(const std::string& text) {
  std::fputs(text.c_str(), stderr);
}

/// Ignores an interrupt from the terminal here, as system(3) does, so that files between the steps are still cleared
/// away.
class InterruptsIgnored {
 public:
  InterruptsIgnored() {
    struct sigaction ignore = {};
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGINT, &ignore, &interrupt_);
    sigaction(SIGQUIT, &ignore, &quit_);
  }
  ~InterruptsIgnored() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGQUIT, &quit_, nullptr);
  }
  InterruptsIgnored(const InterruptsIgnored&) = delete;
  InterruptsIgnored& operator=(const InterruptsIgnored&) = delete;

 private:
  struct sigaction interrupt_ = {}, quit_ = {};
};

int run_step(const Step& step) {
  std::vector<char*> words;
  for (const std::string& word : step.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGINT);
  sigaddset(&defaults, SIGQUIT);
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  pid_t child = 0;
  const int error = posix_spawnp(&child, words[0], nullptr, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  if (error) {
    say(formatted("cupolac: '{}' cannot be run: {}\n", step.command[0], std::strerror(error)));
    return 1;
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status)) return WEXITSTATUS(status);
  say(formatted("cupolac: the {} step was ended by signal {}\n", step.name, WTERMSIG(status)));
  return 128 + WTERMSIG(status);
}

int run_chain(const std::vector<Step>& chain, bool verbose) {
  for (const Step& step : chain) {
    if (verbose) say(line_of(step));
    if (const int status = run_step(step)) return status;
  }
  return 0;
}

}  // namespace

Result<Scratch> Scratch::temporary() {
  std::error_code error;
  fs::path folder = fs::temp_directory_path(error);
  if (error) folder = "/tmp";
  std::string path = (folder / "cupolac.XXXXXX").string();
  if (!mkdtemp(path.data()))
    return fail(ErrorCode::OperatingSystem, "no temporary folder can be made in '{}': {}", folder.string(),
                std::strerror(errno));
  return Scratch(path, false);
}

Result<Scratch> Scratch::kept(const std::string& folder) {
  std::error_code error;
  const std::string path = folder.empty() ? "." : folder;
  fs::create_directories(path, error);
  if (error) return fail(ErrorCode::OperatingSystem, "folder '{}' cannot be made: {}", path, error.message());
  return Scratch(path, true);
}

Scratch::Scratch(Scratch&& other) noexcept : path_(std::move(other.path_)), keep_(std::exchange(other.keep_, true)) {}

Scratch::~Scratch() {
  std::error_code error;
  if (!keep_) fs::remove_all(path_, error);
}

void print_plan(const Plan& plan) {
  for (const auto& chain : plan.chains)
    for (const Step& step : chain) say(line_of(step));
  for (const Step& step : plan.last) say(line_of(step));
}

int run_plan(const Plan& plan, unsigned threads, bool verbose) {
  const InterruptsIgnored ignored;
  std::atomic<size_t> next = 0;
  std::atomic<int> failed = 0;
  auto work = [&] {
    for (size_t i = next++; i < plan.chains.size() && !failed; i = next++)
      if (const int status = run_chain(plan.chains[i], verbose)) {
        int none = 0;
        failed.compare_exchange_strong(none, status);
      }
  };
  std::vector<std::jthread> helpers;
  for (size_t i = 1; i < threads && i < plan.chains.size(); ++i) helpers.emplace_back(work);
  work();
  helpers.clear();  // joins
  return failed ? failed.load() : run_chain(plan.last, verbose);
}

}  // namespace cupola::cupolac
