#pragma once

#include <string>

#include "backend/cpu/build/random_values.h"

// Random statements that change variables and memory, without other threads.

namespace cupola::cpu::build::testing {

class RandomMemory : public RandomValues {
 protected:
  using RandomValues::RandomValues;

  void assign() {
    const Variable& one = variables_[pick(static_cast<uint32_t>(variables_.size()))];
    line("store {} {}, ptr {}", one.type, expression(one.type, 2), one.name);
  }

  void store_cell(const std::string& type, std::string value, Place place) {
    if (chance(12)) return line("store i32 4711, ptr {}", element("i32", "%sums", "255"));  // by all who come, the same
    if (value.empty()) value = expression(type, 2);
    const std::string where = cell(type, place);
    line("store {}{} {}, ptr {}", chance(8) ? "volatile " : "", type, value, where);
  }

  void local_memory() {
    const std::string value = int_expression(2),
                      index = let("and i32 {}, 15", chance(3) ? uniform(1) : int_expression(2));
    if (chance(3)) {
      line("store i8 {}, ptr {}", let("trunc i32 {} to i8", value), element("i8", "%bytes", index));
    } else if (chance(3)) {  // through a pointer to one or the other
      const std::string a = element("i32", "%array", index), b = cell("i32", Place::Rows);
      line("store i32 {}, ptr {}", value, let("select i1 {}, ptr {}, ptr {}", lane_condition(1), a, b));
    } else {
      line("store i32 {}, ptr {}", value, element("i32", "%array", index));
    }
  }

  /// A word of sums for an operation that others than it do not change.
  std::string sum_cell(uint32_t operation) {
    const std::string index = let("and i32 {}, 15", chance(3) ? uniform(1) : int_expression(2));
    return element("i32", "%sums", let("add i32 {}, {}", index, std::to_string(16 * operation)));
  }

  void add_up() {
    static const char* const kOperations[] = {"add", "min", "max", "umin", "umax", "and", "or", "xor"};
    const uint32_t which = pick(8);
    if (meets_ && chance(3)) {
      const std::string index = let("and i32 {}, 15", int_expression(2)), value = int_expression(1);
      return line("atomicrmw add ptr addrspace(3) {}, i32 {} monotonic", shared_cell("counts", "i32", index), value);
    }
    const std::string place = sum_cell(which), value = int_expression(2);
    line("atomicrmw {} ptr {}, i32 {} {}", kOperations[which], place, value, one_of({"monotonic", "seq_cst"}));
  }

  void retry() {
    const std::string place = sum_cell(8), step = int_expression(2), start = label(), turn = label(), on = label();
    go(start);
    at(start);
    const std::string first = let("load atomic i32, ptr {} monotonic, align 4", place);
    const std::string old = formatted("%t{}", next_++), seen = formatted("%t{}", next_++);
    go(turn);
    at(turn);
    line("{} = phi i32 [ {}, %{} ], [ {}, %{} ]", seen, first, start, old, turn);
    const std::string next = let("add i32 {}, {}", seen, step);
    const std::string pair = let("cmpxchg ptr {}, i32 {}, i32 {} seq_cst seq_cst", place, seen, next);
    line("{} = extractvalue {{ i32, i1 }} {}, 0", old, pair);
    branch(let("extractvalue {{ i32, i1 }} {}, 1", pair), on, turn);
    at(on);
  }

  void agree() { line("store i32 {}, ptr {}", uniform(), one_of({"%u0", "%u1"})); }

  void call() {
    const std::string a = int_expression(1), b = int_expression(1);
    line("store i32 {}, ptr {}", let("call i32 @{}(i32 {}, i32 {})", chance(4) ? "long" : "half_or_triple", a, b),
         variable("i32").name);
  }

  /// Beside the thread's number, where there is something: elsewhere the extended index may wrap.
  void guarded_read() {
    const std::string number = chance(2) ? table_place() : one_of({"%tid.x", "%lin", "%laneid"});
    const uint32_t back = 1 + pick(40);
    const std::string yes = label(), on = label();
    branch(let("icmp uge i32 {}, {}", number, back), yes, on);
    at(yes);
    const std::string index = let("sub i32 {}, {}", number, back), base = chance(2) ? "i32" : "i8";
    const std::string place = let("getelementptr {}, ptr %in, i64 {}", base, let("zext i32 {} to i64", index));
    const std::string value = let("load {}, ptr {}", base, place);
    line("store {} {}, ptr {}", base, value, variable(base).name);
    go(on);
    at(on);
  }

  /// The block's threads, a row of it, in steps of its width.
  void go_through_row() {
    const std::string at_now = slot("i32"), head = label(), body = label(), out = label();
    const uint32_t begin = pick(3) * pick(40);
    const std::string end = chance(2) ? let("add i32 {}, {}", let("and i32 %n, 255"), pick(400))
                                      : std::to_string(pick(kInputs - begin) + begin);
    line("store i32 {}, ptr {}", let("add i32 %tid.x, {}", begin), at_now);
    go(head);
    at(head);
    const std::string now = let("load i32, ptr {}", at_now);
    branch(let("icmp {} i32 {}, {}", one_of({"slt", "ult"}), now, end), body, out);
    at(body);
    const std::string value = let("load i32, ptr {}", element("i32", "%in", now)), sum = variable("i32").name;
    line("store i32 {}, ptr {}",
         let("{} i32 {}, {}", one_of({"add", "xor", "mul"}), let("load i32, ptr {}", sum), value), sum);
    if (chance(4)) {
      const std::string last = variable("i32").name;
      line("store i32 {}, ptr {}", chance(2) ? now : value, last);
    }
    line("store i32 {}, ptr {}", let("add i32 {}, %ntid.x", now), at_now);
    go(head);
    at(out);
    if (chance(4)) line("store i32 {}, ptr {}", now, variable("i32").name);
  }

  /// The block's threads, a part of a row for each block, in steps of its width: what lies there is counted in shared
  /// memory.
  void count_row() {
    const std::string type = one_of({"i32", "i32", "i64"}), at_now = slot(type), extended = one_of({"sext", "zext"});
    const std::string head = label(), body = label(), latch = label(), out = label();
    const auto counter = [&](const std::string& value) {
      return type == "i32" ? value : let("{} i32 {} to i64", extended, value);
    };
    const bool in_pairs = chance(4);  // every second word
    const std::string part = chance(2) ? counter(let("mul i32 %ctaid.x, {}", pick(500))) : std::to_string(pick(30));
    const std::string end =
        chance(3) ? counter(let("and i32 %n, 255"))
        : chance(2)
            ? std::to_string(pick(400))
            : counter(let("add i32 {}, {}", let("mul i32 %ntid.x, {}", 1 + pick(4)), static_cast<int>(pick(3)) - 1));
    const std::string first = counter(in_pairs ? let("shl i32 %tid.x, 1") : "%tid.x");
    const std::string step = counter(in_pairs ? let("shl i32 %ntid.x, 1") : "%ntid.x");
    line("store {} {}, ptr {}", type, let("add {} {}, {}", type, first, part), at_now);
    const std::string last = let("add {} {}, {}", type, end, part);
    barrier();
    go(head);
    at(head);
    const std::string now = let("load {}, ptr {}", type, at_now);
    branch(let("icmp {} {} {}, {}", one_of({"slt", "ult", "sle", "ule"}), type, now, last), body, out);
    at(body);
    const std::string number = let("sub {} {}, {}", type, now, part);
    const std::string index = type == "i32" ? let("sext i32 {} to i64", number) : number;
    const std::string value = let("load i32, ptr {}", let("getelementptr i32, ptr %in, i64 {}", index));
    if (chance(4)) {
      const std::string yes = label();
      branch(let("icmp ult i32 {}, {}", let("and i32 {}, 7", value), pick(8)), yes, latch);
      at(yes);
    }
    for (uint32_t left = chance(4) ? 2 : 1; left; --left) {
      const std::string count = let("and i32 {}, 15", let("lshr i32 {}, {}", value, pick(9)));
      line("atomicrmw add ptr addrspace(3) {}, i32 {} monotonic", shared_cell("counts", "i32", count),
           chance(2) ? "1" : value);
    }
    go(latch);
    at(latch);
    line("store {} {}, ptr {}", type, let("add {} {}, {}", type, now, step), at_now);
    go(head);
    at(out);
    barrier();
    const std::string count =
        let("load i32, ptr addrspace(3) {}", shared_cell("counts", "i32", let("and i32 %lin, 15")));
    line("store i32 {}, ptr {}", count, variable("i32").name);
    barrier();
  }

  /// Each thread a row of its own, a number a turn.
  void go_through_own_row() {
    const std::string type = one_of({"i32", "i32", "i64"}), extended = one_of({"sext", "zext"});
    const bool is_far = chance(3), writes = chance(3), leaves_out = chance(4);
    const std::string first = let("and i32 {}, 255", let("mul i32 %lin, {}", pick(20)));
    const std::string end = chance(2) ? let("and i32 %n, 127") : std::to_string(pick(200));
    const std::string sum = slot(type), at_now = slot("i32"), where = writes ? cell(type, Place::Rows) : "";
    const std::string head = label(), body = label(), on = label(), out = label();
    line("store {} 0, ptr {}", type, sum);
    line("store i32 0, ptr {}", at_now);
    go(head);
    at(head);
    const std::string now = let("load i32, ptr {}", at_now);
    branch(let("icmp {} i32 {}, {}", one_of({"slt", "ult"}), now, end), body, out);
    at(body);
    line("store i32 {}, ptr {}", let("add i32 {}, 1", now), at_now);
    if (leaves_out) {
      const std::string reads = label(), asked = chance(2) ? let("and i32 {}, 7", now) : "%n";
      branch(let("icmp ne i32 {}, {}", asked, pick(8)), reads, on);
      at(reads);
    }
    const std::string from = is_far ? let("getelementptr {}, ptr %in, i64 {}", type, wide(first)) : "%in";
    const std::string number = is_far ? now : let("add i32 {}, {}", first, now);
    const std::string index = let("{} i32 {} to i64", extended, number);
    const std::string value = let("load {}, ptr {}", type, let("getelementptr {}, ptr {}, i64 {}", type, from, index));
    const std::string thrice = let("mul {} {}, 3", type, let("load {}, ptr {}", type, sum));
    const std::string next = let("add {} {}, {}", type, thrice, value);
    line("store {} {}, ptr {}", type, next, sum);
    if (writes) line("store {} {}, ptr {}", type, next, where);
    go(on);
    at(on);
    go(head);
    at(out);
    line("store {} {}, ptr {}", type, let("load {}, ptr {}", type, sum), variable(type).name);
  }

  /// All blocks' threads, one or two rows of bytes, in steps of the grid's width.
  void go_through_grid() {
    const std::string type = one_of({"i32", "i32", "i64"}), at_now = slot(type), sum = variable("i32").name;
    const std::string head = label(), body = label(), out = label();
    const auto counter = [&](const std::string& value) {
      return type == "i32" ? value : let("{} i32 {} to i64", one_of({"sext", "zext"}), value);
    };
    const std::string block = let("mul i32 %ctaid.x, %ntid.x"), step = counter(let("mul i32 %nctaid.x, %ntid.x"));
    std::string first = counter(let("add i32 %tid.x, {}", block));
    if (chance(2)) first = let("add {} {}, {}", type, first, pick(60));
    const std::string end =
        counter(chance(2) ? let("add i32 {}, {}", let("and i32 %n, 1023"), pick(900)) : std::to_string(pick(2000)));
    line("store {} {}, ptr {}", type, first, at_now);
    go(head);
    at(head);
    const std::string now = let("load {}, ptr {}", type, at_now);
    branch(let("icmp {} {} {}, {}", one_of({"slt", "ult", "sle", "ule"}), type, now, end), body, out);
    at(body);
    const std::string index = type == "i32" ? wide(now) : now, place = let("getelementptr i8, ptr %in, i64 {}", index);
    std::string value = let("zext i8 {} to i32", let("load i8, ptr {}", place));
    if (chance(2)) {
      const std::string other = let("getelementptr i8, ptr {}, i64 2048", place);
      value = let("mul i32 {}, {}", value, let("zext i8 {} to i32", let("load i8, ptr {}", other)));
    }
    line("store i32 {}, ptr {}",
         let("{} i32 {}, {}", one_of({"add", "xor", "mul"}), let("load i32, ptr {}", sum), value), sum);
    if (chance(4)) {
      const std::string yes = label(), on = label(), last = variable("i32").name;
      branch(let("icmp {} i32 {}, 100", one_of({"ult", "eq", "sgt"}), value), yes, on);
      at(yes);
      line("store i32 {}, ptr {}", value, last);
      go(on);
      at(on);
    }
    line("store {} {}, ptr {}", type, let("add {} {}, {}", type, now, step), at_now);
    go(head);
    at(out);
    if (chance(4)) line("store {} {}, ptr {}", type, now, variable(type).name);
  }

  /// Whether threads lie within an array, or at its borders: what most blocks' answer alike.
  void ask_for_place() {
    const std::string end = label();
    for (uint32_t left = 1 + pick(4); left; --left) {
      std::string place = one_of({"%me", "%tid.x", "%tid.y", "%lin"}), type = "i32";
      if (variety_.spreads && place == "%tid.y")
        place = let("add i32 {}, {}", let("mul i32 %ctaid.y, %ntid.y"), place);
      else if (place != "%me")
        place = let("add i32 {}, {}", let("mul i32 %ctaid.x, {}", one_of({"%ntid.x", "%count", "16"})), place);
      if (chance(3)) place = let("{} i32 {}, {}", one_of({"mul", "shl", "sub"}), place, 1 + pick(3));
      if (variety_.spreads && chance(4)) {  // those of whose number some bits are none ask for one behind it
        const uint32_t bits = (2u << pick(3)) - 1;
        const std::string on = label();
        branch(let("icmp eq i32 {}, 0", let("and i32 {}, {}", place, bits)), on, end);
        at(on);
        place = let("or disjoint i32 {}, {}", place, 1 + pick(bits));
      }
      if (chance(4)) place = let("add i32 {}, {}", place, number());
      const bool ends = chance(2);
      std::string bound = ends        ? let("add i32 %total, {}", static_cast<int>(pick(60)) - 20)
                          : chance(4) ? number()
                          : chance(3) ? let("sub i32 %total, %count")
                                      : std::to_string(static_cast<int>(pick(4)) - 2);
      if (chance(4)) {
        place = let("{} i32 {} to i64", one_of({"sext", "zext"}), place);
        bound = bound[0] == '%' ? let("{} i32 {} to i64", one_of({"sext", "zext"}), bound) : bound;
        type = "i64";
      }
      const char* usual =
          ends ? one_of({"slt", "ult", "sle", "ule", "ne"}) : one_of({"sgt", "sge", "ugt", "uge", "ne"});
      const char* asked =
          chance(3) ? one_of({"slt", "ult", "sle", "ule", "sgt", "sge", "ugt", "uge", "eq", "ne"}) : usual;
      const std::string answer = chance(4) ? let("icmp {} {} {}, {}", asked, type, bound, place)
                                           : let("icmp {} {} {}, {}", asked, type, place, bound);
      const std::string value = variable("i32").name;
      line("store i32 {}, ptr {}",
           let("add i32 {}, {}", let("load i32, ptr {}", value), let("select i1 {}, i32 5, i32 %lin", answer)), value);
      if (chance(2)) continue;
      const std::string on = label();
      branch(answer, on, end);
      at(on);
    }
    go(end);
    at(end);
  }

  /// What lies the block's width apart, as far as it is there.
  void read_pieces() {
    std::string place = let("add i32 %tid.x, {}", pick(3) * pick(40));
    for (uint32_t left = 2 + pick(2); left; --left) {
      const std::string yes = label(), on = label(), sum = variable("i32").name;
      branch(let("icmp ult i32 {}, {}", place, kInputs), yes, on);
      at(yes);
      const std::string value = let("load i32, ptr {}", element("i32", "%in", place));
      line("store i32 {}, ptr {}", let("add i32 {}, {}", let("load i32, ptr {}", sum), value), sum);
      go(on);
      at(on);
      place = let("add i32 {}, %ntid.x", place);
    }
  }

  /// All threads of a column, or of a row, store the same to one place.
  void store_together() {
    if (chance(2)) {
      const std::string column = let("and i32 %tid.x, 63"), value = let("mul i32 {}, {}", column, "77");
      return line("store i32 {}, ptr {}", value, element("i32", "%sums", let("add i32 {}, 160", column)));
    }
    const std::string row = let("and i32 %rows, 15"), value = let("mul i32 {}, {}", row, "1001");
    line("store i32 {}, ptr {}", value, element("i32", "%sums", let("add i32 {}, 224", row)));
  }

  /// By what is zero in some rows, which do not come.
  void guarded_division() {
    const std::string divisor = chance(2) ? "%tid.y" : row_value(1),
                      value = chance(2) ? row_value(1) : int_expression(1);
    const std::string yes = label(), on = label();
    branch(let("icmp ne i32 {}, 0", divisor), yes, on);
    at(yes);
    line("store i32 {}, ptr {}", let("{} i32 {}, {}", one_of({"udiv", "urem"}), value, divisor), variable("i32").name);
    go(on);
    at(on);
  }
};

}  // namespace cupola::cpu::build::testing
