#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>

#include "base/format.h"

// The part of Objective-C that messages take: objects with counts, classes with methods, selectors, pools. Strict: what
// a program may not do ends the process with one line.

namespace cupola::software_metal {

/// A selector, one for each name.
struct SelectorName;
using Selector = const SelectorName*;

struct Method {
  const char* selector;
  const char* types;     ///< as the Objective-C runtime writes them, without sizes
  const void* function;  ///< takes the receiver, the selector, the arguments
};

template <typename Function>
const void* code(Function* function) {
  return reinterpret_cast<const void*>(function);
}

struct Class;

/// Begins with one reference, which belongs to who made it. Its memory is never used again, so that a message to an
/// object that is gone can be told from others.
struct Object {
  Object();
  virtual ~Object() = default;
  virtual const Class& isa() const = 0;
  virtual void dispose() {}  ///< the last reference went

  std::atomic<int64_t> references{1};
};

struct Class final : Object {
  /// Known by its name from now on; lives as long as the process.
  Class(const char* class_name, std::span<const Method> of_objects, std::span<const Method> of_class);
  const Class& isa() const override;

  const char* const name;
  const std::span<const Method> methods;
  const Class* const meta;  ///< whose methods the class itself has; null of such a one

 private:
  Class(const Class* its_class, const char* class_name, std::span<const Method> of_objects);
};

Object* retain(Object* object);
void release(Object* object);
/// Leaves the reference to the innermost pool of the thread.
Object* autorelease(Object* object);

/// Ends the process.
[[noreturn]] void refuse(const std::string& words);
template <typename... Args>
[[noreturn]] void refuse_with(fmt::format_string<Args...> text, Args&&... args) {
  refuse(formatted(text, std::forward<Args>(args)...));
}

/// Holds a reference.
template <typename T>
class Kept {
 public:
  Kept() = default;
  explicit Kept(T* object) : object_(object) { retain(object); }
  Kept(Kept&& other) noexcept : object_(other.object_) { other.object_ = nullptr; }
  Kept& operator=(Kept&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Kept() {
    if (object_) release(object_);
  }
  T* operator->() const { return object_; }
  T* get() const { return object_; }
  explicit operator bool() const { return object_; }

 private:
  T* object_ = nullptr;
};

}  // namespace cupola::software_metal
