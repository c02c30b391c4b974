#include "ptx/syntax/parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ptx/syntax/printer.h"
#include "ptx/syntax/verify.h"

namespace cupola::ptx {
namespace {

using ::testing::HasSubstr;

std::string module_with(const std::string& body) {
  return ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n{\n" + body +
         "\n\tret;\n}\n";
}

/// The message of the first stage that refuses the text, or "".
std::string refusal(const std::string& text) {
  const auto module = parse(text);
  if (!module) return module.error().message;
  const auto verified = verify(*module);
  return verified ? "" : verified.error().message;
}

TEST(Parse, ReadsAKernel) {
  const auto module = parse(module_with("\t.reg .b32 %r<3>;\n\tadd.s32 %r1, %r2, -5;"));
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ(module->version, 80u);
  const Function& k = module->functions.at(0);
  EXPECT_EQ(k.name, "k");
  EXPECT_TRUE(k.is_kernel);
  ASSERT_EQ(k.instructions.size(), 2u);
  const Operand* operands = k.operands_of(k.instructions[0]);
  EXPECT_EQ(k.registers[operands[0].index].name, "%r1");
  EXPECT_EQ(operands[2].value, -5);
}

TEST(Parse, PrintsBackWhatItReads) {
  const std::string text = module_with(R"(
	.reg .pred %p<2>;
	.reg .b64 %rd<4>;
	.reg .f32 %f<9>;
	.shared .align 16 .b8 tile[1024];
	.loc 1 7 3
	ld.param.u64 %rd1, [p];
	cvta.to.global.u64 %rd2, %rd1;
	ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd2+-16];
	{ .param .b32 a; st.param.b32 [a], 1; call.uni vprintf, (a); }
	setp.lt.f32 %p1, %f1, 0f3F800000;
	@!%p1 bra $L__done;
	st.shared.f32 [tile+4], 0d3FF0000000000000;
$L__done:)");
  const auto once = parse(text);
  ASSERT_TRUE(once) << once.error().message;
  const std::string printed = print(*once);
  const auto twice = parse(printed);
  ASSERT_TRUE(twice) << twice.error().message << "\n" << printed;
  EXPECT_EQ(print(*twice), printed);
  EXPECT_THAT(printed, HasSubstr("ld.global.nc.v4.f32 {%f1, %f2, %f3, %f4}, [%rd2-16];"));
  EXPECT_THAT(printed, HasSubstr("@!%p1 bra $L__done;"));
}

// Oracle: what an H200's driver gave for these, and which it refused.
TEST(Parse, AnIndexIsTheAddressOfAnElement) {
  const std::string head =
      ".version 8.0\n.target sm_80\n.address_size 64\n.global .b32 g[8];\n.global .b32 h[4][2];\n.global .v2 .b32 "
      "v[4];\n"
      ".global .b32 one;\n.entry k()\n{\n.reg .u64 %a;\n.shared .b8 s[64];\n.local .b16 l[8];\nmov.u64 %a, ";
  const auto offset = [&](const std::string& element) {
    const auto module = parse(head + element + ";\n}\n");
    return module ? module->functions[0].operands[1].value : -1;
  };
  EXPECT_EQ(offset("g[2]"), 8);
  EXPECT_EQ(offset("g[1+1]"), 8);
  EXPECT_EQ(offset("g[-1]"), 4294967292);
  EXPECT_EQ(offset("h[1]"), 4);
  EXPECT_EQ(offset("v[1]"), 4);
  EXPECT_EQ(offset("s[3]"), 3);
  EXPECT_EQ(offset("l[3]"), 6);
  EXPECT_THAT(refusal(head + "one[1];\n}\n"), HasSubstr("an index belongs to the name of an array"));
  EXPECT_NE(refusal(head + "g[2]+4;\n}\n"), "");
  EXPECT_NE(refusal(head + "h[1][1];\n}\n"), "");
}

TEST(Parse, InitialisersKeepAddressesAndRows) {
  const auto module = parse(
      ".version 7.0\n.target sm_70\n.global .u32 x;\n.global .align 8 .u64 p[2] = {generic(x)+8, 5};\n"
      ".const .s32 m[2][2] = {{1, -2}, {3}};\n.global .b8 b[2] = {0xFF(x), 0xFF00(x)};\n");
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_TRUE(module->variables[1].initial[0].generic);
  EXPECT_EQ(module->variables[1].initial[0].bits, 8u);
  ASSERT_EQ(module->variables[2].initial.size(), 3u);
  EXPECT_EQ(static_cast<int64_t>(module->variables[2].initial[1].bits), -2);
  EXPECT_EQ(module->variables[3].initial[1].mask_byte, 1);
}

TEST(Parse, ShortRowsCostWhatTheyHold) {
  const std::string text = ".version 7.0\n.target sm_70\n.global .u8 x[2][3][1000000] = {{{7}, {8, 9}}, {{}, {5}}};\n";
  const auto module = parse(text);
  ASSERT_TRUE(module) << module.error().message;
  std::vector<uint64_t> elements;
  for (const Initial& value : module->variables[0].initial) elements.push_back(value.element);
  EXPECT_THAT(elements, ::testing::ElementsAre(0, 1000000, 1000001, 4000000));
  EXPECT_THAT(print(*module), HasSubstr("= {{{7}, {8, 9}}, {{}, {5}}};"));
}

TEST(Parse, InitialisersHaveNoMoreRowsThanTheVariable) {
  const std::string head = ".version 7.0\n.target sm_70\n";
  EXPECT_EQ(refusal(head + ".global .u8 x[2][3] = {{1}, {}};"), "");
  EXPECT_THAT(refusal(head + ".global .u8 x[2][3] = {{1}, {}, {}};"), HasSubstr("more rows than 'x' has"));
  EXPECT_THAT(refusal(head + ".global .u8 x[2] = {1, 2, 3};"), HasSubstr("more values than 'x' has"));
}

TEST(Parse, DeclarationsBoundMemory) {
  const std::string head = ".version 7.0\n.target sm_70\n";
  EXPECT_THAT(refusal(head + ".global .u32 x[1073741824] = {1};"), HasSubstr("copy them in at run time"));
  std::string rows = head + ".global .u8 x[][1099511627776] = {{1}";
  for (int i = 1; i < 1 << 24; ++i) rows += ",{1}";  // all of them together: 2^64 elements
  EXPECT_THAT(refusal(rows + "};"), HasSubstr("copy them in at run time"));
  std::string many = head + ".func f() {\n";
  for (int i = 0; i < 100; ++i) many += ".param .b32 p" + std::string(static_cast<size_t>(i) + 1, '_') + "<4096>;\n";
  EXPECT_THAT(refusal(many + "}"), HasSubstr("this many variables at once"));
  std::string dims = head + ".global .u32 x";
  for (int i = 0; i < 100000; ++i) dims += "[1]";
  EXPECT_THAT(refusal(dims + " = 1;"), HasSubstr("too many dimensions"));
}

TEST(Parse, ErrorsNameLineAndColumn) {
  EXPECT_EQ(refusal("hello"), "ptx: line 1, column 1: PTX begins with '.version', not 'hello'");
  EXPECT_EQ(refusal(module_with("\tadd.s33 1, 1, 2;")), "ptx: line 6, column 2: 'add.s33': '.s33' does not fit there");
  EXPECT_EQ(refusal(module_with("\tadd.s32 %r1, 1, 2;")), "ptx: line 6, column 10: '%r1' is not declared");
  EXPECT_THAT(refusal(module_with("\tfrobnicate.u32 1;")), HasSubstr("line 6, column 2: 'frobnicate' is not"));
  EXPECT_THAT(refusal(module_with("\tbra nowhere;")), HasSubstr("line 6, column 2"));
  EXPECT_THAT(refusal(".version 8.0\n.target sm_80\n.entry k() {"), HasSubstr("ends without '}'"));
}

TEST(Verify, ChecksOperandTypes) {
  EXPECT_THAT(refusal(module_with("\t.reg .f32 %f1; .reg .b32 %r1;\n\tadd.s32 %r1, %r1, %f1;")),
              HasSubstr("'%f1' is a .f32 register, the operand is .s32"));
  EXPECT_THAT(refusal(module_with("\t.reg .b64 %rd1; .reg .b32 %r1;\n\tadd.s32 %r1, %r1, %rd1;")),
              HasSubstr("'%rd1' is a .b64 register"));
  EXPECT_EQ(refusal(module_with("\t.reg .b64 %rd1;\n\tld.global.u8 %rd1, [%rd1];")), "");
  EXPECT_THAT(refusal(module_with("\t.reg .b32 %r1; .reg .b16 %h1;\n\tmov.b32 %r1, {%h1, %h1, %h1};")),
              HasSubstr("equal parts"));
  EXPECT_THAT(refusal(module_with("\t.reg .b32 %r1;\n\tadd.s32 5, %r1, %r1;")), HasSubstr("it must be a register"));
}

TEST(Verify, ChecksVersionAndTarget) {
  EXPECT_THAT(refusal(".version 6.0\n.target sm_90\n.entry k() { .reg .b32 %r1; redux.sync.add.s32 %r1, %r1, -1; }"),
              HasSubstr("needs PTX ISA 7.0; the module says .version 6.0"));
  EXPECT_THAT(refusal(".version 8.0\n.target sm_70\n.entry k() { .reg .b32 %r1; redux.sync.add.s32 %r1, %r1, -1; }"),
              HasSubstr("needs sm_80; the module says .target sm_70"));
}

constexpr std::string_view kSample =
    ".version 8.7\n.target sm_89\n.global .align 8 .u64 t[2][2] = {{generic(x)+8, 5}, {0xFF}};\n.global .u32 x;\n"
    ".visible .entry k(.param .u64 .ptr .global .align 16 p)\n.maxntid 128, 1, 1\n{ .reg .pred %p<3>; .reg .b32 "
    "%r<9>;\n"
    ".reg .b64 %rd<5>; .loc 1 7 3, function_name $L_f, inlined_at 1 2 3\nld.param.u64 %rd1, [p]; @!%p1 bra $L_d;\n"
    "atom.global.add.u32 %r1, [%rd1+-4], 1; mov.b64 {%r1, _}, %rd2; l: .branchtargets $L_d; brx.idx %r6, l;\n"
    "$L_d: setp.lt.and.s32 %p1|%p2, %r1, 3, !%p2; ret; }\n.section .debug { .b8 1 }";

TEST(Parse, EveryTruncationIsRefusedOrIsAModule) {
  EXPECT_EQ(refusal(std::string(kSample)), "");
  for (size_t size = 0; size < kSample.size(); ++size) {
    const auto module = parse(std::string(kSample.substr(0, size)));
    if (module) continue;
    EXPECT_EQ(module.error().code, ErrorCode::InvalidPtx);
    EXPECT_THAT(module.error().message, HasSubstr("ptx: line ")) << size;
  }
  EXPECT_FALSE(parse(std::string(kSample.substr(0, 300))));
}

TEST(Parse, EveryDamagedByteIsRefusedOrReadsBackAsPrinted) {
  for (size_t at = 0; at < kSample.size(); ++at)
    for (const char damage : {'\0', '\xff', ' ', '{', ';', '9'}) {
      std::string text(kSample);
      text[at] = damage;
      const auto module = parse(text);
      if (!module) {
        EXPECT_THAT(module.error().message, HasSubstr("ptx: line ")) << text;
        continue;
      }
      std::ignore = verify(*module);
      const std::string printed = print(*module);
      const auto again = parse(printed);
      ASSERT_TRUE(again) << again.error().message << "\n" << printed;
      EXPECT_EQ(print(*again), printed);
    }
}

TEST(Parse, TheNearestLabelIsMeant) {
  const auto module = parse(module_with("L: { bra L; L: { bra L; } }"));
  ASSERT_TRUE(module) << module.error().message;
  const Function& k = module->functions[0];
  EXPECT_EQ(k.operands_of(k.instructions[0])->index, 1u);
  EXPECT_EQ(k.operands_of(k.instructions[1])->index, 1u);
}

TEST(Parse, NestingIsBounded) {
  std::string choices;
  for (int i = 0; i < 100000; ++i) choices += "1 ? ";
  EXPECT_THAT(refusal(".version 8.0\n.target sm_80\n.global .u32 x = " + choices), HasSubstr("nests too deeply"));
  std::string masks;
  for (int i = 0; i < 100000; ++i) masks += "0xFF(";
  EXPECT_THAT(refusal(".version 8.0\n.target sm_80\n.global .u32 x = " + masks), HasSubstr("ptx: line 3"));

  const std::string head = ".version 8.0\n.target sm_80\n.entry k() ";
  EXPECT_THAT(refusal(head + std::string(100000, '{')), HasSubstr("nest too deeply"));
  EXPECT_THAT(refusal(head + "{ .reg .b32 %r; mov.b32 %r, " + std::string(100000, '(') + "1"),
              HasSubstr("nests too deeply"));
}

}  // namespace
}  // namespace cupola::ptx
