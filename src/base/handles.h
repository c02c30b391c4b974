#pragma once

#include <algorithm>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/mutex.h"

namespace cupola {

/// The live objects of one kind that a program holds by address. A handle is looked up before it is used, so that a
/// stale or foreign one gives an error. Any thread.
template <typename T>
class Handles {
 public:
  /// Keeps the object alive and returns its handle.
  T* add(std::shared_ptr<T> object) {
    T* handle = object.get();
    Lock lock(mutex_);
    objects_.emplace(handle, std::move(object));
    return handle;
  }

  /// Null when the handle is not, or no longer, one of ours.
  std::shared_ptr<T> find(const void* handle) const {
    Lock lock(mutex_);
    auto found = objects_.find(handle);
    return found == objects_.end() ? nullptr : found->second;
  }

  /// Calls `body` with the live object, whose `mutex` is held; `missing`: the answer where the handle is none of ours.
  template <typename Status, typename Body>
  Status with(const void* handle, Status missing, Body&& body) const {
    const std::shared_ptr<T> object = find(handle);
    if (!object) return missing;
    const Lock lock(object->mutex);
    return body(*object);
  }

  /// Takes the handle out; the object lives until the last user lets it go.
  std::shared_ptr<T> remove(const void* handle) {
    Lock lock(mutex_);
    auto found = objects_.find(handle);
    if (found == objects_.end()) return nullptr;
    std::shared_ptr<T> object = std::move(found->second);
    objects_.erase(found);
    return object;
  }

  /// Whether `condition(object)` is true for one of them.
  template <typename Condition>
  bool any_of(Condition condition) const {
    Lock lock(mutex_);
    return std::ranges::any_of(objects_, [&](const auto& entry) { return condition(std::as_const(*entry.second)); });
  }

  /// All of them at this moment, for what is done to each without the lock.
  std::vector<std::shared_ptr<T>> live() const {
    std::vector<std::shared_ptr<T>> found;
    Lock lock(mutex_);
    found.reserve(objects_.size());
    for (const auto& entry : objects_) found.push_back(entry.second);
    return found;
  }

  /// Takes out all for which `condition(object)` is true. They are destroyed outside the lock.
  template <typename Condition>
  void remove_if(Condition condition) {
    std::vector<std::shared_ptr<T>> removed;
    Lock lock(mutex_);
    for (auto it = objects_.begin(); it != objects_.end();) {
      if (!condition(*it->second)) {
        ++it;
        continue;
      }
      removed.push_back(std::move(it->second));
      it = objects_.erase(it);
    }
    lock.unlock();
  }

 private:
  mutable Mutex mutex_;
  std::unordered_map<const void*, std::shared_ptr<T>> objects_ GUARDED_BY(mutex_);
};

}  // namespace cupola
