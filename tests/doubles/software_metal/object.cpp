#include "doubles/software_metal/object.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"

namespace cupola::software_metal {

struct SelectorName {
  std::string name;
};

namespace {

/// Every object that there was, and whether it still is.
struct Registry {
  static Registry& get() {
    static auto* const instance = new Registry;  // leaked: objects live as long as the process
    return *instance;
  }
  Mutex mutex;
  std::unordered_map<const void*, bool> live GUARDED_BY(mutex);
  std::map<std::string, SelectorName*, std::less<>> selectors GUARDED_BY(mutex);
  std::map<std::string, Class*, std::less<>> classes GUARDED_BY(mutex);
};

thread_local std::vector<std::vector<Object*>> pools;

bool responds(Object* self, Selector, Selector asked);
Object* retain_method(Object* self, Selector) {
  return retain(self);
}
void release_method(Object* self, Selector) {
  release(self);
}

const Method kObjectMethods[] = {
    {"retain", "@@:", code(retain_method)},
    {"release", "v@:", code(release_method)},
    {"respondsToSelector:", "B@::", code(responds)},
};

const Method* find(std::span<const Method> methods, Selector selector) {
  for (const Method& method : methods)
    if (selector->name == method.selector) return &method;
  return nullptr;
}

const Method* method_of(const Class& of, Selector selector) {
  const Method* const own = find(of.methods, selector);
  return own ? own : find(kObjectMethods, selector);
}

bool responds(Object* self, Selector, Selector asked) {
  return method_of(self->isa(), asked);
}

/// A reference to null: nothing happens, and what comes back is 0.
uint64_t no_receiver() {
  return 0;
}

void check_live(const Object* object, const char* what) {
  Registry& all = Registry::get();
  Lock lock(all.mutex);
  const auto found = all.live.find(object);
  if (found == all.live.end()) refuse_with("{}: {} is no object", what, static_cast<const void*>(object));
  if (!found->second) refuse_with("{}: the object was released before", what);
}

}  // namespace

Object::Object() {
  Registry& all = Registry::get();
  Lock lock(all.mutex);
  all.live[this] = true;
}

Class::Class(const Class* its_class, const char* class_name, std::span<const Method> of_objects)
    : name(class_name), methods(of_objects), meta(its_class) {}

Class::Class(const char* class_name, std::span<const Method> of_objects, std::span<const Method> of_class)
    : Class(new Class(nullptr, class_name, of_class), class_name, of_objects) {
  Registry& all = Registry::get();
  Lock lock(all.mutex);
  all.classes[class_name] = this;
}

const Class& Class::isa() const {
  return meta ? *meta : *this;
}

Object* retain(Object* object) {
  object->references.fetch_add(1);
  return object;
}

void release(Object* object) {
  if (object->references.fetch_sub(1) != 1) return;
  object->dispose();
  Registry& all = Registry::get();
  Lock lock(all.mutex);
  all.live[object] = false;
}

Object* autorelease(Object* object) {
  if (pools.empty()) refuse_with("{} is autoreleased on a thread without a pool", object->isa().name);
  pools.back().push_back(object);
  return object;
}

void refuse(const std::string& words) {
  std::fprintf(stderr, "software Metal: %s\n", words.c_str());
  std::abort();
}

// What messages reach, by the trampoline in send.cpp.
extern "C" const void* software_metal_method(Object* receiver, Selector selector) {
  if (!receiver) return code(no_receiver);
  check_live(receiver, selector->name.c_str());
  const Method* const method = method_of(receiver->isa(), selector);
  if (!method) refuse_with("{} has no method '{}'", receiver->isa().name, selector->name);
  return method->function;
}

}  // namespace cupola::software_metal

// -- the functions of libobjc --

using namespace cupola::software_metal;

#define EXPORT extern "C" __attribute__((visibility("default")))

EXPORT Selector sel_registerName(const char* name) {
  Registry& all = Registry::get();
  cupola::Lock lock(all.mutex);
  SelectorName*& selector = all.selectors[name];
  if (!selector) selector = new SelectorName{name};
  return selector;
}

EXPORT Object* objc_getClass(const char* name) {
  Registry& all = Registry::get();
  cupola::Lock lock(all.mutex);
  const auto found = all.classes.find(name);
  return found == all.classes.end() ? nullptr : found->second;
}

EXPORT const Class* object_getClass(Object* object) {
  if (!object) return nullptr;
  check_live(object, "object_getClass");
  return &object->isa();
}

EXPORT const Method* class_getInstanceMethod(const Class* of, Selector selector) {
  return method_of(*of, selector);
}

EXPORT const char* method_getTypeEncoding(const Method* method) {
  return method->types;
}

EXPORT void* objc_autoreleasePoolPush() {
  pools.emplace_back();
  return reinterpret_cast<void*>(pools.size());
}

EXPORT void objc_autoreleasePoolPop(void* pool) {
  if (reinterpret_cast<size_t>(pool) != pools.size()) refuse("a pool goes that is not the thread's innermost");
  const std::vector<Object*> objects = std::move(pools.back());
  pools.pop_back();
  for (Object* object : objects) release(object);
}
