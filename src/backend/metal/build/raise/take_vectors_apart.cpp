// LLVM's Scalarizer computes vectors element by element, as long as both what makes a vector and what takes it are
// vector operations. Here the others become such: the signatures of functions, casts between vectors and numbers,
// volatile accesses, vectors of bits in memory, and sums over a vector's elements.

#include "backend/metal/build/raise/take_vectors_apart.h"

#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/AttributeMask.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>
#include <llvm/Transforms/Scalar/ADCE.h>
#include <llvm/Transforms/Scalar/EarlyCSE.h>
#include <llvm/Transforms/Scalar/SROA.h>
#include <llvm/Transforms/Scalar/Scalarizer.h>

#include "kir/kir.h"
#include "kir/pass_analyses.h"

namespace cupola::metal::build {
namespace {

using llvm::FixedVectorType;
using llvm::Type;
using llvm::Value;

bool holds_vector(const Type* type) {
  if (type->isVectorTy()) return true;
  return llvm::any_of(type->subtypes(), [](const Type* part) { return holds_vector(part); });
}

/// The type with a structure of the elements for each vector.
Type* with_structures(Type* type) {
  if (!holds_vector(type)) return type;
  llvm::SmallVector<Type*, 8> parts;
  if (auto* vector = llvm::dyn_cast<FixedVectorType>(type)) {
    parts.assign(vector->getNumElements(), vector->getElementType());
    return llvm::StructType::get(type->getContext(), parts);
  }
  if (auto* array = llvm::dyn_cast<llvm::ArrayType>(type))
    return llvm::ArrayType::get(with_structures(array->getElementType()), array->getNumElements());
  for (Type* part : type->subtypes()) parts.push_back(with_structures(part));
  if (type->isFunctionTy()) {
    Type* result = parts.front();
    return llvm::FunctionType::get(result, llvm::ArrayRef(parts).drop_front(), type->isFunctionVarArg());
  }
  return llvm::StructType::get(type->getContext(), parts, llvm::cast<llvm::StructType>(type)->isPacked());
}

uint64_t parts_of(const Type* type) {
  if (auto* vector = llvm::dyn_cast<FixedVectorType>(type)) return vector->getNumElements();
  return type->isArrayTy() ? type->getArrayNumElements() : type->getStructNumElements();
}

/// The value as what it is in a signature, or from there.
Value* rearranged(llvm::IRBuilder<>& b, Value* value, Type* to) {
  if (value->getType() == to) return value;
  Value* whole = llvm::PoisonValue::get(to);
  for (unsigned i = 0; i < parts_of(to); ++i) {
    Value* part = value->getType()->isVectorTy() ? b.CreateExtractElement(value, i) : b.CreateExtractValue(value, i);
    if (to->isVectorTy()) {
      whole = b.CreateInsertElement(whole, part, i);
    } else {
      part = rearranged(b, part, llvm::ExtractValueInst::getIndexedType(to, i));
      whole = b.CreateInsertValue(whole, part, i);
    }
  }
  return whole;
}

llvm::FunctionType* with_structures(llvm::FunctionType* type) {
  return llvm::cast<llvm::FunctionType>(with_structures(static_cast<Type*>(type)));
}

template <typename Callee>
void drop_attributes_of_vectors(Callee& callee) {
  const llvm::FunctionType& type = *callee.getFunctionType();
  callee.removeRetAttrs(llvm::AttributeFuncs::typeIncompatible(type.getReturnType(), {}));
  for (unsigned i = 0; i < type.getNumParams(); ++i)
    callee.removeParamAttrs(i, llvm::AttributeFuncs::typeIncompatible(type.getParamType(i), {}));
}

/// The function's code moves to one whose signature has no vectors.
void replace_signature(llvm::Function& function) {
  auto* made = llvm::Function::Create(with_structures(function.getFunctionType()), function.getLinkage(),
                                      function.getAddressSpace());
  function.getParent()->getFunctionList().insert(function.getIterator(), made);
  made->copyAttributesFrom(&function);
  made->copyMetadata(&function, 0);
  made->takeName(&function);
  made->splice(made->end(), &function);
  llvm::IRBuilder<> b(&made->getEntryBlock(), made->getEntryBlock().getFirstInsertionPt());
  for (auto [old, argument] : llvm::zip(function.args(), made->args())) {
    argument.takeName(&old);
    old.replaceAllUsesWith(rearranged(b, &argument, old.getType()));
  }
  for (llvm::BasicBlock& block : *made)
    if (auto* end = llvm::dyn_cast<llvm::ReturnInst>(block.getTerminator()); end && end->getReturnValue()) {
      b.SetInsertPoint(end);
      end->setOperand(0, rearranged(b, end->getReturnValue(), made->getReturnType()));
    }
  drop_attributes_of_vectors(*made);
  function.replaceAllUsesWith(made);
  function.eraseFromParent();
}

void replace_call(llvm::CallInst& call) {
  llvm::FunctionType* type = with_structures(call.getFunctionType());
  llvm::IRBuilder<> b(&call);
  llvm::SmallVector<Value*, 8> arguments;
  for (auto [argument, parameter] : llvm::zip(call.args(), type->params()))
    arguments.push_back(rearranged(b, argument, parameter));
  llvm::CallInst* made = b.CreateCall(type, call.getCalledOperand(), arguments);
  made->setAttributes(call.getAttributes());
  made->setCallingConv(call.getCallingConv());
  made->setTailCallKind(call.getTailCallKind());
  made->copyMetadata(call);
  drop_attributes_of_vectors(*made);
  made->takeName(&call);
  call.replaceAllUsesWith(rearranged(b, made, call.getType()));
  call.eraseFromParent();
}

/// Of functions and their calls, those through pointers too. What is only declared keeps its own.
void replace_signatures(llvm::Module& module) {
  for (llvm::Function& function : llvm::make_early_inc_range(module))
    if (!function.isDeclaration() && !kir::is_kernel(function) && holds_vector(function.getFunctionType()))
      replace_signature(function);
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function))) {
      auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
      if (!call || !holds_vector(call->getFunctionType())) continue;
      const llvm::Function* callee = call->getCalledFunction();  // null where the types differ, too
      if (!callee || !callee->isDeclaration()) replace_call(*call);
    }
}

/// Its elements in order; a number is the one that it is.
llvm::SmallVector<Value*, 16> elements_of(llvm::IRBuilder<>& b, Value* value) {
  auto* vector = llvm::dyn_cast<FixedVectorType>(value->getType());
  if (!vector) return {value};
  llvm::SmallVector<Value*, 16> elements;
  for (unsigned i = 0; i < vector->getNumElements(); ++i) elements.push_back(b.CreateExtractElement(value, i));
  return elements;
}

Value* value_of(llvm::IRBuilder<>& b, llvm::ArrayRef<Value*> elements, Type* type) {
  if (!type->isVectorTy()) return elements.front();
  Value* whole = llvm::PoisonValue::get(type);
  for (const auto& [i, element] : llvm::enumerate(elements)) whole = b.CreateInsertElement(whole, element, i);
  return whole;
}

/// Integers one behind the other, the first the lowest, as ones of another width.
llvm::SmallVector<Value*, 16> of_width(llvm::IRBuilder<>& b, llvm::ArrayRef<Value*> words, unsigned to) {
  const unsigned from = words.front()->getType()->getIntegerBitWidth();
  llvm::SmallVector<Value*, 16> made;
  if (from >= to && from % to == 0) {
    for (Value* word : words)
      for (unsigned at = 0; at < from; at += to) made.push_back(b.CreateTrunc(b.CreateLShr(word, at), b.getIntNTy(to)));
    return made;
  }
  if (to % from != 0) {  // three of 16 bits as two of 24
    const auto all = static_cast<unsigned>(words.size() * from);
    return of_width(b, of_width(b, words, all), to);
  }
  const unsigned each = to / from;
  for (size_t i = 0; i < words.size(); i += each) {
    Value* word = b.CreateZExt(words[i], b.getIntNTy(to));
    for (unsigned k = 1; k < each; ++k)
      word = b.CreateOr(word, b.CreateShl(b.CreateZExt(words[i + k], b.getIntNTy(to)), k * from));
    made.push_back(word);
  }
  return made;
}

/// A cast between vectors of different lengths, or of a vector and a number. The Scalarizer does the others.
void replace_cast(llvm::BitCastInst& cast) {
  const auto count = [](Type* type) { return type->isVectorTy() ? parts_of(type) : 0; };
  if (count(cast.getSrcTy()) == count(cast.getDestTy())) return;
  llvm::IRBuilder<> b(&cast);
  const auto word_of = [&](Type* type) { return b.getIntNTy(type->getScalarSizeInBits()); };
  llvm::SmallVector<Value*, 16> words = elements_of(b, cast.getOperand(0));
  for (Value*& word : words) word = b.CreateBitCast(word, word_of(word->getType()));
  words = of_width(b, words, cast.getDestTy()->getScalarSizeInBits());
  for (Value*& word : words) word = b.CreateBitCast(word, cast.getDestTy()->getScalarType());
  cast.replaceAllUsesWith(value_of(b, words, cast.getDestTy()));
  cast.eraseFromParent();
}

/// Vectors of bits lie in memory as one number; an element of a volatile vector is read or written once.
template <typename Access>  // a load or a store
void replace_access(Access& access, Type* type, Value* stored) {
  auto* vector = llvm::dyn_cast<FixedVectorType>(type);
  if (!vector || access.isAtomic()) return;
  llvm::IRBuilder<> b(&access);
  const llvm::DataLayout& layout = access.getDataLayout();
  const unsigned bits = vector->getScalarSizeInBits();
  const auto read_or_write = [&](Type* part, uint64_t offset, Value* value) -> Value* {
    Value* place = b.CreatePtrAdd(access.getPointerOperand(), b.getInt64(offset));
    const llvm::Align alignment = llvm::commonAlignment(access.getAlign(), offset);
    if (value) return b.CreateAlignedStore(value, place, alignment, access.isVolatile());
    return b.CreateAlignedLoad(part, place, alignment, access.isVolatile());
  };
  Value* read = nullptr;
  if (bits % 8 != 0) {
    Type* number = b.getIntNTy(static_cast<unsigned>(layout.getTypeSizeInBits(vector)));
    read = read_or_write(number, 0, stored ? b.CreateBitCast(stored, number) : nullptr);
    if (!stored) read = b.CreateBitCast(read, vector);
  } else if (access.isVolatile()) {
    llvm::SmallVector<Value*, 16> elements;
    if (stored) elements = elements_of(b, stored);
    elements.resize(vector->getNumElements());
    for (auto [i, element] : llvm::enumerate(elements))
      element = read_or_write(vector->getElementType(), i * (bits / 8), element);
    if (!stored) read = value_of(b, elements, vector);
  } else {
    return;
  }
  if (!stored) access.replaceAllUsesWith(read);
  access.eraseFromParent();
}

struct ReductionRow {
  llvm::Intrinsic::ID vector;
  llvm::Instruction::BinaryOps operation;
  llvm::Intrinsic::ID intrinsic;  ///< in place of the operation, if it is one
};
constexpr llvm::Instruction::BinaryOps kNoOperation = llvm::Instruction::BinaryOpsEnd;
constexpr ReductionRow kReductions[] = {
    {llvm::Intrinsic::vector_reduce_add, llvm::Instruction::Add, llvm::Intrinsic::not_intrinsic},
    {llvm::Intrinsic::vector_reduce_mul, llvm::Instruction::Mul, llvm::Intrinsic::not_intrinsic},
    {llvm::Intrinsic::vector_reduce_and, llvm::Instruction::And, llvm::Intrinsic::not_intrinsic},
    {llvm::Intrinsic::vector_reduce_or, llvm::Instruction::Or, llvm::Intrinsic::not_intrinsic},
    {llvm::Intrinsic::vector_reduce_xor, llvm::Instruction::Xor, llvm::Intrinsic::not_intrinsic},
    {llvm::Intrinsic::vector_reduce_smin, kNoOperation, llvm::Intrinsic::smin},
    {llvm::Intrinsic::vector_reduce_smax, kNoOperation, llvm::Intrinsic::smax},
    {llvm::Intrinsic::vector_reduce_umin, kNoOperation, llvm::Intrinsic::umin},
    {llvm::Intrinsic::vector_reduce_umax, kNoOperation, llvm::Intrinsic::umax},
};

void replace_reduction(llvm::IntrinsicInst& call) {
  const auto* row = llvm::find_if(kReductions, [&](const auto& each) { return each.vector == call.getIntrinsicID(); });
  if (row == std::end(kReductions)) return;
  llvm::IRBuilder<> b(&call);
  const llvm::SmallVector<Value*, 16> elements = elements_of(b, call.getArgOperand(0));
  Value* all = elements.front();
  for (Value* element : llvm::ArrayRef(elements).drop_front())
    all = row->operation == kNoOperation ? b.CreateBinaryIntrinsic(row->intrinsic, all, element)
                                         : b.CreateBinOp(row->operation, all, element);
  call.replaceAllUsesWith(all);
  call.eraseFromParent();
}

/// An element of a structure with vectors, where the code says what was put there.
void replace_extract(llvm::ExtractValueInst& extract) {
  if (!holds_vector(extract.getAggregateOperand()->getType())) return;
  Value* put = llvm::FindInsertedValue(extract.getAggregateOperand(), extract.getIndices());
  if (!put) return;
  extract.replaceAllUsesWith(put);
  extract.eraseFromParent();
}

void prepare(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
      replace_access(*load, load->getType(), nullptr);
    else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction))
      replace_access(*store, store->getValueOperand()->getType(), store->getValueOperand());
    else if (auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction))
      replace_reduction(*call);
    else if (auto* extract = llvm::dyn_cast<llvm::ExtractValueInst>(&instruction))
      replace_extract(*extract);
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(function)))  // those, too
    if (auto* cast = llvm::dyn_cast<llvm::BitCastInst>(&instruction)) replace_cast(*cast);
}

bool has_vectors(llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    return holds_vector(instruction.getType()) || llvm::any_of(instruction.operand_values(), [](const Value* value) {
             return holds_vector(value->getType());
           });
  });
}

}  // namespace

void take_vectors_apart(llvm::Module& module) {
  replace_signatures(module);
  for (llvm::Function& function : module) {
    if (function.isDeclaration() || !has_vectors(function)) continue;
    kir::PassAnalyses analyses;
    llvm::FunctionPassManager before;
    before.addPass(llvm::SROAPass(llvm::SROAOptions::PreserveCFG));
    before.run(function, analyses.functions);
    prepare(function);
    analyses.functions.invalidate(function, llvm::PreservedAnalyses::none());
    llvm::ScalarizerPassOptions options;
    options.ScalarizeLoadStore = true;
    llvm::FunctionPassManager scalarize;
    scalarize.addPass(llvm::ScalarizerPass(options));
    scalarize.addPass(llvm::EarlyCSEPass());
    scalarize.addPass(llvm::ADCEPass());  // structures that were rearranged
    scalarize.run(function, analyses.functions);
  }
}

}  // namespace cupola::metal::build
