#include <llvm/ADT/STLExtras.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/Support/MathExtras.h>

#include "ptx/lower/emission.h"

// Warp-level matrix instructions. The work is done by the device library (src/device/matrices.cu, which also says where
// the elements of a fragment lie); here registers become its array of words, and back. Tables say which shapes and
// types there are: PTX ISA, "Warp Level Matrix Instructions".

namespace cupola::ptx {
namespace {

using enum Modifier;

/// An element type of A and B, as the library names it.
struct Element {
  std::string_view name;
  unsigned bits;   ///< in memory and, but for tf32's 32, in the register
  unsigned words;  ///< of a register
};

constexpr Element kF16{"f16", 16, 1}, kBf16{"bf16", 16, 1}, kTf32{"tf32", 32, 1}, kF8{"f8", 8, 1}, kF64{"f64", 64, 2},
    kI8{"i8", 8, 1}, kI4{"i4", 4, 1}, kB1{"b1", 1, 1};

/// A shape with its element type: registers of A and B a lane, elements of C and D a lane.
struct Product {
  Modifier shape;
  const Element& element;
  unsigned m, n, k;
  unsigned a, b, c;
};

/// mma.sync.
constexpr Product kFragments[] = {
    {M16n8k8, kF16, 16, 8, 8, 2, 1, 4},    {M16n8k16, kF16, 16, 8, 16, 4, 2, 4},  {M16n8k8, kBf16, 16, 8, 8, 2, 1, 4},
    {M16n8k16, kBf16, 16, 8, 16, 4, 2, 4}, {M16n8k4, kTf32, 16, 8, 4, 2, 1, 4},   {M16n8k8, kTf32, 16, 8, 8, 4, 2, 4},
    {M16n8k16, kF8, 16, 8, 16, 2, 1, 4},   {M16n8k32, kF8, 16, 8, 32, 4, 2, 4},   {M8n8k4, kF64, 8, 8, 4, 1, 1, 2},
    {M16n8k4, kF64, 16, 8, 4, 2, 1, 4},    {M16n8k8, kF64, 16, 8, 8, 4, 2, 4},    {M16n8k16, kF64, 16, 8, 16, 8, 4, 4},
    {M8n8k16, kI8, 8, 8, 16, 1, 1, 2},     {M16n8k16, kI8, 16, 8, 16, 2, 1, 4},   {M16n8k32, kI8, 16, 8, 32, 4, 2, 4},
    {M8n8k32, kI4, 8, 8, 32, 1, 1, 2},     {M16n8k32, kI4, 16, 8, 32, 2, 1, 4},   {M16n8k64, kI4, 16, 8, 64, 4, 2, 4},
    {M8n8k128, kB1, 8, 8, 128, 1, 1, 2},   {M16n8k128, kB1, 16, 8, 128, 2, 1, 4}, {M16n8k256, kB1, 16, 8, 256, 4, 2, 4},
};

/// wmma. Those with 8 rows and 8 columns have mma's fragments, the others' lie in lines.
constexpr Product kLines[] = {
    {M16n16k16, kF16, 16, 16, 16, 8, 8, 8}, {M8n32k16, kF16, 8, 32, 16, 8, 8, 8},
    {M32n8k16, kF16, 32, 8, 16, 8, 8, 8},   {M16n16k16, kBf16, 16, 16, 16, 4, 4, 8},
    {M8n32k16, kBf16, 8, 32, 16, 2, 8, 8},  {M32n8k16, kBf16, 32, 8, 16, 8, 2, 8},
    {M16n16k8, kTf32, 16, 16, 8, 4, 4, 8},  {M16n16k16, kI8, 16, 16, 16, 2, 2, 8},
    {M8n32k16, kI8, 8, 32, 16, 1, 4, 8},    {M32n8k16, kI8, 32, 8, 16, 4, 1, 8},
    {M8n8k4, kF64, 8, 8, 4, 1, 1, 2},       {M8n8k32, kI4, 8, 8, 32, 1, 1, 2},
    {M8n8k128, kB1, 8, 8, 128, 1, 1, 2},
};

bool is_quads(const Product& product) {
  return product.m == 8 && product.n == 8;
}

struct ElementType {
  Type type;
  const Element& element;
};
constexpr ElementType kElementTypes[] = {
    {Type::F16, kF16}, {Type::BF16, kBf16}, {Type::TF32, kTf32}, {Type::E4M3, kF8},
    {Type::E5M2, kF8}, {Type::F64, kF64},   {Type::S8, kI8},     {Type::U8, kI8},
    {Type::S4, kI4},   {Type::U4, kI4},     {Type::B1, kB1},
};

const Element* element_of(Type type) {
  for (const ElementType& each : kElementTypes)
    if (each.type == type) return &each.element;
  return nullptr;
}

const Product* product_of(llvm::ArrayRef<Product> table, const Form& form, const Element* element) {
  for (const Product& each : table)
    if (&each.element == element && form.has(each.shape)) return &each;
  return nullptr;
}

/// What C and D may be. An f16 accumulator goes with f16 and 8-bit floats.
bool accumulates(const Element& element, Type type) {
  if (&element == &kF64) return type == Type::F64;
  if (&element == &kI8 || &element == &kI4 || &element == &kB1) return type == Type::S32;
  return type == Type::F32 || (type == Type::F16 && (&element == &kF16 || &element == &kF8));
}

/// Registers of `elements` accumulators of a type, and the words of each.
unsigned accumulator_registers(unsigned elements, Type type) {
  return type == Type::F16 ? elements / 2 : elements;
}
unsigned words_of(Type type) {
  return type == Type::F64 ? 2 : 1;
}

/// The registers of operand i to words from `first` on. False (and refused) unless there are `count`.
bool put(Emission& e, size_t i, unsigned count, unsigned words, unsigned first) {
  const auto registers = e.elements(i);
  if (registers.size() != count) {
    e.refuse(formatted("operand {} has {} registers; this shape and type have {}", i + 1, registers.size(), count));
    return false;
  }
  for (unsigned r = 0; r < count; ++r)
    e.b.CreateStore(e.read(registers[r], words == 2 ? Type::B64 : Type::B32), e.word(first + r * words));
  return true;
}

/// Words from `first` on to the registers of operand i. All are loaded before the first is written.
bool take(Emission& e, size_t i, unsigned count, unsigned words, unsigned first) {
  const auto registers = e.elements(i);
  if (registers.size() != count) {
    e.refuse(formatted("operand {} has {} registers; this shape and type have {}", i + 1, registers.size(), count));
    return false;
  }
  const Type type = words == 2 ? Type::B64 : Type::B32;
  for (unsigned r = 0; r < count; ++r)
    e.write(registers[r], e.b.CreateLoad(e.value_type(type), e.word(first + r * words)), type);
  return true;
}

/// Flags of src/device/matrices.cu.
enum Flags : uint32_t {
  kSignedA = 1,
  kSignedB = 2,
  kSaturate = 4,
  kHalfC = 8,
  kHalfD = 16,
  kXor = 32,
  kToZero = 64,
  kDown = 128,
  kUp = 192,
};

uint32_t flags_of(const Emission& e, Type d, Type a, Type b, Type c) {
  const auto marked = [](Type type) { return is_signed(type) || type == Type::E5M2; };
  uint32_t flags = (marked(a) ? kSignedA : 0u) | (marked(b) ? kSignedB : 0u);
  if (e.has(Satfinite)) flags |= kSaturate;
  if (c == Type::F16) flags |= kHalfC;
  if (d == Type::F16) flags |= kHalfD;
  if (e.has(Xor)) flags |= kXor;
  if (e.has(Rz)) flags |= kToZero;
  if (e.has(Rm)) flags |= kDown;
  if (e.has(Rp)) flags |= kUp;
  return flags;
}

/// D = A B + C by the library's function for this product.
void multiply(Emission& e, std::string_view opcode, const Product& product, Type d, Type a, Type b, Type c) {
  const Element& element = product.element;
  if (!accumulates(element, d) || !accumulates(element, c))
    return e.refuse(formatted("there is no product of {} with these types of C and D", text_of(a)));
  const bool is_integer = c == Type::S32;
  if (e.has(Satfinite) && (!is_integer || &element == &kB1))
    return e.refuse(".satfinite is for integers; for floating-point numbers PTX ISA 6.5 removed it");
  const bool directed = e.any(Rz, Rm, Rp);
  if (e.any(Rn, Rz, Rm, Rp) && &element != &kF64) return e.refuse("a rounding is for .f64 only");
  const unsigned words_c = words_of(c), first_b = product.a * element.words,
                 first_c = first_b + product.b * element.words;
  if (!put(e, 1, product.a, element.words, 0) || !put(e, 2, product.b, element.words, first_b)) return;
  if (!put(e, 3, accumulator_registers(product.c, c), words_c, first_c)) return;
  e.call_library(
      formatted("__cupola_ptx_{}_{}_{}{}", opcode, text_of(product.shape), element.name, directed ? "_directed" : ""),
      e.b.getVoidTy(), {e.words(), e.i32(flags_of(e, d, a, b, c))});
  take(e, 0, accumulator_registers(product.c, d), words_c, first_c);
}

/// Both operands' layouts. The words come in the order of the text.
bool is_row_col(const Emission& e) {
  unsigned rows = 0, columns = 0;
  for (const Modifier modifier : e.form().modifiers) {
    if (modifier == Row && columns) return false;
    rows += modifier == Row, columns += modifier == Col;
  }
  return rows == 1 && columns == 1;
}

// -- fragments in memory --

/// How a matrix lies in fragments: a lane has `count` elements, side by side, of a line. A line is a row, or a column
/// where `along_column`.
struct Placement {
  unsigned lines, length;  ///< elements, or words of those narrower than a byte
  unsigned count;
  bool quads;  ///< lane / 4 is the line, lane % 4 the piece; else lane % lines, lane / lines
  bool along_column;
  unsigned bits;        ///< of an element in memory
  unsigned registers;   ///< of the fragment
  unsigned words;       ///< of a register
  unsigned leading[2];  ///< the least stride, if rows and if columns are contiguous
  unsigned narrow = 1;  ///< elements in one of memory's
};

uint32_t encoded(const Placement& p) {
  const unsigned pieces = p.length / p.count;
  const unsigned line_shift = p.quads ? 2 : 0, piece_shift = p.quads ? 0 : llvm::Log2_32(p.lines);
  return (p.lines - 1) | (pieces - 1) << 8 | line_shift << 16 | piece_shift << 20;
}

/// A or B of a product.
Placement factor_placement(const Product& product, bool is_a) {
  const Element& element = product.element;
  const bool quads = is_quads(product);
  Placement p{};
  p.quads = quads;
  p.along_column = quads && !is_a;
  p.lines = is_a ? product.m : quads ? product.n : product.k;
  p.length = is_a || quads ? product.k : product.n;
  p.bits = element.bits;
  p.registers = is_a ? product.a : product.b;
  p.words = element.words;
  p.count = std::min(p.registers * p.words * 32 / p.bits, p.length);
  p.leading[0] = is_a ? product.k : product.n;
  p.leading[1] = is_a ? product.m : product.k;
  if (p.bits < 8) {
    p.narrow = 32 / p.bits;
    p.bits = 32, p.count /= p.narrow, p.length /= p.narrow;
  }
  return p;
}

Placement accumulator_placement(const Product& product, Type type) {
  Placement p{};
  p.quads = is_quads(product);
  p.lines = product.m, p.length = product.n, p.count = product.c;
  p.bits = bits_of(type);
  p.registers = accumulator_registers(product.c, type);
  p.words = words_of(type);
  p.leading[0] = product.n, p.leading[1] = product.m;
  return p;
}

/// The placement of what wmma.load or wmma.store moves, or nothing.
std::optional<Placement> placement_of(const Emission& e) {
  const Type type = e.type();
  if (e.any(MatrixA, MatrixB)) {
    const Product* product = product_of(kLines, e.form(), element_of(type));
    if (!product) return std::nullopt;
    return factor_placement(*product, e.has(MatrixA));
  }
  for (const Product& each : kLines)
    if (e.has(each.shape) && accumulates(each.element, type)) return accumulator_placement(each, type);
  return std::nullopt;
}

/// wmma.load.* and wmma.store.*: `fragment` and `memory` are the operands' numbers.
void move_fragment(Emission& e, bool is_load, size_t fragment, size_t memory) {
  const std::optional<Placement> p = placement_of(e);
  if (!p) return e.refuse("there is no such matrix: the shape does not go with the type");
  const bool by_column = e.has(Col);
  if (p->narrow > 1 && by_column != p->along_column) return e.refuse("matrices of 1 and 4 bits: A is .row, B is .col");
  llvm::Type* generic = e.b.getPtrTy();
  Value* matrix = e.address(memory, e.form().space());
  if (matrix->getType() != generic) matrix = e.b.CreateAddrSpaceCast(matrix, generic);
  Value* stride = e.count() > 2 ? e.read(2, Type::U32) : e.i32(p->leading[by_column]);
  if (p->narrow > 1) stride = e.b.CreateUDiv(stride, e.i32(p->narrow));
  Value *line_step = stride, *step = e.i32(1);
  if (by_column != p->along_column) std::swap(line_step, step);
  const auto call = [&](std::string_view what, Value* from, Value* to) {
    e.call_library(formatted("__cupola_ptx_matrix_{}_{}", what, p->bits), e.b.getVoidTy(),
                   {from, to, line_step, step, e.i32(encoded(*p)), e.i32(p->count)});
  };
  if (!is_load) {
    if (put(e, fragment, p->registers, p->words, 0)) call("store", e.words(), matrix);
    return;
  }
  // A fragment larger than a line is filled up.
  for (unsigned i = p->count * p->bits / 32; i < p->registers * p->words; ++i) e.b.CreateStore(e.i32(0), e.word(i));
  call("load", e.words(), matrix);
  take(e, fragment, p->registers, p->words, 0);
}

unsigned matrices_of(const Emission& e) {
  return e.has(X4) ? 4 : e.has(X2) ? 2 : 1;
}

}  // namespace

namespace emit {

void matrix_load(Emission& e) {
  move_fragment(e, true, 0, 1);
}

void matrix_store(Emission& e) {
  move_fragment(e, false, 1, 0);
}

void matrix_multiply(Emission& e) {
  const std::vector<Type>& types = e.form().types;
  const bool halves = types.size() == 2;  // the form of f16 names D and C only
  const Type d = types.front(), c = types.back(), a = halves ? Type::F16 : types[1], b = halves ? Type::F16 : types[2];
  const Product* product = product_of(kLines, e.form(), element_of(a));
  if (!product || element_of(b) != &product->element || (a != b && c != Type::S32))
    return e.refuse("the shape does not go with the types");
  const bool narrow = product->element.bits < 8;
  if (narrow && !is_row_col(e)) return e.refuse("matrices of 1 and 4 bits: A is .row, B is .col");
  multiply(e, is_quads(*product) ? "mma" : "wmma", *product, d, a, b, c);
}

void matrix_multiply_fragments(Emission& e) {
  const std::vector<Type>& types = e.form().types;
  const Product* product = product_of(kFragments, e.form(), element_of(types[1]));
  if (!product && e.has(M8n8k4))
    return e.refuse("the m8n8k4 product of .f16, of sm_70 only, is not supported; use .m16n8k8 or wmma");
  const bool mixed = product && (&product->element == &kI8 || &product->element == &kI4 || &product->element == &kF8);
  if (!product || element_of(types[2]) != &product->element || (types[1] != types[2] && !mixed) || types[0] != types[3])
    return e.refuse("the shape does not go with the types");
  if (!is_row_col(e)) return e.refuse("A is .row, B is .col");
  multiply(e, "mma", *product, types[0], types[1], types[2], types[3]);
}

void matrix_load_shared(Emission& e) {
  const unsigned count = matrices_of(e);
  e.call_library("__cupola_ptx_load_matrices", e.b.getVoidTy(),
                 {e.words(), e.generic_address(1, e.form().space()), e.i32(count), e.i32(e.has(Trans))});
  take(e, 0, count, 1, 0);
}

void matrix_store_shared(Emission& e) {
  const unsigned count = matrices_of(e);
  if (!put(e, 1, count, 1, 0)) return;
  e.call_library("__cupola_ptx_store_matrices", e.b.getVoidTy(),
                 {e.generic_address(0, e.form().space()), e.words(), e.i32(count), e.i32(e.has(Trans))});
}

void matrix_transpose(Emission& e) {
  e.write(0, e.call_library("__cupola_ptx_transpose_matrix", e.b.getInt32Ty(), {e.read(1)}));
}

}  // namespace emit
}  // namespace cupola::ptx
