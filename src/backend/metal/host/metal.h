#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "backend/metal/host/types.h"
#include "base/dynlib.h"
#include "base/result.h"

namespace cupola::metal {

/// The functions of the Objective-C runtime that messages take.
struct ObjcRuntime {
  void (*send)() = nullptr;  ///< objc_msgSend, called by the method's own type
  Selector (*selector)(const char* name) = nullptr;
  Id (*class_named)(const char* name) = nullptr;
  void* (*push_pool)() = nullptr;
  void (*pop_pool)(void* pool) = nullptr;

  // What a class says of its methods; see Metal::checks_types.
  Id (*class_of)(Id object) = nullptr;
  void* (*method_of)(Id of_class, Selector selector) = nullptr;
  const char* (*types_of)(void* method) = nullptr;

  bool checks_types = false;

  /// Ends the process, in one line, when the receiver's class has no such method, or one of another type.
  void check(Id receiver, Selector selector, const char* name, const std::string& type) const;
};

template <typename Function>
class Method;

/// A message of this type: called with the receiver and the arguments.
template <typename R, typename... A>
class Method<R(A...)> {
 public:
  Method(const ObjcRuntime& runtime, const char* name)
      : runtime_(runtime), name_(name), selector_(runtime.selector(name)), type_(encoding_of<R, A...>()) {}

  R operator()(Id receiver, A... arguments) const {
    if (runtime_.checks_types && receiver) runtime_.check(receiver, selector_, name_, type_);
    return reinterpret_cast<R (*)(Id, Selector, A...)>(runtime_.send)(receiver, selector_, arguments...);
  }
  Selector selector() const { return selector_; }

 private:
  const ObjcRuntime& runtime_;
  const char* const name_;
  const Selector selector_;
  const std::string type_;
};

/// Metal and the Objective-C runtime, opened at run time, with every message that Cupola sends. Any thread.
class Metal {
 public:
  /// The system's on macOS; elsewhere, or where CUPOLA_METAL_LIBRARY names one, the software Metal. Opened once, never
  /// closed. Error: NoDevice, saying what is missing.
  static Result<const Metal*> open();

  Metal(const Metal&) = delete;
  Metal& operator=(const Metal&) = delete;

 private:
  using CreateDevice = Id();
  using CreateData = Id(const void* bytes, size_t size, Id queue, BlockPointer destructor);
  struct Files {
    std::string metal, objc, dispatch;
  };
  Metal(const ObjcRuntime& runtime, CreateDevice* device, CreateData* data)
      : runtime_(runtime), create_device_(device), create_data_(data) {}
  static Result<std::unique_ptr<const Metal>> open(const Files& files);

  const ObjcRuntime runtime_;
  CreateDevice* const create_device_;
  CreateData* const create_data_;

 public:
#define METAL_METHOD(name, selector, result, parameters) const Method<result parameters> name{runtime_, selector};
#include "backend/metal/host/metal_methods.def"
#undef METAL_METHOD

  Id class_named(const char* class_name) const { return runtime_.class_named(class_name); }
  /// +1: the caller releases it. Null where there is none.
  Id create_device() const { return create_device_(); }
  /// A dispatch_data_t with a copy of the bytes, +1.
  Id create_data(std::span<const std::byte> bytes) const {
    return create_data_(bytes.data(), bytes.size(), nullptr, nullptr);
  }

  /// An NSString, autoreleased; and the way back.
  Id string(const std::string& text) const { return string_with(class_named("NSString"), text.c_str()); }
  std::string text(Id string) const;
  /// An NSError's words.
  std::string words(Id of) const { return of ? text(description(of)) : "no reason was given"; }

  /// What is autoreleased while it lives goes with it; on one thread, nested.
  class Pool {
   public:
    explicit Pool(const Metal& metal) : runtime_(metal.runtime_), pool_(runtime_.push_pool()) {}
    ~Pool() { runtime_.pop_pool(pool_); }
    Pool(const Pool&) = delete;
    Pool& operator=(const Pool&) = delete;

   private:
    const ObjcRuntime& runtime_;
    void* const pool_;
  };
};

/// Owns one reference.
class Object {
 public:
  Object() = default;
  /// Takes over the reference that a method whose name begins with new gave.
  Object(const Metal& metal, Id owned) : metal_(&metal), id_(owned) {}
  Object(Object&& other) noexcept : metal_(other.metal_), id_(std::exchange(other.id_, nullptr)) {}
  Object& operator=(Object&& other) noexcept {
    std::swap(metal_, other.metal_);
    std::swap(id_, other.id_);
    return *this;
  }
  ~Object() {
    if (id_) metal_->release(id_);
  }

  Id id() const { return id_; }
  explicit operator bool() const { return id_; }

 private:
  const Metal* metal_ = nullptr;
  Id id_ = nullptr;
};

}  // namespace cupola::metal
