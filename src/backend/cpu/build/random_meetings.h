#pragma once

#include <string>

#include "backend/cpu/build/random_records.h"

// Random statements in which threads of a warp or of the block meet.

namespace cupola::cpu::build::testing {

class RandomMeetings : public RandomRecords {
 protected:
  using RandomRecords::RandomRecords;

  void clear_shared() {
    for (const auto& [name, type] : {std::pair{"tile", "i32"}, {"wide_tile", "i64"}})
      line("store {} 3, ptr addrspace(3) {}", type, shared_cell(name, type, "%lin"));
    const std::string index = slot("i32"), head = label(), turn = label(), out = label();
    line("store i32 %lin, ptr {}", index);
    go(head);
    at(head);
    const std::string i = let("load i32, ptr {}", index);
    branch(let("icmp ult i32 {}, 272", i), turn, out);
    at(turn);
    line("store i32 5, ptr addrspace(3) {}", shared_cell("square", "i32", i));
    line("store i64 6, ptr addrspace(3) {}", shared_cell("wide_square", "i64", i));
    line("store i32 0, ptr addrspace(3) {}", shared_cell("counts", "i32", let("and i32 {}, 15", i)));
    line("store i32 {}, ptr {}", let("add i32 {}, %count", i), index);
    go(head);
    at(out);
    barrier();
  }

  void together(const Context& context) {
    switch (context.level) {
      case Level::Block:
        return chance(2) ? whole_block() : whole_warp();
      case Level::Warp:
        return whole_warp();
      case Level::Lane:
        return some_lanes();
    }
  }

  void whole_block() {
    barrier();
    if (chance(3)) return tile();
    const std::string other = let("urem i32 {}, %count", int_expression(2));
    switch (pick(4)) {
      case 0: {
        const std::string said = let("zext i1 {} to i32", lane_condition(2));
        line("store i32 {}, ptr %u0",
             let("call i32 @cupola.barrier_reduce(i32 0, i32 0, i32 {}, i32 {})", std::to_string(pick(3)), said));
        break;
      }
      case 1:
        line("store i32 {}, ptr %i32_1",
             let("load i32, ptr addrspace(3) {}", shared_cell("counts", "i32", let("and i32 {}, 15", other))));
        barrier();
        break;
      case 2:
        line("store i64 {}, ptr addrspace(3) {}", long_expression(2), shared_cell("wide_tile", "i64", "%lin"));
        barrier();
        line("store i64 {}, ptr %i64_0", let("load i64, ptr addrspace(3) {}", shared_cell("wide_tile", "i64", other)));
        break;
      default:
        line("store i32 {}, ptr addrspace(3) {}", int_expression(2), shared_cell("tile", "i32", "%lin"));
        barrier();
        line("store i32 {}, ptr %i32_2", let("load i32, ptr addrspace(3) {}", shared_cell("tile", "i32", other)));
    }
  }

  /// Of the threads in the first 16 rows and columns each writes its place in a square, or one that is turned; then
  /// each thread reads some, in its own row, in its own column or anywhere.
  void tile() {
    const char *width = one_of({"16", "17"}), *name = one_of({"square", "square", "wide_square"});
    const std::string type = name == std::string("square") ? "i32" : "i64", mine = label(), on = label();
    const auto place = [&](const std::string& row, const std::string& column) {
      return shared_cell(name, type.c_str(), let("add i32 {}, {}", let("mul i32 {}, {}", row, width), column));
    };
    const std::string low_row = let("icmp ult i32 %rows, 16"), low_column = let("icmp ult i32 %tid.x, 16");
    branch(let("and i1 {}, {}", low_row, low_column), mine, on);
    at(mine);
    const std::string value = expression(type, 2), to = chance(3) ? place("%tid.x", "%rows") : place("%rows", "%tid.x");
    line("store {} {}, ptr addrspace(3) {}", type, value, to);
    go(on);
    at(on);
    barrier();
    for (uint32_t left = 1 + pick(3); left; --left) {
      const std::string row = near("%rows"), column = near("%tid.x");
      const std::string from = chance(3) ? place(column, row) : place(row, column);
      keep(type, let("{} {} {}, {}", one_of({"add", "xor"}), type, let("load {}, ptr addrspace(3) {}", type, from),
                     load(variable(type))));
    }
    barrier();
  }

  /// A number below 16.
  std::string near(const std::string& number) {
    switch (pick(4)) {
      case 0:
        return let("and i32 {}, 15", uniform(1));
      case 1:
        return let("and i32 {}, 15", let("add i32 {}, {}", number, one_of({"1", "-1", "16"})));
      case 2:
        return let("and i32 {}, 15", chance(3) ? int_expression(1) : row_value(1));
      default:
        return let("and i32 {}, 15", number);
    }
  }

  std::string ballot(const std::string& mask, const std::string& condition) {
    return let("call i32 @cupola.vote(i32 {}, i32 3, i32 {})", mask, let("zext i1 {} to i32", condition));
  }

  /// All lanes that are left come by, or all that are not `parted` from them for good.
  void whole_warp(bool parted = false) {
    const std::string here = ballot("-1", "true"), members = chance(2) ? "-1" : here;
    switch (pick(variety_.is_latest ? 9 : 6)) {
      case 0:
      case 1:
        return shuffle(members, here);
      case 2:
        return keep("i32", let("call i32 @cupola.vote(i32 {}, i32 {}, i32 {})", members, std::to_string(pick(4)),
                               let("zext i1 {} to i32", lane_condition(2))));
      case 3:
        return keep("i64", let("call i64 @cupola.match(i32 {}, i32 {}, i64 {})", here, std::to_string(pick(2)),
                               let("and i64 {}, 3", long_expression(1))));
      case 4:
        return keep("i32", let("call i32 @cupola.redux(i32 {}, i32 {}, i32 {})", members, std::to_string(pick(8)),
                               int_expression(2)));
      case 5:
        return some_of_them(here, parted && chance(2));
      default:
        return find_peers(members);
    }
  }

  /// Those of the same digits, by votes on each of their bits.
  void find_peers(const std::string& members) {
    const std::string digits = let("add i32 {}, {}", int_expression(2), let("mul i32 %laneid, {}", pick(1u << 16)));
    std::string peers = chance(3) ? int_expression(1) : "-1";
    const uint32_t first = pick(32), count = 2 + pick(9);
    for (uint32_t bit = first; bit < first + count; ++bit) {
      const std::string alone = let("and i32 {}, {}", digits, static_cast<int32_t>(1u << bit % 32));
      const std::string is_set = chance(6) ? lane_condition(1) : let("icmp ne i32 {}, 0", alone);
      const std::string others = let("sext i1 {} to i32", let("xor i1 {}, true", is_set));
      peers = let("and i32 {}, {}", peers, let("xor i32 {}, {}", ballot(members, is_set), others));
    }
    keep("i32", peers);
  }

  void keep(const std::string& type, const std::string& value) {
    line("store {} {}, ptr {}", type, value, variable(type).name);
  }

  void shuffle(const std::string& members, const std::string& here) {
    const uint32_t kind = pick(4), width = 1u << pick(6), clamp = (32 - width) << 8 | (kind == 0 ? 0 : 31);
    const std::string b = chance(3) ? int_expression(1) : std::to_string(pick(32)), value = int_expression(2);
    const std::string wide = let("call i64 @cupola.shuffle(i32 {}, i32 {}, i32 {}, i32 {}, i32 {})", members,
                                 std::to_string(kind), value, b, std::to_string(clamp));
    const std::string lane = source(kind, b, width);
    const std::string there = let("trunc i32 {} to i1", let("lshr i32 {}, {}", here, let("and i32 {}, 31", lane)));
    keep("i64", let("select i1 {}, i64 {}, i64 4711", there, wide));
  }

  /// The lane that is read, or one outside of the segment: then it is the lane's own, which is there.
  std::string source(uint32_t kind, const std::string& b, uint32_t width) {
    const std::string low = let("and i32 {}, 31", b);
    std::string lane;
    if (kind == 0) lane = let("sub i32 %laneid, {}", low);
    if (kind == 1) lane = let("add i32 %laneid, {}", low);
    if (kind == 2) lane = let("xor i32 %laneid, {}", low);
    if (kind == 3)
      return let("or i32 {}, {}", let("and i32 %laneid, {}", 32 - width), let("and i32 {}, {}", low, width - 1));
    if (kind == 2) {  // a lower segment's lanes can be read
      const std::string inside = let("icmp ule i32 {}, {}", lane, let("or i32 %laneid, {}", width - 1));
      return let("select i1 {}, i32 {}, i32 %laneid", inside, lane);
    }
    const std::string apart = let("and i32 {}, {}", let("xor i32 {}, %laneid", lane), formatted("{}", ~(width - 1)));
    return let("select i1 {}, i32 {}, i32 %laneid", let("icmp eq i32 {}, 0", apart), lane);
  }

  /// A branch whose lanes are known, which meet in it; `names_others`: and name all that are not `here`.
  void some_of_them(const std::string& here, bool names_others) {
    const std::string chosen = lane_condition(2), there = ballot(here, chosen), yes = label(), on = label();
    const std::string members = names_others ? let("or i32 {}, {}", there, let("xor i32 {}, -1", here)) : there;
    branch(chosen, yes, on);
    at(yes);
    switch (pick(4)) {
      case 0:
        keep("i32", let("call i32 @cupola.redux(i32 {}, i32 {}, i32 {})", members, std::to_string(pick(8)),
                        int_expression(2)));
        break;
      case 1:
        keep("i64",
             let("call i64 @cupola.match(i32 {}, i32 0, i64 {})", members, let("and i64 {}, 3", long_expression(1))));
        break;
      case 2:
        shuffle(members, there);
        break;
      default:
        line("call void @cupola.warp_sync(i32 {})", members);
        keep("i32", ballot(members, lane_condition(2)));
    }
    go(on);
    at(on);
  }

  /// One lane adds for all that are there with it. Which lanes these are is open, what is added in all is not.
  void some_lanes() {
    const std::string here = let("call i32 @cupola.active_mask()");
    std::string members = here, place = element("i32", "%sums", std::to_string(16 * 9 + pick(16))), sum;
    switch (pick(4)) {
      case 0:
        sum = let("call i32 @llvm.ctpop.i32(i32 {})", ballot(here, lane_condition(2)));
        break;
      case 1: {
        const std::string key = let("and i32 {}, 7", int_expression(2));
        members = let("trunc i64 {} to i32",
                      let("call i64 @cupola.match(i32 {}, i32 0, i64 {})", here, let("zext i32 {} to i64", key)));
        place = element("i32", "%sums", let("add i32 {}, {}", key, std::to_string(16 * 9)));
        sum = let("call i32 @llvm.ctpop.i32(i32 {})", members);
        break;
      }
      case 2: {
        const std::string leader = let("call i32 @llvm.cttz.i32(i32 {}, i1 true)", here), value = int_expression(2);
        // Some that are there may be turns of a loop behind the others: what they all have in all turns.
        const std::string one = let("call i64 @cupola.shuffle(i32 {}, i32 3, i32 {}, i32 {}, i32 31)", here,
                                    one_of({"%n", "%count", "%ctaid.x"}), leader);
        keep("i32", let("trunc i64 {} to i32", one));
        sum = let("call i32 @cupola.redux(i32 {}, i32 0, i32 {})", here, value);
        break;
      }
      default:
        sum = let("call i32 @cupola.redux(i32 {}, i32 0, i32 {})", here, int_expression(2));
    }
    const std::string yes = label(), on = label();
    branch(let("icmp eq i32 {}, %laneid", let("call i32 @llvm.cttz.i32(i32 {}, i1 true)", members)), yes, on);
    at(yes);
    line("atomicrmw add ptr {}, i32 {} monotonic", place, sum);
    go(on);
    at(on);
  }
};

}  // namespace cupola::cpu::build::testing
