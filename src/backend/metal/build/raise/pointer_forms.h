#pragma once

#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/IRBuilder.h>

#include <cstdint>

#include "backend/metal/build/raise/pointer_spaces.h"

namespace cupola::metal::build {

/// How a raised module holds a pointer: as one of a space (spaces.h), or as a number, the address that the program
/// sees.
enum class Form { Device, Constant, Shared, Stack, Number };

Form form_in(Memories memory);

/// Of what a raised function takes or returns.
Form form_of(const llvm::Type* type);

llvm::Type* type_of(Form form, llvm::LLVMContext& context);

/// A pointer as the program sees it, of whatever form.
llvm::Value* number_of(llvm::IRBuilderBase& b, llvm::Value* value, Form form);

/// The pointer of that form whose address the program knows as `number`.
llvm::Value* from_number(llvm::IRBuilderBase& b, llvm::Value* number, Form form);

/// Whether a number is an address of the window (spaces.h) that begins there.
llvm::Value* in_window(llvm::IRBuilderBase& b, llvm::Value* number, uint64_t window);

/// Pointers of kir's shared and local spaces are offsets into windows: numbers of their own.
bool is_offset(const llvm::Type* type);

/// What holds each pointer of a module while its pointers get their spaces.
class HeldPointers {
 public:
  explicit HeldPointers(llvm::Module& module) : spaces_(module) {}

  Form form(const llvm::Value* pointer) const;
  Form form_of_result(const llvm::Function& function) const;

  /// In which memories it may lie.
  Memories memories(const llvm::Value* pointer) const { return spaces_.of(pointer); }

  /// `held` stands for the pointer from now on, in the pointer's form.
  void hold(const llvm::Value* pointer, llvm::Value* held) { held_[pointer] = held; }
  /// Null before.
  llvm::Value* held(const llvm::Value* pointer) const { return held_.lookup(pointer); }

  /// The value of a pointer at the builder's place: in that form, in its own, or as a number.
  llvm::Value* value(llvm::IRBuilderBase& b, llvm::Value* pointer, Form wanted) const;
  llvm::Value* value(llvm::IRBuilderBase& b, llvm::Value* pointer) const { return value(b, pointer, form(pointer)); }
  llvm::Value* number(llvm::IRBuilderBase& b, llvm::Value* pointer) const { return value(b, pointer, Form::Number); }

  /// What memory and integers hold of it: the number, or the offset if its type is one of kir's windows.
  llvm::Value* as_integer(llvm::IRBuilderBase& b, llvm::Value* pointer, llvm::Type* type) const;

 private:
  PointerSpaces spaces_;
  llvm::DenseMap<const llvm::Value*, llvm::Value*> held_;
};

}  // namespace cupola::metal::build
