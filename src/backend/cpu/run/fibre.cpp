#include "backend/cpu/run/fibre.h"

#include <utility>

#include "backend/cpu/run/fibre_switch.h"
#include "backend/cpu/run/sanitizer.h"
#include "image/cpu_abi.h"

namespace cupola::cpu {
namespace {

size_t size_of(const Stack& stack) {
  return static_cast<size_t>(stack.window + image::cpu::kLocalWindow - stack.bottom());
}

}  // namespace

/// Part of its callers: ThreadSanitizer notes where functions begin and end on the stack that is left by then.
[[gnu::always_inline]] inline void Fibre::leave_for_good() {
  is_alive_ = false;
  sanitizer::leave(nullptr, home_->bottom, home_->size, home_->sanitizer_fibre);
}

struct Fibre::Trampoline {
  /// From home, which waits for it.
  static void call(void* from) {
    const Departure& departure = *static_cast<const Departure*>(from);
    Fibre* self = departure.to;
    self->entered(departure);
    self->entry_(self->argument_);
    if (self->was_left_ || sanitizer::kWatches) self->end();  // a function that returns must end where it began
    self->leave_for_good();
  }

  /// From another fibre.
  static void run(transfer_t from) {
    const Departure& departure = *static_cast<const Departure*>(from.data);
    Fibre* self = departure.to;
    self->arrive(departure, from.fctx);
    self->entry_(self->argument_);
    self->end();
  }
};

void Fibre::start(Stack* stack, std::byte* top, Entry entry, void* argument) {
  stack_ = stack;
  top_ = top;
  entry_ = entry;
  argument_ = argument;
  saved_ = nullptr;
  context_ = nullptr;
  was_left_ = false;
  is_alive_ = true;
}

void Fibre::entered(const Departure& departure) {
  FibreHome* home = departure.home;
  sanitizer::enter(saved_, home ? &home->bottom : nullptr, home ? &home->size : nullptr);
}

/// On the fibre's stack, which was entered.
void Fibre::arrive(const Departure& departure, void* from) {
  if (departure.left) *departure.left = from;
  entered(departure);
}

/// Leaves the fibre's stack and comes back to it.
void Fibre::go(void* to) {
  was_left_ = true;
  const transfer_t back = jump_fcontext(to, &departure_);
  arrive(*static_cast<const Departure*>(back.data), back.fctx);
}

void Fibre::resume(FibreHome& home) {
  home_ = &home;
  home.sanitizer_fibre = sanitizer::current_fibre();
  home.departure = {this, &home.context, &home};
  void* saved = nullptr;
  sanitizer::leave(&saved, stack_->bottom(), size_of(*stack_), stack_->sanitizer_fibre);
  const transfer_t back = context_ ? jump_fcontext(context_, &home.departure)
                                   : call_fcontext(top_, &Trampoline::call, &home.departure, &home.context);
  if (back.data) {
    const auto& from = *static_cast<const Departure*>(back.data);
    if (from.left) *from.left = back.fctx;
  }
  sanitizer::enter(saved, nullptr, nullptr);
}

void Fibre::suspend() {
  departure_ = {nullptr, &context_, nullptr};
  sanitizer::leave(&saved_, home_->bottom, home_->size, home_->sanitizer_fibre);
  go(home_->context);
}

void Fibre::switch_to(Fibre& next) {
  next.home_ = home_;
  departure_ = {&next, &context_, nullptr};
  sanitizer::leave(&saved_, next.stack_->bottom(), size_of(*next.stack_), next.stack_->sanitizer_fibre);
  go(next.context_ ? next.context_ : make_fcontext(next.top_, &Trampoline::run));
}

void Fibre::end() {
  leave_for_good();
  departure_ = {};
  jump_fcontext(home_->context, &departure_);
  __builtin_unreachable();
}

void Fibre::forget_frames() {
  sanitizer::unpoison(stack_->bottom(), size_of(*stack_));
}

Stack* Fibre::drop() {
  if (is_alive_) forget_frames();
  is_alive_ = false;
  return std::exchange(stack_, nullptr);
}

}  // namespace cupola::cpu
