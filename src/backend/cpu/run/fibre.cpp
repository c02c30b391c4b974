#include "backend/cpu/run/fibre.h"

#include <boost/context/detail/fcontext.hpp>
#include <utility>

#include "backend/cpu/run/sanitizer.h"
#include "image/cpu_abi.h"

namespace cupola::cpu {

using boost::context::detail::jump_fcontext;
using boost::context::detail::make_fcontext;
using boost::context::detail::transfer_t;

struct Fibre::Trampoline {
  static void run(transfer_t from) {
    auto* self = static_cast<Fibre*>(from.data);
    self->home_->context = from.fctx;
    sanitizer::enter(nullptr, &self->home_->bottom, &self->home_->size);
    self->entry_(self->argument_);
    self->end();
  }
};

void Fibre::start(Stack* stack, std::byte* top, Entry entry, void* argument) {
  stack_ = stack;
  entry_ = entry;
  argument_ = argument;
  saved_ = nullptr;
  context_ = make_fcontext(top, static_cast<size_t>(top - stack->bottom()), &Trampoline::run);
}

bool Fibre::resume(FibreHome& home) {
  home_ = &home;
  home.sanitizer_fibre = sanitizer::current_fibre();
  void* saved = nullptr;
  const size_t size = static_cast<size_t>(stack_->window + image::cpu::kLocalWindow - stack_->bottom());
  sanitizer::leave(&saved, stack_->bottom(), size, stack_->sanitizer_fibre);
  const transfer_t back = jump_fcontext(context_, this);
  sanitizer::enter(saved, nullptr, nullptr);
  context_ = back.data ? back.fctx : nullptr;
  return context_ != nullptr;
}

void Fibre::suspend() {
  sanitizer::leave(&saved_, home_->bottom, home_->size, home_->sanitizer_fibre);
  const transfer_t from = jump_fcontext(home_->context, this);
  home_->context = from.fctx;
  sanitizer::enter(saved_, &home_->bottom, &home_->size);
}

void Fibre::end() {
  sanitizer::leave(nullptr, home_->bottom, home_->size, home_->sanitizer_fibre);
  jump_fcontext(home_->context, nullptr);
  __builtin_unreachable();
}

void Fibre::forget_frames() {
  sanitizer::unpoison(stack_->bottom(),
                      static_cast<size_t>(stack_->window + image::cpu::kLocalWindow - stack_->bottom()));
}

Stack* Fibre::drop() {
  if (context_) forget_frames();
  context_ = nullptr;
  return std::exchange(stack_, nullptr);
}

}  // namespace cupola::cpu
