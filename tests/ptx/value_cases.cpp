#include <algorithm>
#include <array>

#include "base/format.h"
#include "cases.h"

// Instructions whose operands are registers, constants and predicates.

namespace cupola::ptxtest {
namespace {

using ptx::Form;
using ptx::Modifier;
using ptx::OperandSpec;
using ptx::Row;
using ptx::Type;
using ptx::TypeKind;

// What has only registers for operands but needs a state, a warp, or a place in the program.
constexpr std::string_view kNotValues[] = {
    "bra",        "brx",        "call",         "ret",        "exit",         "trap",    "brkpt", "pmevent",
    "nanosleep",  "setmaxnreg", "bar",          "shfl",       "vote",         "match",   "elect", "redux",
    "activemask", "barrier",    "alloca",       "stacksave",  "cvta",         "mapa",    "fence", "griddepcontrol",
    "membar",     "cp",         "stackrestore", "mbarrier",   "isspacep",     "istypep", "mma",   "wmma",
    "wgmma",      "movmatrix",  "ldmatrix",     "getctarank", "createpolicy", "tcgen05"};

/// What PTX leaves open, and therefore isn't compared. Everything else is compared bit for bit.
struct Open {
  std::string_view opcode;
  enum class What : uint8_t { NanPayload, NanPayload64, DivisionByZero, LargeOperand } what;
  std::string_view why;
};
constexpr std::string_view kPayload =
    "hardware gives the canonical NaN for .f32 and halves and keeps an operand's payload for .f64; PTX ISA promises "
    "neither for arithmetic, and making each sum's NaN canonical costs a CPU a comparison and a blend";
constexpr std::string_view kConversion =
    "PTX ISA promises the canonical NaN for conversions to halves only; those to .f32 and .f64 carry payloads on";
constexpr std::string_view kZero =
    "PTX ISA, div and rem: 'division by zero yields an unspecified, machine-specific value'";
constexpr std::string_view kExtreme =
    "PTX ISA promises the canonical NaN of min and max, but the reference keeps an operand's payload for .f64";
constexpr std::string_view kField =
    "PTX ISA restricts position and length to 0..255; the 64-bit forms of the reference don't cut larger ones";
constexpr std::string_view kBase = "PTX ISA gives fns a base of 0..31";
constexpr Open kOpen[] = {
    {"add", Open::What::NanPayload, kPayload},    {"sub", Open::What::NanPayload, kPayload},
    {"mul", Open::What::NanPayload, kPayload},    {"fma", Open::What::NanPayload, kPayload},
    {"mad", Open::What::NanPayload, kPayload},    {"div", Open::What::NanPayload, kPayload},
    {"rcp", Open::What::NanPayload, kPayload},    {"sqrt", Open::What::NanPayload, kPayload},
    {"abs", Open::What::NanPayload, kPayload},    {"neg", Open::What::NanPayload, kPayload},
    {"cvt", Open::What::NanPayload, kConversion}, {"div", Open::What::DivisionByZero, kZero},
    {"rem", Open::What::DivisionByZero, kZero},   {"min", Open::What::NanPayload64, kExtreme},
    {"max", Open::What::NanPayload64, kExtreme},  {"bfe", Open::What::LargeOperand, kField},
    {"bfi", Open::What::LargeOperand, kField},    {"fns", Open::What::LargeOperand, kBase},
};
bool is_open(std::string_view opcode, Open::What what) {
  return std::ranges::any_of(kOpen, [&](const Open& open) { return open.opcode == opcode && open.what == what; });
}

/// Approximations: PTX ISA gives an error bound, not the bits (approximations.cpp).
bool is_approximate(const Form& form) {
  return form.any(Modifier::Approx, Modifier::Full).has_value();
}

bool has_fraction(Type type) {
  return ptx::is_float(type) || type == Type::F16x2 || type == Type::BF16x2;
}

Comparison comparison_of(const Form& form) {
  if (is_approximate(form)) return Comparison::Bound;
  if (is_open(form.row->opcode, Open::What::NanPayload) && !form.types.empty() && has_fraction(form.types.front()))
    return Comparison::AnyNan;
  if (is_open(form.row->opcode, Open::What::NanPayload64) && form.type() == Type::F64) return Comparison::AnyNan;
  return Comparison::Bits;
}

/// The bits that operand `i` (0 the destination) of a form may have.
uint64_t range_of(const Form& form, size_t i) {
  if (!is_open(form.row->opcode, Open::What::LargeOperand)) return ~uint64_t{0};
  if (form.row->opcode == "fns") return i == 2 ? 31 : ~uint64_t{0};
  return form.row->specs[i].rule == ptx::TypeRule::Fixed && bits_of(form.type()) == 64 ? 0xff : ~uint64_t{0};
}

// The carry flag: the first statement sets it from a 0 or 1, the second stores it as one.
struct Carry {
  std::string_view set, get;
};
Carry carry_of(std::string_view opcode) {
  if (opcode.starts_with("sub")) return {"sub.cc.u32 %cc, 0, {};", "subc.u32 {}, 0, 0;"};
  return {"add.cc.u32 %cc, {}, 0xffffffff;", "addc.u32 {}, 0, 0;"};
}

/// One kernel while its operands are laid out.
struct Builder {
  Case made;
  std::vector<std::string> operands;

  std::string input(const Slot& slot) {
    made.inputs.push_back(slot);
    return formatted("%a{}", made.inputs.size() - 1);
  }
  std::string output(const Slot& slot) {
    made.outputs.push_back(slot);
    return formatted("%d{}", made.outputs.size() - 1);
  }
  void instruction() {
    made.body += "  " + made.form;
    for (size_t i = 0; i < operands.size(); ++i) made.body += (i ? ", " : " ") + operands[i];
    made.body += ";\n";
  }
};

/// How a variant departs from the plain case.
struct Variant {
  std::string name;                       ///< behind the form; empty for the plain case
  std::string constant;                   ///< value of the constant operand
  std::array<std::string_view, 4> parts;  ///< ".b1": component of operand i (0 the destination)
  unsigned wide = 0;                      ///< bits of the registers of operands marked `~`
  bool negate_predicate = false;
};

bool is_taken(const OperandSpec& spec, const Form& form, const Variant& variant) {
  const bool merges = !variant.parts[0].empty();
  const OperandSpec::Presence presence = spec.presence(form);
  return presence == OperandSpec::Presence::Required || (presence == OperandSpec::Presence::Allowed && merges);
}

Case built(const Form& form, const Variant& variant) {
  Builder b;
  b.made.form = form.text;
  b.made.name = variant.name.empty() ? form.text : form.text + " " + variant.name;
  b.made.comparison = comparison_of(form);
  const std::string_view opcode = form.row->opcode;
  const bool carries_in = opcode == "addc" || opcode == "subc" || opcode == "madc";
  const bool carries_out = form.has(Modifier::Cc);
  size_t index = 0;
  for (const OperandSpec& spec : form.row->specs) {
    const size_t i = index++;
    if (!is_taken(spec, form, variant)) continue;
    if (spec.kind == OperandSpec::Kind::Constant) {
      b.operands.push_back(variant.constant);
      continue;
    }
    Slot slot = slot_for(form.operand_type(spec, Type::B32));
    slot.range = range_of(form, i);
    if (spec.is_destination() && !form.types.empty() && form.types.front() == Type::TF32) slot.type = Type::TF32;
    if (spec.relaxed && variant.wide > slot.bits) slot.bits = variant.wide;
    const std::string_view part = i < 4 ? variant.parts[i] : "";
    if (!spec.is_destination()) {
      const bool negate = variant.negate_predicate && slot.type == Type::Pred;
      b.operands.push_back((negate ? "!" : "") + b.input(slot) + std::string(part));
      continue;
    }
    std::string text = b.output(slot) + std::string(part);
    const bool single = opcode == "setp" && (form.type() == Type::F16 || form.type() == Type::BF16);
    if (spec.with_predicate && !single) text += "|" + b.output(slot_for(Type::Pred));
    b.operands.push_back(text);
  }
  const Carry carry = carry_of(opcode);
  if (carries_in)
    b.made.body += "  " + format_arguments(carry.set, fmt::make_format_args(b.input({Type::Pred, 32}))) + "\n";
  b.instruction();
  if (carries_out)
    b.made.body += "  " + format_arguments(carry.get, fmt::make_format_args(b.output({Type::B32, 32}))) + "\n";
  b.made.division = ptx::is_integer(form.type()) && is_open(opcode, Open::What::DivisionByZero);
  return std::move(b.made);
}

std::vector<Variant> variants_of(const Form& form) {
  std::vector<Variant> made{{}};
  const std::string_view opcode = form.row->opcode;
  if (opcode == "lop3") {
    made.clear();
    for (const std::string_view table :
         {"0x00", "0x01", "0x1b", "0x80", "0x96", "0xca", "0xe8", "0xfe", "0xff", "0x3c"})
      made.push_back({.name = formatted("#{}", table), .constant = std::string(table)});
  }
  bool predicate = false, relaxed = false;
  for (const OperandSpec& spec : form.row->specs) {
    if (spec.presence(form) == OperandSpec::Presence::Absent) continue;
    predicate |= spec.rule == ptx::TypeRule::Fixed && spec.fixed == Type::Pred && !spec.is_destination();
    relaxed |= spec.relaxed;
  }
  if (predicate && opcode != "lop3" && !form.any(Modifier::Or, Modifier::Xor))
    made.push_back({.name = "!p", .negate_predicate = true});
  if (relaxed && form.types.size() == 2 && ptx::is_integer(form.types[0]) && ptx::is_integer(form.types[1])) {
    made.push_back({.name = "in b32", .wide = 32});
    made.push_back({.name = "in b64", .wide = 64});
  }
  if (opcode.starts_with('v') && !form.row->lowering.starts_with("video_simd")) {
    made.push_back({.name = "a.b3 b.h0", .parts = {"", ".b3", ".h0", ""}});
    made.push_back({.name = "a.h1 b.b0", .parts = {"", ".h1", ".b0", ""}});
    const bool secondary = form.any(Modifier::Add, Modifier::Min, Modifier::Max).has_value();
    if (!secondary && opcode != "vmad") {
      made.push_back({.name = "d.b2 a.b1", .parts = {".b2", ".b1", "", ""}});
      made.push_back({.name = "d.h1 b.b2", .parts = {".h1", "", ".b2", ""}});
    }
  }
  return made;
}

/// mov between one register and the parts of it.
void add_packing(const Form& form, std::vector<Case>& into) {
  struct Packing {
    Type whole, part;
    unsigned parts;
  };
  constexpr Packing kPackings[] = {{Type::B32, Type::B16, 2}, {Type::B64, Type::B32, 2}, {Type::B64, Type::B16, 4}};
  for (const Packing& packing : kPackings) {
    if (form.type() != packing.whole) continue;
    for (const bool packs : {true, false}) {
      Builder b;
      b.made.form = form.text;
      b.made.name = formatted("{} {} {}", form.text, packs ? "pack" : "unpack", packing.parts);
      std::string parts;
      for (unsigned i = 0; i < packing.parts; ++i)
        parts += (i ? ", " : "{") + (packs ? b.input(slot_for(packing.part)) : b.output(slot_for(packing.part)));
      parts += "}";
      if (packs)
        b.operands = {b.output(slot_for(packing.whole)), parts};
      else
        b.operands = {parts, b.input(slot_for(packing.whole))};
      b.instruction();
      into.push_back(std::move(b.made));
    }
  }
}

/// "mov.v2.b32 {%d0, %d1}, {%a0, %a1};"
void add_vector_move(const Form& form, std::vector<Case>& into) {
  Builder b;
  b.made.form = form.text;
  b.made.name = form.text;
  std::string to, from;
  for (unsigned i = 0; i < form.vector(); ++i) {
    to += (i ? ", " : "{") + b.output(slot_for(form.type()));
    from += (i ? ", " : "{") + b.input(slot_for(form.type()));
  }
  b.operands = {to + "}", from + "}"};
  b.instruction();
  into.push_back(std::move(b.made));
}

/// 128 bits have no memory operand here: they go through pairs of 64.
void add_wide_move(const Form& form, std::vector<Case>& into) {
  Builder b;
  b.made.form = form.text;
  b.made.name = form.text;
  const std::string low = b.input(slot_for(Type::B64)), high = b.input(slot_for(Type::B64));
  b.made.body = formatted(
      "  .reg .b128 %q<2>;\n  mov.b128 %q0, {{{}, {}}};\n  mov.b128 %q1, %q0;\n  mov.b128 {{%d0, %d1}}, %q1;\n", low,
      high);
  b.made.outputs = {slot_for(Type::B64), slot_for(Type::B64)};
  into.push_back(std::move(b.made));
}

}  // namespace

bool is_value_row(const Row& row) {
  if (row.lowering == "unsupported" || row.target > 90 || row.any_words || row.any_operands || row.specs.empty())
    return false;
  if (std::ranges::find(kNotValues, row.opcode) != std::end(kNotValues)) return false;
  return std::ranges::all_of(row.specs, [](const OperandSpec& spec) {
    return spec.kind != OperandSpec::Kind::Address && spec.kind != OperandSpec::Kind::Label;
  });
}

void add_value_cases(const Row& row, const std::string& text, const std::vector<Type>& types, std::vector<Case>& into) {
  Form form{.text = text, .row = &row, .modifiers = {}, .types = types, .present = {}};
  for (std::string_view rest = text; !rest.empty();) {
    const size_t dot = rest.find('.');
    if (const auto modifier = ptx::modifier_named(rest.substr(0, dot)))
      form.present.set(static_cast<size_t>(*modifier));
    rest = dot == std::string_view::npos ? std::string_view() : rest.substr(dot + 1);
  }
  if (row.opcode == "mov" && form.vector() > 1) return add_vector_move(form, into);
  if (form.type() == Type::B128) return add_wide_move(form, into);
  for (const Variant& variant : variants_of(form)) into.push_back(built(form, variant));
  if (row.opcode == "mov") add_packing(form, into);
}

}  // namespace cupola::ptxtest
