#include "survey.h"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "base/format.h"
#include "device.h"

namespace cupola::ptxtest {
namespace {

constexpr size_t kModuleCases = 24;
constexpr unsigned kPatienceSeconds = 15;

/// The child's half: announces what it is about to do ("module FIRST COUNT", "case INDEX") and reports
/// "verdict INDEX TEXT", a line each.
class Worker {
 public:
  Worker(std::span<const Case* const> cases, const Task& task, int pipe)
      : cases_(cases), task_(task), pipe_(fdopen(pipe, "w")) {}

  int run(size_t first, size_t module_cases) {
    if (!device_.open()) {
      say(formatted("stop {}", device_.error));
      return 1;
    }
    for (size_t at = first; at < cases_.size(); at += module_cases) {
      const size_t count = std::min(module_cases, cases_.size() - at);
      if (!module(at, count)) return 1;
    }
    return 0;
  }

 private:
  void say(std::string line) {
    std::ranges::replace(line, '\n', ' ');
    std::fprintf(pipe_, "%s\n", line.c_str());
    std::fflush(pipe_);
    alarm(kPatienceSeconds);
  }

  bool module(size_t first, size_t count) {
    say(formatted("module {} {}", first, count));
    if (device_.load(cases_.subspan(first, count))) {
      for (size_t i = 0; i < count; ++i)
        if (!execute(first + i, i)) return false;
      return true;
    }
    if (count == 1) {
      say(formatted("verdict {} {}{}", first, kRefused, device_.error));
      return true;
    }
    for (size_t i = 0; i < count; ++i)
      if (!module(first + i, 1)) return false;
    return true;
  }

  /// False where the device can't go on.
  bool execute(size_t index, size_t number) {
    say(formatted("case {}", index));
    const std::vector<uint64_t> inputs = task_.inputs(index);
    std::vector<uint64_t> outputs;
    if (!device_.run(*cases_[index], number, inputs, task_.sets(index), outputs)) {
      say(formatted("verdict {} {}{}", index, kFailed, device_.error));
      return false;
    }
    say(formatted("verdict {} {}", index, task_.verdict(index, outputs)));
    return true;
  }

  std::span<const Case* const> cases_;
  const Task& task_;
  std::FILE* pipe_;
  Device device_;
};

/// What the child has said so far.
struct Progress {
  size_t next = 0;  ///< the first case without a verdict
  size_t module_first = 0, module_count = 0;
  std::optional<size_t> executing;
  std::string stop;
};

void understand(const std::string& line, const Task& task, Progress& progress, std::vector<std::string>& verdicts) {
  char word[16] = {};
  size_t a = 0, b = 0;
  int text = 0;
  if (line.starts_with("stop ")) {
    progress.stop = line.substr(5);
  } else if (std::sscanf(line.c_str(), "module %zu %zu", &a, &b) == 2) {
    progress.module_first = a, progress.module_count = b, progress.executing.reset();
  } else if (std::sscanf(line.c_str(), "case %zu", &a) == 1) {
    progress.executing = a;
  } else if (std::sscanf(line.c_str(), "%15s %zu %n", word, &a, &text) == 2) {
    verdicts[a] = line.substr(static_cast<size_t>(text));
    if (task.report) task.report(a, verdicts[a]);
    progress.next = a + 1;
    progress.executing.reset();
  }
}

/// Runs a child from case `first` on until it ends; returns how it ended.
int listen(std::span<const Case* const> cases, const Task& task, size_t first, size_t module_cases, Progress& progress,
           std::vector<std::string>& verdicts) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    _exit(Worker(cases, task, ends[1]).run(first, module_cases));
  }
  close(ends[1]);
  std::FILE* from = fdopen(ends[0], "r");
  char* line = nullptr;
  size_t room = 0;
  while (getline(&line, &room, from) > 0) {
    std::string text(line);
    if (text.ends_with('\n')) text.pop_back();
    understand(text, task, progress, verdicts);
  }
  std::free(line);
  std::fclose(from);
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

std::string end_of(int status) {
  if (!WIFSIGNALED(status)) return formatted("{}the process ended with {}", kFailed, WEXITSTATUS(status));
  if (WTERMSIG(status) == SIGALRM) return formatted("{}no answer for {} seconds", kFailed, kPatienceSeconds);
  return formatted("{}the process died: {}", kFailed, strsignal(WTERMSIG(status)));
}

}  // namespace

std::vector<std::string> survey(std::span<const Case* const> cases, const Task& task) {
  std::vector<std::string> verdicts(cases.size());
  Progress progress;
  size_t singles_until = 0;  // a module that ended the process is taken case by case
  while (progress.next < cases.size()) {
    const size_t first = progress.next, limit = first < singles_until ? singles_until : cases.size();
    progress.module_count = 0;
    const int status =
        listen(cases.first(limit), task, first, first < singles_until ? 1 : kModuleCases, progress, verdicts);
    if (!progress.stop.empty()) {
      std::fprintf(stderr, "no device: %s\n", progress.stop.c_str());
      return {};
    }
    if (status == 0) {
      progress.next = limit;
    } else if (progress.executing || progress.module_count <= 1) {
      const size_t culprit = progress.executing.value_or(progress.next);
      if (culprit >= progress.next) {
        verdicts[culprit] = end_of(status), progress.next = culprit + 1;
        if (task.report) task.report(culprit, verdicts[culprit]);
      }
    } else if (progress.next < progress.module_first + progress.module_count &&
               progress.next == progress.module_first) {
      singles_until = progress.module_first + progress.module_count;
    }  // else: the last verdict was the failure; a new process goes on behind it
    progress.executing.reset();
  }
  return verdicts;
}

}  // namespace cupola::ptxtest
