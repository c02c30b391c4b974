#include "base/format.h"
#include "cases.h"

// What the 32 lanes of a warp do together: fixed small programs with an input per lane.

namespace cupola::ptxtest {
namespace {

using ptx::Type;

const Slot kWord{Type::B32, 32};
const Slot kPredicate{Type::Pred, 1};

/// Who takes part. Sources of a shuffle must lie among them: `keep` are the bits of an index or distance that may
/// differ.
struct Members {
  std::string_view name;
  uint32_t mask;
  uint32_t keep;
};
constexpr Members kMembers[] = {{"all", 0xffffffff, 31}, {"low half", 0x0000ffff, 15}, {"even", 0x55555555, 30}};

/// Lanes outside `members` skip the instruction; their outputs stay as they were set.
std::string under_mask(const Members& members, std::string_view instruction) {
  if (members.mask == 0xffffffff) return formatted("  {}\n", instruction);
  return formatted(
      "  mov.u32 %t, %laneid;\n  mov.u32 %cc, {};\n  shr.u32 %cc, %cc, %t;\n  and.b32 %cc, %cc, 1;\n"
      "  setp.eq.u32 %skip, %cc, 0;\n  @%skip bra SKIP;\n  {}\nSKIP:\n",
      members.mask, instruction);
}

Case started(std::string_view form, std::string_view variant, std::vector<Slot> inputs, std::vector<Slot> outputs) {
  Case c;
  c.form = form;
  c.name = formatted("{} {}", form, variant);
  c.inputs = std::move(inputs);
  c.outputs = std::move(outputs);
  c.warp = true;
  for (size_t i = 0; i < c.outputs.size(); ++i)
    c.body += c.outputs[i].type == Type::Pred
                  ? formatted("  setp.ne.u32 %d{}, 0, 0;\n", i)
                  : formatted("  mov.b{} %d{}, 0x{:x};\n", c.outputs[i].bits, i, 0x77777777);
  return c;
}

void add_shuffles(std::vector<Case>& into) {
  // Clamp and segment of the documents: width 32, 16, 8 and 2; a clamp inside the segment.
  struct Control {
    uint32_t forward, up;
  };
  constexpr Control kControls[] = {{0x1f, 0}, {0x101f, 0x1000}, {0x181f, 0x1800}, {0x1e1f, 0x1e00}, {0x1017, 0x1003}};
  for (const std::string_view kind : {"up", "down", "bfly", "idx"})
    for (const Members& members : kMembers)
      for (const Control& control : kControls) {
        const uint32_t c = kind == "up" ? control.up : control.forward;
        if (members.mask == 0x0000ffff && (c >> 8) < 0x10) continue;  // sources would leave the half
        Case made = started(formatted("shfl.sync.{}.b32", kind), formatted("{} c=0x{:x}", members.name, c),
                            {kWord, {Type::U16, 32}}, {kWord, kPredicate});
        // A clamp that is odd would send even lanes to odd ones.
        if (members.keep == 30 && (c & 0x17) == 0x17) continue;
        made.body += formatted("  and.b32 %a1, %a1, {};\n", members.keep);
        made.body += under_mask(
            members, formatted("shfl.sync.{}.b32 %d0|%d1, %a0, %a1, 0x{:x}, 0x{:x};", kind, c, members.mask));
        into.push_back(std::move(made));
      }
}

void add_votes(std::vector<Case>& into) {
  for (const Members& members : kMembers) {
    for (const std::string_view kind : {"all", "any", "uni"})
      for (const std::string_view rare : {"", " rare"}) {
        Case made = started(formatted("vote.sync.{}.pred", kind), formatted("{}{}", members.name, rare),
                            {rare.empty() ? kPredicate : Slot{Type::U32, 32}}, {kPredicate});
        // "rare": a predicate that differs in few lanes of few warps.
        const std::string_view from = rare.empty() ? "%a0" : "%p";
        if (!rare.empty()) made.body += "  and.b32 %t, %a0, 62;\n  setp.eq.u32 %p, %t, 2;\n";
        made.body += under_mask(members, formatted("vote.sync.{}.pred %d0, {}, 0x{:x};", kind, from, members.mask));
        into.push_back(std::move(made));
      }
    Case made = started("vote.sync.ballot.b32", members.name, {kPredicate}, {kWord});
    made.body += under_mask(members, formatted("vote.sync.ballot.b32 %d0, %a0, 0x{:x};", members.mask));
    into.push_back(std::move(made));
  }
}

void add_matches(std::vector<Case>& into) {
  for (const Members& members : kMembers)
    for (const unsigned bits : {32U, 64U}) {
      const Slot value{bits == 32 ? Type::B32 : Type::B64, bits};
      for (const unsigned values : {4U, 1U, 64U}) {  // how many different ones
        const std::string cut = formatted("  and.b{} %a0, %a0, {};\n", bits, values - 1);
        Case any = started(formatted("match.any.sync.b{}", bits), formatted("{} of {}", members.name, values), {value},
                           {kWord});
        any.body += cut + under_mask(members, formatted("match.any.sync.b{} %d0, %a0, 0x{:x};", bits, members.mask));
        into.push_back(std::move(any));
        Case all = started(formatted("match.all.sync.b{}", bits), formatted("{} of {}", members.name, values), {value},
                           {kWord, kPredicate});
        all.body +=
            cut + under_mask(members, formatted("match.all.sync.b{} %d0|%d1, %a0, 0x{:x};", bits, members.mask));
        into.push_back(std::move(all));
      }
    }
}

void add_reductions(std::vector<Case>& into) {
  for (const Members& members : kMembers) {
    for (const std::string_view kind :
         {"add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32"}) {
      Case made = started(formatted("redux.sync.{}", kind), members.name, {kWord}, {kWord});
      made.body += under_mask(members, formatted("redux.sync.{} %d0, %a0, 0x{:x};", kind, members.mask));
      into.push_back(std::move(made));
    }
    Case elected = started("elect.sync", members.name, {}, {kWord, kPredicate});
    elected.body += under_mask(members, formatted("elect.sync %d0|%d1, 0x{:x};", members.mask));
    into.push_back(std::move(elected));
  }
  // A warp that has not parted yet.
  Case active = started("activemask.b32", "at the start", {}, {kWord});
  active.body += "  activemask.b32 %d0;\n";
  into.push_back(std::move(active));
}

}  // namespace

void add_warp_cases(std::vector<Case>& into) {
  add_shuffles(into);
  add_votes(into);
  add_matches(into);
  add_reductions(into);
}

}  // namespace cupola::ptxtest
