#pragma once

/// Defines the declared function `wrapper`, of the same signature as `wrapped`, to make an object of type Scope and
/// give around([&] { return wrapped(parameters...); }, "wrapper"). The parameters are a pack without being written
/// twice: a friend that a class template defines is the function that a header declares, once the template is
/// instantiated with the signature.
#define DEFINE_WRAPPED_FUNCTION(Return, wrapper, wrapped, Scope, around) \
  template <typename Signature>                                          \
  struct Define_##wrapper;                                               \
  template <typename... Parameters>                                      \
  struct Define_##wrapper<Return(Parameters...)> {                       \
    friend Return wrapper(Parameters... parameters) {                    \
      const Scope scope;                                                 \
      return around([&] { return wrapped(parameters...); }, #wrapper);   \
    }                                                                    \
  };                                                                     \
  template struct Define_##wrapper<decltype(wrapped)>;
