#pragma once

// What the tests of memory and events of two processes share: a child process, and the way to it.

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>

namespace check {

/// One end of the way between two processes.
struct Way {
  int socket = -1;
  template <typename T>
  bool send(const T& value) const {
    return write(socket, &value, sizeof value) == static_cast<ssize_t>(sizeof value);
  }
  template <typename T>
  bool receive(T& value) const {
    return read(socket, &value, sizeof value) == static_cast<ssize_t>(sizeof value);
  }
  bool tell() const { return send('x'); }
  bool hear() const {
    char mark = 0;
    return receive(mark) && mark == 'x';
  }
};

/// A process that runs `body` and exits with what it returns. To be made before this one uses CUDA, so in a program
/// whose cases have processes of their own: a process that has used CUDA must not fork and go on using it.
class Child {
 public:
  explicit Child(int (*body)(const Way& parent)) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0) std::abort();
    id_ = fork();
    if (id_ == 0) {
      close(ends[1]);
      _exit(body({ends[0]}));
    }
    close(ends[0]);
    way_ = {ends[1]};
  }
  Child(const Child&) = delete;
  const Way* operator->() const { return &way_; }

  /// Its exit status; -1 if a signal ended it.
  int ended() const {
    int status = -1;
    return waitpid(id_, &status, 0) == id_ && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  }

 private:
  pid_t id_ = -1;
  Way way_;
};

}  // namespace check
