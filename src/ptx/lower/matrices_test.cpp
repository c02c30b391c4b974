// The forms of the matrix instructions that lower, and those that are refused. Oracle: the shapes and types that "PTX
// ISA, Warp Level Matrix Instructions" lists. What they compute: tests/ptx/matrices.cpp.

#include <gtest/gtest.h>

#include <string>

#include "base/format.h"
#include "ptx/lower/lower.h"
#include "ptx/syntax/parser.h"
#include "ptx/syntax/verify.h"

namespace cupola::ptx {
namespace {

/// A form and the registers of its operands: d, a, b, c of a multiplication; the fragment of the others.
struct MatrixForm {
  std::string form;
  std::vector<unsigned> registers;
  char bits = '3';  ///< 3: b32, 6: f64
};

std::string fragment(char name, unsigned count) {
  std::string text;
  for (unsigned i = 0; i < count; ++i) text += (i ? ", " : "") + std::string(1, name) + std::to_string(i);
  return "{" + text + "}";
}

std::string operands_of(const MatrixForm& m) {
  const bool store = m.form.contains("store") || m.form.contains("stmatrix");
  if (store) return "[p], " + fragment('d', m.registers[0]);
  if (m.registers.size() == 1) return fragment('d', m.registers[0]) + ", [p]";
  return fragment('d', m.registers[0]) + ", " + fragment('a', m.registers[1]) + ", " + fragment('b', m.registers[2]) +
         ", " + fragment('c', m.registers[3]);
}

/// What is wrong with the form in a kernel for `target`; empty when it lowers.
std::string refusal(const MatrixForm& m, unsigned target = 89) {
  const char* type = m.bits == '6' ? "f64" : "b32";
  std::string text = formatted(
      ".version 8.7\n.target sm_{}\n.address_size 64\n.visible .entry k(.param .u64 q)\n{{\n.reg .b64 p;\n", target);
  for (const char name : {'a', 'b', 'c', 'd'}) text += formatted(".reg .{} {}<10>;\n", type, name);
  text += "ld.param.u64 p, [q];\n" + m.form + " " + operands_of(m) + ";\nret;\n}\n";
  const auto parsed = parse(text);
  if (!parsed) return parsed.error().message;
  if (const auto verified = verify(*parsed); !verified) return verified.error().message;
  llvm::LLVMContext context;
  const auto module = lower(*parsed, context);
  return module ? std::string() : module.error().message;
}

TEST(Matrices, EveryShapeAndTypeOfMmaLowers) {
  struct Shape {
    const char *shape, *types;
    std::vector<unsigned> registers;
    char bits = '3';
  };
  const Shape shapes[] = {
      {"m16n8k8", "f16.f16.f16.f16", {2, 2, 1, 2}},
      {"m16n8k8", "f32.f16.f16.f32", {4, 2, 1, 4}},
      {"m16n8k16", "f16.f16.f16.f16", {2, 4, 2, 2}},
      {"m16n8k16", "f32.f16.f16.f32", {4, 4, 2, 4}},
      {"m16n8k8", "f32.bf16.bf16.f32", {4, 2, 1, 4}},
      {"m16n8k16", "f32.bf16.bf16.f32", {4, 4, 2, 4}},
      {"m16n8k4", "f32.tf32.tf32.f32", {4, 2, 1, 4}},
      {"m16n8k8", "f32.tf32.tf32.f32", {4, 4, 2, 4}},
      {"m16n8k32", "f32.e4m3.e5m2.f32", {4, 4, 2, 4}},
      {"m16n8k16", "f16.e5m2.e4m3.f16", {2, 2, 1, 2}},
      {"m8n8k4", "f64.f64.f64.f64", {2, 1, 1, 2}, '6'},
      {"m8n8k16", "s32.s8.u8.s32", {2, 1, 1, 2}},
      {"m16n8k16", "s32.u8.s8.s32", {4, 2, 1, 4}},
      {"m16n8k32", "s32.s8.s8.s32", {4, 4, 2, 4}},
      {"m8n8k32", "s32.s4.u4.s32", {2, 1, 1, 2}},
      {"m16n8k32", "s32.u4.u4.s32", {4, 2, 1, 4}},
      {"m16n8k64", "s32.s4.s4.s32", {4, 4, 2, 4}},
      {"m8n8k128", "s32.b1.b1.s32.and.popc", {2, 1, 1, 2}},
      {"m16n8k128", "s32.b1.b1.s32.xor.popc", {4, 2, 1, 4}},
      {"m16n8k256", "s32.b1.b1.s32.xor.popc", {4, 4, 2, 4}},
  };
  for (const Shape& each : shapes) {
    const MatrixForm m{formatted("mma.sync.aligned.{}.row.col.{}", each.shape, each.types), each.registers, each.bits};
    EXPECT_EQ(refusal(m), "") << m.form;
  }
}

TEST(Matrices, FormsOfTheCensusLower) {
  const MatrixForm forms[] = {
      {"wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn", {2, 1, 1, 2}, '6'},
      {"wmma.load.b.sync.aligned.col.m8n8k4.f64", {1}, '6'},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", {8, 8, 8, 8}},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32", {8, 2, 2, 8}},
      {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32", {8, 4, 4, 8}},
      {"wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", {8, 4, 4, 8}},
      {"wmma.load.b.sync.aligned.col.m16n16k16.global.f16", {8}},
      {"wmma.load.a.sync.aligned.row.m16n16k16.bf16", {4}},
      {"wmma.load.a.sync.aligned.row.m16n16k8.tf32", {4}},
      {"wmma.load.c.sync.aligned.row.m16n16k8.f32", {8}},
      {"wmma.store.d.sync.aligned.row.m16n16k16.global.s32", {8}},
      {"ldmatrix.sync.aligned.x4.m8n8.shared.b16", {4}},
  };
  for (const MatrixForm& each : forms) EXPECT_EQ(refusal(each), "") << each.form;
}

TEST(Matrices, RoundingsOfF64Lower) {
  for (const char* rounding : {"rn", "rz", "rm", "rp"}) {
    const MatrixForm m{formatted("mma.sync.aligned.m8n8k4.row.col.{}.f64.f64.f64.f64", rounding), {2, 1, 1, 2}, '6'};
    EXPECT_EQ(refusal(m), "") << m.form;
  }
}

TEST(Matrices, RefusesWhatTheIsaDoesNotHave) {
  struct Refused {
    MatrixForm form;
    const char* words;
  };
  const Refused refused[] = {
      {{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16", {4, 4, 2, 2}}, "does not go with"},
      {{"mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32", {4, 4, 2, 4}}, "does not go with"},
      {{"mma.sync.aligned.m16n8k16.row.col.f32.s8.s8.f32", {4, 2, 1, 4}}, "types of C and D"},
      {{"mma.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32", {4, 4, 2, 4}}, "does not go with"},
      {{"mma.sync.aligned.m16n8k16.col.row.f32.f16.f16.f32", {4, 4, 2, 4}}, "A is .row"},
      {{"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", {4, 2, 2, 4}}, "operand 2 has 2 registers"},
      {{"mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32", {4, 4, 2, 4}}, ".satfinite"},
      {{"wmma.load.a.sync.aligned.row.m16n16k16.tf32", {4}}, "does not go with"},
      {{"wmma.load.a.sync.aligned.col.m8n8k32.s4", {1}}, "A is .row"},
      {{"wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.u8.s32", {8, 2, 4, 8}}, "operand 3 has 4 registers"},
      {{"stmatrix.sync.aligned.m8n8.x2.shared.b16", {2}}, "needs sm_90"},
      {{"mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", {4, 2, 2, 4}}, "not supported"},
  };
  for (const Refused& each : refused) {
    const std::string message = refusal(each.form);
    EXPECT_NE(message.find(each.words), std::string::npos) << each.form.form << ": " << message;
  }
}

}  // namespace
}  // namespace cupola::ptx
