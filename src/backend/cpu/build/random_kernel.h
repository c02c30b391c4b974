#pragma once

#include <array>
#include <string>

#include "backend/cpu/build/random_meetings.h"
#include "base/kernel_info.h"

// Random kernels as kir text, for comparing the ways to run one: structured control flow whose branches and loops
// differ between lanes, rows of the block, warps or not at all, in arithmetic on mutable variables, memory, atomics and
// what threads do together.
//
// Every program has one meaning: threads write cells of their own, or the same to one place; shared cells of others are
// read between barriers only; atomics commute and what they return is not used; barriers stand where all threads of the
// block that are left come by, warp operations where all lanes that are left come by, or with members that are there,
// or where the members that are not there come to no other operation; what is read of a lane that may be gone is
// dropped; nothing overflows to infinity, and loops count down.
//
//   kernel @k(ptr o8, ptr o16, ptr o32, ptr o64, ptr in, ptr sums, i32 n, i32 total, ptr table)
//
// oW: kCells cells of W bits for each of the `total` threads, and behind them a structure for each; in: kInputs words;
// sums: kSums words; table: kTableRows rows of kTableColumns words, a row for each thread of a block, a column for each
// block; n: any number.

namespace cupola::cpu::build::testing {

class RandomKernel : RandomMeetings {
 public:
  explicit RandomKernel(uint64_t seed)
      : RandomMeetings(seed, /*meets=*/seed % 4 != 0,
                       {.spreads = spreads(seed), .is_latest = is_latest(seed), .shifts = shifts(seed)}),
        budget_(2 + static_cast<int>(seed % 13)),
        leaves_(seed % 3 != 0),
        is_new_(seed < kFirstOld || seed >= kFirstNew),
        asks_(asks(seed)),
        finds_peers_(seed < kFirstOld || seed >= kFirstPeers),
        fills_columns_(seed < kFirstOld || seed >= kFirstColumns),
        reads_rows_(seed < kFirstOld || seed >= kFirstRows),
        counts_rows_(seed < kFirstOld || seed >= kFirstCounts) {}

  /// Whether it may ask where threads are.
  static bool asks(uint64_t seed) { return seed < kFirstOld || seed >= kFirstAsking; }

  /// Whether its grid may have two dimensions, and warps know what others do not.
  static bool spreads(uint64_t seed) { return seed < kFirstOld || seed >= kFirstSpread; }

  static bool shifts(uint64_t seed) { return seed < kFirstOld || seed >= kFirstShifting; }

  static bool is_latest(uint64_t seed) { return seed < kFirstOld || seed >= kFirstLatest; }

  /// The grid to run it in: for those that ask where threads are several blocks, some of which are inner ones, for
  /// those that spread in two dimensions too, with odd rows, and more blocks than one call runs.
  static Dim3 grid(uint64_t seed) {
    static constexpr Dim3 kGrids[] = {{5}, {3, 7}, {40}, {9, 5}, {2, 3}};
    if (spreads(seed)) return kGrids[seed / 64 % std::size(kGrids)];
    return asks(seed) ? Dim3{5} : Dim3{2};
  }

  std::string text() {
    begin();
    if (is_new_ && meets_ && chance(3)) {
      chance(3) ? go_through_row() : go_through_grid();
      barrier();
    }
    if (variety_.spreads && chance(2)) know_as_warp();
    if (asks_ && chance(2)) ask_for_place();
    if (finds_peers_ && meets_ && chance(2)) store_for_peers();
    if (reads_rows_ && chance(2)) go_through_own_row();
    if (counts_rows_ && meets_ && chance(2)) count_row();
    while (budget_ > 0) statement({});
    if (meets_) part();
    for (const Variable& one : variables_) store_cell(one.type, load(one), Place::Rows);
    if (fills_columns_ && !chance(3)) fill_column();
    line("ret void");
    return declarations() + slots_ + body_ + "}\n";
  }

 private:
  static std::string declarations() {
    std::string text =
        "@tile = internal addrspace(3) global [256 x i32] undef, align 4\n"
        "@wide_tile = internal addrspace(3) global [256 x i64] undef, align 8\n"
        "@square = internal addrspace(3) global [272 x i32] undef, align 4\n"
        "@wide_square = internal addrspace(3) global [272 x i64] undef, align 8\n"
        "@counts = internal addrspace(3) global [16 x i32] undef, align 4\n";
    for (const char* name : kPlaces) text += formatted("declare i32 @cupola.{}()\n", name);
    text +=
        "declare void @cupola.barrier(i32, i32) convergent\n"
        "declare i32 @cupola.barrier_reduce(i32, i32, i32, i32) convergent\n"
        "declare void @cupola.warp_sync(i32) convergent\n"
        "declare i64 @cupola.shuffle(i32, i32, i32, i32, i32) convergent\n"
        "declare i32 @cupola.vote(i32, i32, i32) convergent\n"
        "declare i64 @cupola.match(i32, i32, i64) convergent\n"
        "declare i32 @cupola.redux(i32, i32, i32) convergent\n"
        "declare i32 @cupola.dot4(i32, i32, i32, i32) nounwind speculatable willreturn memory(none)\n"
        "declare i32 @cupola.dot2(i32, i32, i32, i32) nounwind speculatable willreturn memory(none)\n"
        "declare i32 @cupola.active_mask() convergent\n"
        "declare i32 @llvm.ctpop.i32(i32)\n"
        "define internal i32 @half_or_triple(i32 %a, i32 %b) {\n"
        "  %odd = trunc i32 %a to i1\n  br i1 %odd, label %up, label %down\n"
        "up:\n  %t = mul i32 %a, 3\n  %s = add i32 %t, %b\n  ret i32 %s\n"
        "down:\n  %h = lshr i32 %a, 1\n  ret i32 %h\n}\n"
        "define internal i32 @long(i32 %a, i32 %b) {\n  %v0 = xor i32 %a, %b\n";
    for (int i = 0; i < 210; ++i)  // longer than what is inlined
      text += formatted("  %v{} = {} i32 %v{}, {}\n", i + 1,
                        i % 3 == 0   ? "mul"
                        : i % 3 == 1 ? "xor"
                                     : "add",
                        i, i % 3 == 0 ? 2 * i + 3 : i * 77 + 1);
    return text +
           "  ret i32 %v210\n}\n"
           "define ptx_kernel void @k(ptr %o8, ptr %o16, ptr %o32, ptr %o64, ptr %in, ptr %sums, i32 %n, "
           "i32 %total, ptr %table) {\n";
  }

  void begin() {
    for (const char* name : kPlaces) line("%{} = call i32 @cupola.{}()", name, name);
    line("%plane = mul i32 %ntid.y, %tid.z");
    line("%rows = add i32 %plane, %tid.y");
    line("%before = mul i32 %rows, %ntid.x");
    line("%lin = add i32 %before, %tid.x");
    line("%area = mul i32 %ntid.x, %ntid.y");
    line("%count = mul i32 %area, %ntid.z");
    if (variety_.spreads) {
      line("%blocks = mul i32 %ctaid.y, %nctaid.x");
      line("%block = add i32 %blocks, %ctaid.x");
    }
    line("%first = mul i32 {}, %count", variety_.spreads ? "%block" : "%ctaid.x");
    line("%me = add i32 %first, %lin");
    for (const auto& [type, count] :
         {std::pair{"i32", 4}, {"i64", 2}, {"i16", 1}, {"i8", 1}, {"float", 2}, {"double", 1}})
      for (int i = 0; i < count; ++i) variables_.push_back({formatted("%{}_{}", type, i), type});
    for (const Variable& one : variables_) line("{} = alloca {}", one.name, one.type);
    for (const char* name : {"%u0", "%u1"}) line("{} = alloca i32", name);
    if (variety_.spreads) line("%w0 = alloca i32");
    line("%array = alloca [16 x i32]");
    line("%bytes = alloca [16 x i8]");
    line("call void @llvm.memset.p0.i64(ptr %array, i8 1, i64 64, i1 false)");
    line("call void @llvm.memset.p0.i64(ptr %bytes, i8 2, i64 16, i1 false)");
    for (const char* name : {"%u0", "%u1"}) line("store i32 %n, ptr {}", name);
    if (variety_.spreads) line("store i32 %n, ptr %w0");
    for (const Variable& one : variables_)
      line("store {} {}, ptr {}", one.type, one.type[0] == 'i' ? "7" : "1.5", one.name);
    if (meets_) clear_shared();
  }

  // ---- statements ----

  void statement(const Context& context) {
    --budget_;
    const bool may_nest = context.depth < 3 && budget_ > -12;
    switch (pick(finds_peers_         ? 44
                 : variety_.is_latest ? 41
                 : variety_.spreads   ? 39
                 : asks_              ? 36
                 : is_new_            ? 33
                                      : 28)) {
      case 0:
      case 1:
      case 2:
        return assign();
      case 3:
        return store_cell(one_of({"i8", "i16", "i32", "i64", "float", "double"}), "",
                          chance(2) ? Place::Rows : Place::Records);
      case 4:
      case 5:
      case 6:
        return may_nest ? either(context) : assign();
      case 7:
      case 8:
      case 9:
        return may_nest ? loop(context) : assign();
      case 10:
        return may_nest ? many_ways(context) : assign();
      case 11:
        return local_memory();
      case 12:
        return add_up();
      case 13:
        return retry();
      case 14:
        return leave(context);
      case 15:
        return context.level == Level::Block ? agree() : assign();
      case 16:
        return call();
      case 17:
      case 18:
        return guarded_read();
      case 19:
        return store_together();
      case 20:
        return guarded_division();
      case 21:
      case 22:
      case 23:
        return use_records();
      case 28:
      case 29:
        return go_through_row();
      case 30:
        return read_pieces();
      case 31:
      case 32:
        return go_through_grid();
      case 33:
      case 34:
      case 35:
        return ask_for_place();
      case 36:
        return context.level <= Level::Warp ? know_as_warp() : assign();
      case 37:
      case 38:
        return first_threads(context);
      case 39:
      case 40:
        return count_turns(context);
      case 41:
      case 42:
      case 43:
        return meets_ && context.level == Level::Block ? store_for_peers() : assign();
      default:
        return meets_ ? together(context) : assign();
    }
  }

  void statements(const Context& context) {
    for (uint32_t left = 1 + pick(3); left; --left) statement(context);
  }

  Context inside(const Context& context, Level level) {
    Context result = context;
    ++result.depth;
    if (level > context.level) result.out.clear(), result.again.clear();
    result.level = std::max(level, context.level);
    return result;
  }

  Level some_level(const Context& context) {
    const Level level = static_cast<Level>(std::array{0, 1, 2, 2, 2}[pick(5)]);
    return std::max(level, context.level);
  }

  void either(const Context& context) {
    const Context inner = inside(context, some_level(context));
    const std::string yes = label(), no = label(), on = label();
    const bool has_else = chance(2);
    branch(condition(inner.level), yes, has_else ? no : on);
    at(yes);
    statements(inner);
    go(on);
    if (has_else) {
      at(no);
      statements(inner);
      go(on);
    }
    at(on);
  }

  void many_ways(const Context& context) {
    const Context inner = inside(context, some_level(context));
    const std::string ways[] = {label(), label(), label()}, on = label();
    std::string value = inner.level == Level::Lane ? int_expression(2) : uniform();
    if (inner.level == Level::Warp) value = let("add i32 {}, {}", value, let("lshr i32 %lin, 5"));
    value = let("and i32 {}, 3", value);
    line("switch i32 {}, label %{} [i32 0, label %{} i32 2, label %{} i32 3, label %{}]", value, on, ways[0], ways[1],
         ways[2]);
    for (int i = 0; i < 3; ++i) {
      at(ways[i]);
      statement(inner);
      go(i == 0 && chance(2) ? ways[1] : on);
    }
    at(on);
  }

  void loop(const Context& context) {
    Context inner = inside(context, some_level(context));
    const std::string left = slot("i32"), head = label(), body = label(), latch = label(), out = label();
    inner.out = out;
    inner.again = latch;
    std::string turns = inner.level == Level::Lane ? int_expression(2) : uniform();
    if (inner.level == Level::Warp) turns = let("add i32 {}, {}", turns, let("lshr i32 %lin, 5"));
    turns = let("and i32 {}, {}", turns, one_of({"1", "3", "7"}));
    const bool tests_first = chance(2);
    if (!tests_first) turns = let("add i32 {}, 1", turns);
    line("store i32 {}, ptr {}", turns, left);
    go(tests_first ? head : body);
    at(head);
    branch(let("icmp ne i32 {}, 0", let("load i32, ptr {}", left)), body, out);
    at(body);
    statements(inner);
    if (chance(3)) {
      const std::string one = inner.level == Level::Lane ? variable("i32").name : "%i32_0";
      line("store i32 {}, ptr {}", let("add i32 {}, {}", let("load i32, ptr {}", one), let("load i32, ptr {}", left)),
           one);
    }
    go(latch);
    at(latch);
    line("store i32 {}, ptr {}", let("sub i32 {}, 1", let("load i32, ptr {}", left)), left);
    go(head);
    at(out);
  }

  /// A loop from the thread's place on by the block's width: often all threads go through it as often.
  void count_turns(const Context& context) {
    Context inner = inside(context, Level::Lane);
    const bool along_x = chance(3);
    const std::string place = slot("i32"), head = label(), body = label(), latch = label(), out = label(),
                      step = along_x ? "%ntid.x" : "%count";
    if (chance(3)) inner.out = out, inner.again = latch;
    std::string first = along_x ? "%tid.x" : "%lin", end = let("mul i32 {}, {}", step, 2 + pick(5));
    if (chance(3)) first = let("add i32 {}, {}", first, static_cast<int32_t>(pick(5)) - 2);
    if (chance(2)) end = let("sub i32 {}, {}", end, pick(3));
    if (chance(4)) end = one_of({"64", "256", "%total"});
    line("store i32 {}, ptr {}", first, place);
    go(head);
    at(head);
    const std::string now = let("load i32, ptr {}", place);
    branch(let("icmp {} i32 {}, {}", one_of({"slt", "ult", "sle"}), now, end), body, out);
    at(body);
    statement(inner);
    const std::string one = variable("i32").name;
    line("store i32 {}, ptr {}", let("add i32 {}, {}", let("load i32, ptr {}", one), now), one);
    go(latch);
    at(latch);
    line("store i32 {}, ptr {}", let("add {}i32 {}, {}", one_of({"", "nsw "}), let("load i32, ptr {}", place), step),
         place);
    go(head);
    at(out);
  }

  void leave(const Context& context) {
    const std::string away = label(), on = label();
    if (!context.out.empty() && chance(2)) {
      branch(condition(context.level), chance(3) ? context.again : context.out, on);
    } else if (leaves_) {
      branch(lane_condition(2), away, on);
      at(away);
      store_cell("i32", "", Place::Records);
      line("ret void");
    } else {
      go(on);
    }
    at(on);
  }

  /// A loop, or a branch, in which those who are left meet in each turn: the others have nobody to meet any more.
  void part() {
    const std::string left = slot("i32"), head = label(), body = label(), out = label();
    line("store i32 {}, ptr {}", let("and i32 {}, 7", int_expression(2)), left);
    go(head);
    at(head);
    const std::string turns = let("load i32, ptr {}", left);
    branch(let("icmp ne i32 {}, 0", turns), body, out);
    at(body);
    line("store i32 {}, ptr {}", let("sub i32 {}, 1", turns), left);
    whole_warp(true);
    if (chance(2)) {
      leave({.level = Level::Lane, .out = out, .again = out});
      whole_warp(true);
    }
    go(chance(4) ? out : head);
    at(out);
  }

  /// The threads before one that each warp has known for a while, or all know, act, of the block or of a row; others
  /// look afterwards.
  void first_threads(const Context& context) {
    const bool meets = meets_ && context.level == Level::Block;
    if (meets) barrier();
    const std::string bound = chance(3) ? one_of({"%n", "%ctaid.x", "%total", "40"})
                                        : let("and i32 {}, {}", let("load i32, ptr %w0"), one_of({"7", "63", "127"}));
    const std::string yes = label(), on = label();
    branch(let("icmp {} i32 {}, {}", one_of({"ult", "ule", "slt", "eq"}), one_of({"%lin", "%tid.x", "%laneid"}), bound),
           yes, on);
    at(yes);
    if (meets)
      line("store i32 {}, ptr addrspace(3) {}", int_expression(1), shared_cell("tile", "i32", "%lin"));
    else
      statement(inside(context, Level::Lane));
    go(on);
    at(on);
    if (!meets) return;
    barrier();
    const std::string other = let("urem i32 {}, %count", int_expression(1));
    keep("i32", let("load i32, ptr addrspace(3) {}", shared_cell("tile", "i32", other)));
    barrier();
  }

  /// Each warp's lanes vote on bits of a number, mostly on all of them, and the first of those that have it stores.
  void store_for_peers() {
    barrier();
    const uint32_t bits = 1 + pick(3);
    const std::string digit = let("and i32 {}, {}", int_expression(2), (1 << bits) - 1);
    std::string peers = "-1";
    for (uint32_t bit = 0; bit < bits; ++bit) {
      if (chance(12)) continue;
      const std::string own = let("and i32 {}, 1", let("lshr i32 {}, {}", digit, bit));
      const std::string vote = let("call i32 @cupola.vote(i32 -1, i32 3, i32 {}) convergent", own);
      const std::string alike = let("xor i32 {}, {}", vote, let("add i32 {}, -1", own));
      peers = let("and i32 {}, {}", peers, alike);
    }
    const std::string below = let("xor i32 {}, -1", let("shl i32 -1, %laneid")), store = label(), on = label();
    branch(let("icmp eq i32 {}, 0", let("and i32 {}, {}", peers, chance(8) ? let("xor i32 {}, -1", below) : below)),
           store, on);
    at(store);
    std::string value = let("call i32 @llvm.ctpop.i32(i32 {})", peers);
    if (chance(2)) value = let("add i32 {}, {}", value, chance(3) ? load(variable("i32")) : uniform());
    const std::string first = let("sub i32 %lin, %laneid");
    line("store i32 {}, ptr addrspace(3) {}", value, shared_cell("tile", "i32", let("add i32 {}, {}", first, digit)));
    go(on);
    at(on);
    barrier();
    keep("i32", let("load i32, ptr addrspace(3) {}", shared_cell("tile", "i32", "%lin")));
    barrier();
  }

  /// Each block a column of the table, in their order or in another one, from a place on that it may have computed.
  void fill_column() {
    const std::string row = chance(8) ? let("xor i32 %lin, {}", pick(8)) : "%lin";
    std::string column = "%block";
    switch (pick(10)) {
      case 0:
        column = let("xor i32 %block, {}", 1 + pick(3));
        break;
      case 1:
        column = let("shl i32 %block, 1");
        break;
      case 2:
        column = let("sub i32 63, %block");
        break;
      case 3:  // some blocks elsewhere
        column = let("add i32 %block, {}", let("shl i32 {}, 6", let("and i32 %block, {}", 1 + pick(3))));
        break;
      case 4:
      case 5: {
        const std::string which = let("icmp {} i32 %block, {}", one_of({"ult", "eq", "sgt"}), pick(20));
        column = let("add i32 %block, {}", let("select i1 {}, i32 0, i32 64", which));
        break;
      }
      case 6: {
        const std::string read = let("load i32, ptr {}", element("i32", "%in", "%block"));
        column = let("add i32 %block, {}", let("shl i32 {}, 6", let("and i32 {}, 7", read)));
        break;
      }
      default:
        break;
    }
    if (chance(4)) column = let("add i32 {}, {}", column, let("and i32 {}, 15", one_of({"%n", "%total", "%ntid.x"})));
    const std::string before = let("mul {}i32 {}, {}", one_of({"", "nuw nsw "}), row, kTableColumns);
    const std::string place = chance(2) ? let("add i32 {}, {}", before, column) : let("add i32 {}, {}", column, before);
    const std::string type = chance(3) ? "float" : "i32", value = expression(type, 1);
    line("store {} {}, ptr {}", type, value, element(type, "%table", place));
  }

  static constexpr const char* kPlaces[] = {"tid.x",   "tid.y",   "tid.z",    "ntid.x",   "ntid.y", "ntid.z",
                                            "ctaid.x", "ctaid.y", "nctaid.x", "nctaid.y", "laneid"};

  /// Seeds whose kernels were wrong once are kept, and with them what these kernels are: they have fewer statements.
  static constexpr uint64_t kFirstOld = 1'000'000'000, kFirstNew = 3'800'000'000, kFirstAsking = 4'600'000'000,
                            kFirstSpread = 4'700'000'000, kFirstLatest = 4'900'000'000, kFirstShifting = 5'001'000'000,
                            kFirstPeers = 5'002'000'000, kFirstColumns = 5'003'000'000, kFirstRows = 5'004'000'000,
                            kFirstCounts = 5'005'000'000;

  int budget_;
  const bool leaves_;
  const bool is_new_;  ///< more statements
  const bool asks_;    ///< where threads are, too
  const bool finds_peers_;
  const bool fills_columns_;
  const bool reads_rows_, counts_rows_;
};

}  // namespace cupola::cpu::build::testing
