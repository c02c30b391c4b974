#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/result.h"

namespace cupola::runtime {

/// A thing of the program's that lives as long as references to it are held, by the program or by graphs. "CUDA C++
/// Programming Guide, CUDA User Objects". The program's references and those of graphs are counted together; the
/// destructor is called once, on the thread that gives the last one back, and may not call the API. Any thread.
class UserObject {
 public:
  UserObject(void* object, void (*destroy)(void*), unsigned references)
      : object_(object), destroy_(destroy), references_(references) {}

  void retain(uint64_t count) { references_.fetch_add(count); }
  /// The last one ends the object: its destructor is called and its handle is gone.
  void release(uint64_t count);
  /// Gives up to `count` back when that many are held. Error: InvalidValue.
  Result<> release_checked(unsigned count);

 private:
  void* const object_;
  void (*const destroy_)(void*);
  void end();
  std::atomic<uint64_t> references_;
};

}  // namespace cupola::runtime
