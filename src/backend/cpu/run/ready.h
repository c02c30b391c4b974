#pragma once

namespace cupola::cpu {

/// Something that can go on now. In one place at a time.
class Ready {
 public:
  virtual void run() = 0;

 protected:
  ~Ready() = default;

 private:
  friend class ReadyList;
  friend void run_in_turn(Ready& ready);
  Ready* next_ready_ = nullptr;
};

/// Calls `ready.run()` on this thread, which holds no lock: now, or if this is called by such a run, after it and
/// before the outermost run_in_turn() returns. What completes what completes something thus uses no more stack, however
/// long the chain.
void run_in_turn(Ready& ready);

}  // namespace cupola::cpu
