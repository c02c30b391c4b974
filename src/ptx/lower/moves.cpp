#include "ptx/lower/emission.h"

// PTX ISA, "Data Movement and Conversion Instructions": mov, cvta, isspacep; selp and slct.

namespace cupola::ptx::emit {
/// mov: copies, packs "{a, b}" and takes it apart again, takes addresses and special registers; .v2 and .v4 copy
/// vectors element by element.
void move(Emission& e) {
  const unsigned width = e.form().vector();
  if (width == 1) return e.write(0, e.read(1));
  llvm::SmallVector<Value*, 8> values;
  for (unsigned i = 0; i < width; ++i) values.push_back(e.read(e.element(1, i), e.type()));
  for (unsigned i = 0; i < width; ++i) e.write(e.element(0, i), values[i], e.type());
}

/// cvta[.to]: addresses of the global, constant, local and parameter spaces are generic ones. Shared addresses differ.
void convert_address(Emission& e) {
  if (bits_of(e.type()) != 64)
    return e.refuse("generic addresses have 64 bits; compile the program with .address_size 64");
  Value* from = e.read(1);
  if (e.form().space() != Space::Shared) return e.write(0, from);
  llvm::Type* shared = e.b.getPtrTy(address_space(Space::Shared));
  llvm::Type* generic = e.b.getPtrTy();
  const bool to = e.has(Modifier::To);
  Value* pointer = e.b.CreateIntToPtr(from, to ? generic : shared);
  e.write(0, e.b.CreatePtrToInt(e.b.CreateAddrSpaceCast(pointer, to ? shared : generic), e.b.getInt64Ty()));
}

void is_space(Emission& e) {
  Id::ID id = Id::not_intrinsic;
  switch (e.form().space()) {
    case Space::Shared:  // a block is its own cluster
      id = Id::nvvm_isspacep_shared;
      break;
    case Space::Global:
      id = Id::nvvm_isspacep_global;
      break;
    case Space::Local:
      id = Id::nvvm_isspacep_local;
      break;
    case Space::Const:
      id = Id::nvvm_isspacep_const;
      break;
    case Space::Param:  // parameters lie in global memory and have no window
      return e.write(0, e.b.getFalse());
    case Space::Generic:
    case Space::Reg:
    case Space::Tex:
      return e.refuse("there are no addresses in this space");
  }
  e.write(0, e.call(id, {e.b.CreateIntToPtr(e.read(1, Type::B64), e.b.getPtrTy())}));
}

void select(Emission& e) {
  e.write(0, e.b.CreateSelect(e.read(3), e.read(1), e.read(2)));
}

/// slct: a where c >= 0, else b, so b for NaN; -0 is 0. With .ftz a denormal is one too.
void select_by_sign(Emission& e) {
  Value* c = e.read(3);
  Value* first = nullptr;
  if (!c->getType()->isFloatTy())
    first = e.b.CreateICmpSGE(c, e.i32(0));
  else if (e.has(Modifier::Ftz))
    first = e.b.CreateFCmpOGT(c, llvm::ConstantFP::get(c->getType(), -0x1p-126));
  else
    first = e.b.CreateFCmpOGE(c, llvm::ConstantFP::get(c->getType(), 0));
  e.write(0, e.b.CreateSelect(first, e.read(1), e.read(2)));
}

}  // namespace cupola::ptx::emit
