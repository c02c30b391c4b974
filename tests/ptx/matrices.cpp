// Warp-level matrix instructions end to end: PTX text through the driver API, whole matrices against a sum in double.
//
// Oracle: matrix_numbers.h for the values; for mma.sync, ldmatrix, stmatrix and movmatrix the element-to-lane tables of
// "PTX ISA, Warp Level Matrix Instructions", written down below figure by figure, not as the one rule that the
// implementation has; for wmma, whose fragments are opaque, the matrices in memory alone. Every element of A, B and C
// is different, so that a wrong layout cannot pass. Runs on NVIDIA's driver as well.
//
//   ptx-matrices [FILE]   runs all cases; FILE lists forms, one a line, which the cases must hold: scripts/ptx_table.py
//                         counts them as tested

#include <cuda.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <functional>
#include <string>

#include "matrix_fragments.h"

namespace cupola::ptxtest {
namespace {

using std::to_string;

// -- bits in memory --

using Bytes = std::vector<uint8_t>;

void put_bits(Bytes& bytes, size_t first, unsigned count, uint64_t value) {
  if (bytes.size() * 8 < first + count) bytes.resize((first + count + 7) / 8);
  for (unsigned i = 0; i < count; ++i)
    if (value >> i & 1) bytes[(first + i) / 8] |= static_cast<uint8_t>(1u << (first + i) % 8);
}
uint64_t get_bits(const Bytes& bytes, size_t first, unsigned count) {
  uint64_t value = 0;
  for (unsigned i = 0; i < count; ++i)
    value |= uint64_t{bytes[(first + i) / 8]} >> (first + i) % 8 & 1 ? uint64_t{1} << i : 0;
  return value;
}

unsigned bits_of(Number number) {
  return format_of(number).bits;
}
std::string text_of(Number number) {
  return format_of(number).text;
}

/// Elements of a matrix that a lane holds.
unsigned held(const Matrix& matrix) {
  return matrix.rows * matrix.columns / 32;
}

/// A matrix as all lanes' registers, lane by lane, and back.
Bytes to_lanes(const Matrix& matrix, PlaceOf place) {
  Bytes bytes;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < held(matrix); ++i) {
      const Place at = place(lane / 4, lane % 4, i);
      put_bits(bytes, (size_t{lane} * held(matrix) + i) * bits_of(matrix.number), bits_of(matrix.number),
               matrix.at(at.row, at.column));
    }
  bytes.resize(size_t{held(matrix)} * bits_of(matrix.number) * 4);
  return bytes;
}
void from_lanes(Matrix& matrix, PlaceOf place, const Bytes& bytes) {
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < held(matrix); ++i) {
      const Place at = place(lane / 4, lane % 4, i);
      matrix.at(at.row, at.column) =
          get_bits(bytes, (size_t{lane} * held(matrix) + i) * bits_of(matrix.number), bits_of(matrix.number));
    }
}

// -- cases --

/// A kernel `name` with four pointers, what they point to and the check of what it leaves behind the last.
struct Case {
  std::string name, body;
  unsigned version, target;
  Bytes inputs[3];
  size_t result_bytes;
  std::function<std::string(const Bytes&)> check;  ///< what is wrong, or nothing
};

std::string registers(const std::string& name, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += (i ? ", " : "") + name + to_string(i);
  return "{" + text + "}";
}
std::string declare(const std::string& type, const std::string& name, unsigned count) {
  return ".reg ." + type + " " + name + "<" + to_string(count) + ">;\n";
}

std::string compared(const Matrix& a, const Matrix& b, const Matrix& c, const Matrix& d, Rule rule) {
  unsigned row = 0, column = 0;
  double expected = 0;
  if (agrees(a, b, c, d, rule, row, column, expected)) return {};
  char text[128];
  snprintf(text, sizeof text, "row %u, column %u: %.17g, expected %.17g", row, column, d.value(row, column), expected);
  return text;
}

unsigned register_bits(Number number) {
  return number == F64 ? 64 : 32;
}

/// `name` becomes a fragment of `count` registers, loaded from the lane's piece at `pointer`.
std::string load_lane(const std::string& name, const std::string& pointer, unsigned count, unsigned bits) {
  const std::string type = "b" + to_string(bits);
  std::string text = declare(type, name, count) + "mad.wide.u32 address, lane, " + to_string(count * bits / 8) + ", " +
                     pointer + ";\n";
  for (unsigned i = 0; i < count; ++i)
    text += "ld.global." + type + " " + name + to_string(i) + ", [address+" + to_string(i * bits / 8) + "];\n";
  return text;
}
std::string store_lane(const std::string& name, const std::string& pointer, unsigned count, unsigned bits) {
  const std::string type = "b" + to_string(bits);
  std::string text = "mad.wide.u32 address, lane, " + to_string(count * bits / 8) + ", " + pointer + ";\n";
  for (unsigned i = 0; i < count; ++i)
    text += "st.global." + type + " [address+" + to_string(i * bits / 8) + "], " + name + to_string(i) + ";\n";
  return text;
}

void add_mma(std::vector<Case>& cases, const Fragments& shape, Number x, Number y, Number sum, Rule rule) {
  std::mt19937_64 random(cases.size());
  Matrix a(x, shape.m, shape.k), b(y, shape.k, 8), c(sum, shape.m, 8);
  a.fill(random), b.fill(random), c.fill(random);
  const PlaceOf place = shape.m == 16 ? c16 : c8;
  const auto count = [](const Matrix& matrix) {
    return held(matrix) * bits_of(matrix.number) / register_bits(matrix.number);
  };
  const std::string s = text_of(sum);
  const std::string form = "mma.sync.aligned.m" + to_string(shape.m) + "n8k" + to_string(shape.k) + ".row.col" +
                           (rule.saturate ? ".satfinite" : "") + rule.rounding + "." + s + "." + text_of(x) + "." +
                           text_of(y) + "." + s +
                           (rule.bits == Rule::Bits::And   ? ".and.popc"
                            : rule.bits == Rule::Bits::Xor ? ".xor.popc"
                                                           : "");
  const unsigned bits = register_bits(sum);
  const std::string body = load_lane("a", "p0", count(a), register_bits(x)) +
                           load_lane("b", "p1", count(b), register_bits(y)) + load_lane("c", "p2", count(c), bits) +
                           declare("b" + to_string(bits), "d", count(c)) + form + " " + registers("d", count(c)) +
                           ", " + registers("a", count(a)) + ", " + registers("b", count(b)) + ", " +
                           registers("c", count(c)) + ";\n" + store_lane("d", "p3", count(c), bits);
  cases.push_back({form,
                   body,
                   shape.version,
                   shape.target,
                   {to_lanes(a, shape.a), to_lanes(b, shape.b), to_lanes(c, place)},
                   size_t{shape.m} * 8 * bits_of(sum) / 8,
                   [=](const Bytes& bytes) {
                     Matrix d(sum, shape.m, 8);
                     from_lanes(d, place, bytes);
                     return compared(a, b, c, d, rule);
                   }});
}

void add_all_mma(std::vector<Case>& cases) {
  for (const Fragments& shape : all_fragments())
    for (const auto& [x, y] : shape.factors)
      for (const Number sum : shape.sums) {
        if (x == B1) {
          add_mma(cases, shape, x, y, sum, {.bits = Rule::Bits::And});
          add_mma(cases, shape, x, y, sum, {.bits = Rule::Bits::Xor});
          continue;
        }
        add_mma(cases, shape, x, y, sum, {});
        if (sum == F64)
          for (const char* rounding : {".rz", ".rm", ".rp"}) add_mma(cases, shape, x, y, sum, {.rounding = rounding});
        if (sum == S32) add_mma(cases, shape, x, y, sum, {.saturate = true});
      }
}

// -- wmma --

/// A matrix in memory, with a stride in elements.
Bytes in_memory(const Matrix& matrix, bool by_column, unsigned stride) {
  Bytes bytes;
  for (unsigned row = 0; row < matrix.rows; ++row)
    for (unsigned column = 0; column < matrix.columns; ++column)
      put_bits(bytes,
               (by_column ? size_t{column} * stride + row : size_t{row} * stride + column) * bits_of(matrix.number),
               bits_of(matrix.number), matrix.at(row, column));
  bytes.resize((bytes.size() + 127) / 128 * 128);
  return bytes;
}

struct Opaque {
  unsigned m, n, k;
  Number factor;
  std::vector<Number> sums;
  unsigned registers_a, registers_b, sums_held;
};

const std::vector<Opaque>& all_opaque() {
  static const auto& all = *new std::vector<Opaque>{
      {16, 16, 16, F16, {F16, F32}, 8, 8, 8}, {8, 32, 16, F16, {F16, F32}, 8, 8, 8},
      {32, 8, 16, F16, {F16, F32}, 8, 8, 8},  {16, 16, 16, BF16, {F32}, 4, 4, 8},
      {8, 32, 16, BF16, {F32}, 2, 8, 8},      {32, 8, 16, BF16, {F32}, 8, 2, 8},
      {16, 16, 8, TF32, {F32}, 4, 4, 8},      {8, 8, 4, F64, {F64}, 1, 1, 2},
      {16, 16, 16, S8, {S32}, 2, 2, 8},       {8, 32, 16, S8, {S32}, 1, 4, 8},
      {32, 8, 16, S8, {S32}, 4, 1, 8},        {16, 16, 16, U8, {S32}, 2, 2, 8},
      {8, 32, 16, U8, {S32}, 1, 4, 8},        {32, 8, 16, U8, {S32}, 4, 1, 8},
      {8, 8, 32, S4, {S32}, 1, 1, 2},         {8, 8, 32, U4, {S32}, 1, 1, 2},
      {8, 8, 128, B1, {S32}, 1, 1, 2},
  };
  return all;
}

/// Layouts by bits: 1 A by columns, 2 B by columns, 4 C by columns, 8 D by columns. Strides are as small as they may
/// be, and then not given, or larger. Space 0 generic, 1 global, 2 shared.
struct Arrangement {
  unsigned layouts = 0;
  bool loose = false;
  unsigned space = 0;
};

struct Operand {
  std::string piece;  ///< "a"
  const Matrix* matrix;
  bool by_column;
  unsigned stride, registers;
};

std::string fragment_type(Number number) {
  return number == F64 ? "f64" : number == F32 ? "f32" : "b32";
}

/// Copies between shared and global memory, 4 bytes a lane and step.
std::string copy(const std::string& shared, const std::string& pointer, size_t bytes, bool to_shared) {
  std::string text;
  for (size_t at = 0; at < bytes; at += 128) {
    text += to_shared ? "ld.global.b32 word, [" + pointer + "_lane+" + to_string(at) + "];\nst.shared.b32 [" + shared +
                            "_lane+" + to_string(at) + "], word;\n"
                      : "ld.shared.b32 word, [" + shared + "_lane+" + to_string(at) + "];\nst.global.b32 [" + pointer +
                            "_lane+" + to_string(at) + "], word;\n";
  }
  return text;
}
std::string lane_pointers(const std::string& shared, const std::string& pointer) {
  return ".reg .b64 " + pointer + "_lane;\n.reg .b32 " + shared + "_lane;\nmov.u32 " + shared + "_lane, " + shared +
         ";\nmad.lo.u32 " + shared + "_lane, lane, 4, " + shared + "_lane;\nmad.wide.u32 " + pointer +
         "_lane, lane, 4, " + pointer + ";\n";
}

void add_wmma(std::vector<Case>& cases, const Opaque& shape, Number c_type, Number d_type, Arrangement how, Rule rule) {
  std::mt19937_64 random(cases.size());
  Matrix a(shape.factor, shape.m, shape.k), b(shape.factor, shape.k, shape.n), c(c_type, shape.m, shape.n);
  a.fill(random), b.fill(random), c.fill(random);
  const std::string geometry = ".m" + to_string(shape.m) + "n" + to_string(shape.n) + "k" + to_string(shape.k);
  const std::string space = how.space == 0 ? "" : how.space == 1 ? ".global" : ".shared";
  const auto layout = [](bool by_column) { return std::string(by_column ? ".col" : ".row"); };
  const auto stride_of = [&](const Matrix& matrix, bool by_column) {
    const unsigned least = by_column ? matrix.rows : matrix.columns;
    return how.loose ? least + 256 / bits_of(matrix.number) : least;
  };
  const auto held_registers = [&](Number number) { return number == F16 ? shape.sums_held / 2 : shape.sums_held; };
  const Matrix d(d_type, shape.m, shape.n);
  Operand operands[] = {{"a", &a, (how.layouts & 1) != 0, 0, shape.registers_a},
                        {"b", &b, (how.layouts & 2) != 0, 0, shape.registers_b},
                        {"c", &c, (how.layouts & 4) != 0, 0, held_registers(c_type)},
                        {"d", &d, (how.layouts & 8) != 0, 0, held_registers(d_type)}};
  for (Operand& each : operands) each.stride = stride_of(*each.matrix, each.by_column);

  std::string body;
  Bytes images[4];
  for (unsigned i = 0; i < 4; ++i) {
    const Operand& o = operands[i];
    images[i] = in_memory(*o.matrix, o.by_column, o.stride);
    body += declare(fragment_type(o.matrix->number), o.piece, o.registers);
    if (how.space != 2) continue;
    const std::string shared = "s" + to_string(i), pointer = "p" + to_string(i);
    body += ".shared .align 128 .b8 " + shared + "[" + to_string(images[i].size()) + "];\n" +
            lane_pointers(shared, pointer);
    if (i < 3) body += copy(shared, pointer, images[i].size(), true);
  }
  if (how.space == 2) body += "bar.sync 0;\n";
  const auto memory = [&](unsigned i) { return "[" + (how.space == 2 ? "s" : std::string("p")) + to_string(i) + "]"; };
  const auto stride = [&](const Operand& o) {
    if (!how.loose) return std::string();
    body += "mov.u32 stride, " + to_string(o.stride) + ";\n";
    return std::string(", stride");
  };
  for (unsigned i = 0; i < 3; ++i) {
    const std::string given = stride(operands[i]);
    body += "wmma.load." + operands[i].piece + ".sync.aligned" + layout(operands[i].by_column) + geometry + space +
            "." + text_of(operands[i].matrix->number) + " " + registers(operands[i].piece, operands[i].registers) +
            ", " + memory(i) + given + ";\n";
  }
  const std::string operation = rule.bits == Rule::Bits::And   ? ".and.popc"
                                : rule.bits == Rule::Bits::Xor ? ".xor.popc"
                                                               : "";
  const std::string x = text_of(shape.factor), factors = shape.factor == F16 ? "." : "." + x + "." + x + ".";
  const std::string form = "wmma.mma" + operation + ".sync.aligned" + layout(how.layouts & 1) +
                           layout(how.layouts & 2) + geometry + "." + text_of(d_type) + factors + text_of(c_type) +
                           rule.rounding + (rule.saturate ? ".satfinite" : "");
  body += form;
  for (const unsigned i : {3u, 0u, 1u, 2u})
    body += (i == 3 ? " " : ", ") + registers(operands[i].piece, operands[i].registers);
  body += ";\n";
  if (rule.c_times == 2)  // element by element: C once more
    for (unsigned i = 0; i < operands[3].registers; ++i)
      body += "add.f32 d" + to_string(i) + ", d" + to_string(i) + ", c" + to_string(i) + ";\n";
  const std::string given = stride(operands[3]);
  body += "wmma.store.d.sync.aligned" + layout(operands[3].by_column) + geometry + space + "." + text_of(d_type) + " " +
          memory(3) + ", " + registers("d", operands[3].registers) + given + ";\n";
  if (how.space == 2) body += "bar.sync 0;\n" + copy("s3", "p3", images[3].size(), false);

  const bool by_column = operands[3].by_column;
  const unsigned stride_d = operands[3].stride;
  cases.push_back({form + space + (how.loose ? " stride" : "") + " layouts " + to_string(how.layouts),
                   body,
                   84,
                   80,
                   {images[0], images[1], images[2]},
                   images[3].size(),
                   [=](const Bytes& bytes) {
                     Matrix result(d_type, shape.m, shape.n);
                     for (unsigned row = 0; row < shape.m; ++row)
                       for (unsigned column = 0; column < shape.n; ++column)
                         result.at(row, column) =
                             get_bits(bytes,
                                      (by_column ? size_t{column} * stride_d + row : size_t{row} * stride_d + column) *
                                          bits_of(d_type),
                                      bits_of(d_type));
                     return compared(a, b, c, result, rule);
                   }});
}

void add_all_wmma(std::vector<Case>& cases) {
  for (const Opaque& shape : all_opaque()) {
    const bool narrow = bits_of(shape.factor) < 8;
    for (const Number c : shape.sums)
      for (const Number d : shape.sums) {
        // Every layout of A and B, of C and D, every space, with and without strides.
        const Arrangement ways[] = {{0, false, 0}, {1 + 4, true, 1}, {2 + 8, true, 2}, {1 + 2 + 4 + 8, true, 0},
                                    {2, false, 2}, {2, false, 1}};
        unsigned number = 0;
        for (Arrangement way : ways) {
          if (narrow) way.layouts = (way.layouts & ~1u) | 2;
          Rule rule;
          if (shape.factor == B1) rule.bits = number % 2 ? Rule::Bits::Xor : Rule::Bits::And;
          if (c == S32 && shape.factor != B1) rule.saturate = number % 2;
          if (c == F32 && d == F32 && number == 3) rule.c_times = 2;
          if (shape.factor == F64 && number == 4) rule.rounding = ".rn";
          add_wmma(cases, shape, c, d, way, rule);
          ++number;
        }
      }
  }
}

// -- matrices of 8 by 8 halves --

Matrix random_halves(unsigned rows, std::mt19937_64& random) {
  Matrix matrix(U8, rows, 8);
  for (uint64_t& each : matrix.bits) each = random() & 0xffff;
  return matrix;
}

/// The half of an 8 by 8 matrix that lane `lane` holds as its half i.
Place half_place(unsigned lane, unsigned i, bool trans) {
  return trans ? Place{lane % 4 * 2 + i, lane / 4} : Place{lane / 4, lane % 4 * 2 + i};
}

/// Rows in memory in another order than the matrix's, so that every lane's address counts.
unsigned row_place(unsigned row, unsigned rows) {
  return (row * 5 + 3) % rows;
}

void add_ldmatrix(std::vector<Case>& cases, unsigned count, bool trans, bool generic, bool store) {
  std::mt19937_64 random(cases.size());
  const unsigned rows = 8 * count;
  const Matrix whole = random_halves(rows, random);
  Bytes memory, lanes, addresses;
  for (unsigned row = 0; row < rows; ++row)
    for (unsigned column = 0; column < 8; ++column)
      put_bits(memory, (size_t{row_place(row, rows)} * 8 + column) * 16, 16, whole.at(row, column));
  for (unsigned lane = 0; lane < 32; ++lane) {
    put_bits(addresses, size_t{lane} * 32, 32, lane < rows ? row_place(lane, rows) * 16 : 0);
    for (unsigned m = 0; m < count; ++m)
      for (unsigned i = 0; i < 2; ++i) {
        const Place at = half_place(lane, i, trans);
        put_bits(lanes, ((size_t{lane} * count + m) * 2 + i) * 16, 16, whole.at(8 * m + at.row, at.column));
      }
  }
  memory.resize(512), lanes.resize(128 * count), addresses.resize(128);
  const std::string form = std::string(store ? "stmatrix" : "ldmatrix") + ".sync.aligned.m8n8.x" + to_string(count) +
                           (trans ? ".trans" : "") + (generic ? "" : ".shared") + ".b16";
  std::string body = ".shared .align 128 .b8 s0[512];\n" + lane_pointers("s0", store ? "p3" : "p0") +
                     ".reg .b32 offset;\nmad.wide.u32 address, lane, 4, p1;\nld.global.b32 offset, [address];\n";
  if (generic)
    body +=
        ".reg .b64 row, wide;\nmov.u64 row, s0;\ncvta.shared.u64 row, row;\ncvt.u64.u32 wide, offset;\nadd.u64 row, "
        "row, wide;\n";
  else
    body += ".reg .b32 row;\nmov.u32 row, s0;\nadd.u32 row, row, offset;\n";
  if (store)
    body += load_lane("d", "p2", count, 32) + form + " [row], " + registers("d", count) + ";\nbar.sync 0;\n" +
            copy("s0", "p3", 512, false);
  else
    body += copy("s0", "p0", 512, true) + "bar.sync 0;\n" + declare("b32", "d", count) + form + " " +
            registers("d", count) + ", [row];\n" + store_lane("d", "p3", count, 32);
  const Bytes& expected = store ? memory : lanes;
  const size_t bytes = store ? size_t{rows} * 16 : expected.size();
  cases.push_back(
      {form, body, 84, store ? 90u : 80u, {memory, addresses, lanes}, expected.size(), [=](const Bytes& result) {
         return std::equal(result.begin(), result.begin() + static_cast<std::ptrdiff_t>(bytes), expected.begin())
                    ? ""
                    : "other halves than expected";
       }});
}

void add_movmatrix(std::vector<Case>& cases) {
  std::mt19937_64 random(cases.size());
  const Matrix whole = random_halves(8, random);
  Bytes from, to;
  for (unsigned lane = 0; lane < 32; ++lane)
    for (unsigned i = 0; i < 2; ++i) {
      const Place straight = half_place(lane, i, false), turned = half_place(lane, i, true);
      put_bits(from, (size_t{lane} * 2 + i) * 16, 16, whole.at(straight.row, straight.column));
      put_bits(to, (size_t{lane} * 2 + i) * 16, 16, whole.at(turned.row, turned.column));
    }
  from.resize(128), to.resize(128);
  const std::string form = "movmatrix.sync.aligned.m8n8.trans.b16";
  cases.push_back(
      {form,
       load_lane("a", "p0", 1, 32) + declare("b32", "d", 1) + form + " d0, a0;\n" + store_lane("d", "p3", 1, 32),
       84,
       80,
       {from, {}, {}},
       128,
       [to](const Bytes& result) { return result == to ? "" : "other halves than expected"; }});
}

void add_all_moves(std::vector<Case>& cases) {
  for (const unsigned count : {1u, 2u, 4u})
    for (const bool trans : {false, true})
      for (const bool generic : {false, true})
        for (const bool store : {false, true}) add_ldmatrix(cases, count, trans, generic, store);
  add_movmatrix(cases);
}

// -- the device --

bool ok(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return true;
  const char* text = nullptr;
  cuGetErrorName(result, &text);
  printf("%s: %s\n", what, text ? text : "unknown error");
  return false;
}

std::string module_text(const std::vector<const Case*>& cases, unsigned version, unsigned target) {
  std::string text = ".version " + to_string(version / 10) + "." + to_string(version % 10) + "\n.target sm_" +
                     to_string(target) + "\n.address_size 64\n";
  for (size_t i = 0; i < cases.size(); ++i) {
    text += ".visible .entry k" + to_string(i) +
            "(.param .u64 q0, .param .u64 q1, .param .u64 q2, .param .u64 q3)\n{\n" +
            ".reg .b64 p<4>;\n.reg .b64 address;\n.reg .b32 lane, word, stride;\nmov.u32 lane, %laneid;\n";
    for (int p = 0; p < 4; ++p) text += "ld.param.u64 p" + to_string(p) + ", [q" + to_string(p) + "];\n";
    text += cases[i]->body + "ret;\n}\n";
  }
  return text;
}

constexpr size_t kBufferBytes = 1 << 16;

std::string run(const Case& of, CUfunction kernel, CUdeviceptr (&buffers)[4]) {
  for (int i = 0; i < 3; ++i)
    if (!of.inputs[i].empty() &&
        !ok(cuMemcpyHtoD(buffers[i], of.inputs[i].data(), of.inputs[i].size()), "cuMemcpyHtoD"))
      return "no input";
  if (!ok(cuMemsetD8(buffers[3], 0xa5, kBufferBytes), "cuMemsetD8")) return "no buffer";
  void* arguments[] = {&buffers[0], &buffers[1], &buffers[2], &buffers[3]};
  if (!ok(cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, nullptr, arguments, nullptr), "cuLaunchKernel"))
    return "not launched";
  Bytes result(of.result_bytes);
  if (!ok(cuMemcpyDtoH(result.data(), buffers[3], result.size()), "cuMemcpyDtoH")) return "no result";
  return of.check(result);
}

/// Runs the cases of one PTX version and target as one module; how many failed. A driver may refuse what is for newer
/// devices than its own.
int run_module(const std::vector<const Case*>& cases, unsigned version, unsigned target, unsigned capability) {
  CUmodule module = nullptr;
  char log[4096] = {};
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log, reinterpret_cast<void*>(sizeof log)};
  const CUresult loaded = cuModuleLoadDataEx(&module, module_text(cases, version, target).c_str(), 2, options, values);
  if (loaded == CUDA_ERROR_UNSUPPORTED_PTX_VERSION) {
    printf("PTX %u.%u is newer than the driver: %zu cases not run\n", version / 10, version % 10, cases.size());
    return 0;
  }
  if (loaded != CUDA_SUCCESS && target > capability) {
    printf("the device has no sm_%u: %zu cases not run\n", target, cases.size());
    return 0;
  }
  if (loaded != CUDA_SUCCESS && cases.size() > 1) {  // which one is it?
    int failed = 0;
    for (const Case* each : cases) failed += run_module({each}, version, target, capability);
    return failed;
  }
  if (!ok(loaded, "cuModuleLoadDataEx")) {
    printf("%s\ncase %s: FAILED\n", log, cases[0]->name.c_str());
    return 1;
  }
  CUdeviceptr buffers[4] = {};
  for (CUdeviceptr& each : buffers)
    if (!ok(cuMemAlloc(&each, kBufferBytes), "cuMemAlloc")) return 1;
  int failed = 0;
  for (size_t i = 0; i < cases.size(); ++i) {
    CUfunction kernel = nullptr;
    const bool found = ok(cuModuleGetFunction(&kernel, module, ("k" + to_string(i)).c_str()), "cuModuleGetFunction");
    const std::string wrong = found ? run(*cases[i], kernel, buffers) : "no kernel";
    printf("case %s: %s%s\n", cases[i]->name.c_str(), wrong.empty() ? "ok" : "FAILED: ", wrong.c_str());
    failed += !wrong.empty();
  }
  for (const CUdeviceptr each : buffers) ok(cuMemFree(each), "cuMemFree");
  ok(cuModuleUnload(module), "cuModuleUnload");
  return failed;
}

/// How many forms of the list no case holds.
int missing_forms(const std::vector<Case>& cases, const char* list) {
  std::ifstream file(list);
  if (!file) return printf("%s cannot be read\n", list), 1;
  int missing = 0;
  for (std::string form; std::getline(file, form);) {
    if (form.empty() || form[0] == '#') continue;
    const bool held = std::any_of(cases.begin(), cases.end(), [&](const Case& each) {
      return ("\n" + each.body).find("\n" + form + " ") != std::string::npos;
    });
    if (held) continue;
    printf("no case holds %s\n", form.c_str());
    ++missing;
  }
  return missing;
}

int run_all(const char* list) {
  std::vector<Case> cases;
  add_all_mma(cases);
  add_all_wmma(cases);
  add_all_moves(cases);
  if (list && missing_forms(cases, list)) return 1;
  CUdevice device = 0;
  CUcontext context = nullptr;
  int major = 0, minor = 0;
  if (!ok(cuInit(0), "cuInit") || !ok(cuDeviceGet(&device, 0), "cuDeviceGet") ||
      !ok(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain") ||
      !ok(cuCtxSetCurrent(context), "cuCtxSetCurrent") ||
      !ok(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, device), "cuDeviceGetAttribute") ||
      !ok(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, device), "cuDeviceGetAttribute"))
    return 1;
  int failed = 0;
  for (const unsigned version : {84u, 87u})
    for (const unsigned target : {80u, 89u, 90u}) {
      std::vector<const Case*> chosen;
      for (const Case& each : cases)
        if (each.version == version && each.target == target) chosen.push_back(&each);
      const auto capability = static_cast<unsigned>(major * 10 + minor);
      if (!chosen.empty()) failed += run_module(chosen, version, target, capability);
    }
  return failed != 0;
}

}  // namespace
}  // namespace cupola::ptxtest

int main(int argc, char** argv) {
  return cupola::ptxtest::run_all(argc > 1 ? argv[1] : nullptr);
}
