#pragma once

#include <array>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "base/format.h"

// Random kernels as kir text, for comparing the ways to run one: structured control flow whose branches and loops
// differ between lanes, warps or not at all, in arithmetic on mutable variables, memory, atomics and what threads do
// together.
//
// Every program has one meaning: threads write cells of their own; shared cells of others are read between barriers
// only; atomics commute and what they return is not used; barriers stand where all threads of the block that are left
// come by, warp operations where all lanes that are left come by or with members that are there; what is read of a lane
// that may be gone is dropped; nothing overflows to infinity, and loops count down.
//
//   kernel @k(ptr o8, ptr o16, ptr o32, ptr o64, ptr in, ptr sums, i32 n, i32 total)
//
// oW: kCells cells of W bits for each of the `total` threads; in: kInputs words; sums: kSums words; n: any number.

namespace cupola::cpu::build::testing {

inline constexpr unsigned kCells = 16, kInputs = 1024, kSums = 256;

class RandomKernel {
 public:
  explicit RandomKernel(uint64_t seed)
      : random_(seed), budget_(2 + static_cast<int>(seed % 13)), meets_(seed % 4 != 0), leaves_(seed % 3 != 0) {}

  std::string text() {
    begin();
    while (budget_ > 0) statement({});
    for (const Variable& one : variables_) store_cell(one.type, load(one), Place::Rows);
    line("ret void");
    return declarations() + slots_ + body_ + "}\n";
  }

 private:
  /// Who comes to a place together.
  enum class Level : uint8_t { Block, Warp, Lane };
  struct Context {
    Level level = Level::Block;
    int depth = 0;
    std::string out, again;  ///< labels of the loop that may be left here; empty: none
  };
  struct Variable {
    std::string name, type;
  };
  enum class Place : uint8_t { Rows, Records };

  // ---- choice and text ----

  uint32_t pick(uint32_t count) { return static_cast<uint32_t>(random_() % count); }
  bool chance(uint32_t one_in) { return pick(one_in) == 0; }
  template <size_t N>
  const char* one_of(const char* const (&list)[N]) {
    return list[pick(N)];
  }
  template <typename... A>
  void line(fmt::format_string<const A&...> format, const A&... arguments) {
    body_ += "  " + formatted(format, arguments...) + "\n";
  }
  template <typename... A>
  std::string let(fmt::format_string<const A&...> format, const A&... arguments) {
    std::string name = formatted("%t{}", next_++);
    body_ += "  " + name + " = " + formatted(format, arguments...) + "\n";
    return name;
  }
  /// A variable of the thread, in the entry block.
  std::string slot(const std::string& type) {
    std::string name = formatted("%t{}", next_++);
    slots_ += "  " + name + " = alloca " + type + "\n";
    return name;
  }
  std::string label() { return formatted("L{}", next_++); }
  void go(const std::string& to) { line("br label %{}", to); }
  void branch(const std::string& condition, const std::string& yes, const std::string& no) {
    line("br i1 {}, label %{}, label %{}", condition, yes, no);
  }
  void at(const std::string& label) { body_ += label + ":\n"; }
  std::string number() {
    static const char* const kNumbers[] = {"0",    "1",  "2",  "3",   "5",          "7",          "8",   "16",
                                           "31",   "32", "33", "64",  "100",        "255",        "256", "992",
                                           "1000", "-1", "-3", "-32", "2147483647", "-2147483648"};
    return chance(4) ? std::to_string(static_cast<int32_t>(random_())) : one_of(kNumbers);
  }
  std::string load(const Variable& one) { return let("load {}, ptr {}", one.type, one.name); }
  const Variable& variable(const std::string& type) {
    std::vector<const Variable*> found;
    for (const Variable& one : variables_)
      if (one.type == type) found.push_back(&one);
    return *found[pick(static_cast<uint32_t>(found.size()))];
  }
  std::string wide(const std::string& index) { return let("{} i32 {} to i64", one_of({"sext", "zext"}), index); }
  std::string element(const std::string& type, const std::string& base, const std::string& index) {
    return let("getelementptr {}, ptr {}, i64 {}", type, base, wide(index));
  }

  static std::string declarations() {
    std::string text =
        "@tile = internal addrspace(3) global [256 x i32] undef, align 4\n"
        "@wide_tile = internal addrspace(3) global [256 x i64] undef, align 8\n"
        "@counts = internal addrspace(3) global [16 x i32] undef, align 4\n";
    for (const char* name : {"tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y", "ntid.z", "ctaid.x", "laneid"})
      text += formatted("declare i32 @cupola.{}()\n", name);
    text +=
        "declare void @cupola.barrier(i32, i32) convergent\n"
        "declare i32 @cupola.barrier_reduce(i32, i32, i32, i32) convergent\n"
        "declare void @cupola.warp_sync(i32) convergent\n"
        "declare i64 @cupola.shuffle(i32, i32, i32, i32, i32) convergent\n"
        "declare i32 @cupola.vote(i32, i32, i32) convergent\n"
        "declare i64 @cupola.match(i32, i32, i64) convergent\n"
        "declare i32 @cupola.redux(i32, i32, i32) convergent\n"
        "declare i32 @cupola.active_mask() convergent\n"
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
           "define ptx_kernel void @k(ptr %o8, ptr %o16, ptr %o32, ptr %o64, ptr %in, ptr %sums, i32 %n, i32 %total) "
           "{\n";
  }

  void begin() {
    for (const char* name : {"tid.x", "tid.y", "tid.z", "ntid.x", "ntid.y", "ntid.z", "ctaid.x", "laneid"})
      line("%{} = call i32 @cupola.{}()", name, name);
    line("%plane = mul i32 %ntid.y, %tid.z");
    line("%rows = add i32 %plane, %tid.y");
    line("%before = mul i32 %rows, %ntid.x");
    line("%lin = add i32 %before, %tid.x");
    line("%area = mul i32 %ntid.x, %ntid.y");
    line("%count = mul i32 %area, %ntid.z");
    line("%first = mul i32 %ctaid.x, %count");
    line("%me = add i32 %first, %lin");
    for (const auto& [type, count] :
         {std::pair{"i32", 4}, {"i64", 2}, {"i16", 1}, {"i8", 1}, {"float", 2}, {"double", 1}})
      for (int i = 0; i < count; ++i) variables_.push_back({formatted("%{}_{}", type, i), type});
    for (const Variable& one : variables_) line("{} = alloca {}", one.name, one.type);
    for (const char* name : {"%u0", "%u1"}) line("{} = alloca i32", name);
    line("%array = alloca [16 x i32]");
    line("%bytes = alloca [16 x i8]");
    line("call void @llvm.memset.p0.i64(ptr %array, i8 1, i64 64, i1 false)");
    line("call void @llvm.memset.p0.i64(ptr %bytes, i8 2, i64 16, i1 false)");
    for (const char* name : {"%u0", "%u1"}) line("store i32 %n, ptr {}", name);
    for (const Variable& one : variables_)
      line("store {} {}, ptr {}", one.type, one.type[0] == 'i' ? "7" : "1.5", one.name);
    if (meets_) clear_shared();
  }

  void clear_shared() {
    for (const auto& [name, type] : {std::pair{"tile", "i32"}, {"wide_tile", "i64"}})
      line("store {} 3, ptr addrspace(3) {}", type, shared_cell(name, type, "%lin"));
    const std::string index = slot("i32"), head = label(), turn = label(), out = label();
    line("store i32 %lin, ptr {}", index);
    go(head);
    at(head);
    const std::string i = let("load i32, ptr {}", index);
    branch(let("icmp ult i32 {}, 16", i), turn, out);
    at(turn);
    line("store i32 0, ptr addrspace(3) {}", shared_cell("counts", "i32", i));
    line("store i32 {}, ptr {}", let("add i32 {}, %count", i), index);
    go(head);
    at(out);
    barrier();
  }

  std::string shared_cell(const char* name, const char* type, const std::string& index) {
    return let("getelementptr {}, ptr addrspace(3) @{}, i64 {}", type, name, wide(index));
  }
  void barrier() { line("call void @cupola.barrier(i32 0, i32 0)"); }

  // ---- values that all threads of the block share ----

  std::string uniform(int depth = 2) {
    if (depth == 0 || chance(3)) switch (pick(6)) {
        case 0:
          return number();
        case 1:
          return "%n";
        case 2:
          return one_of({"%ctaid.x", "%ntid.x", "%count"});
        case 3:
          return let("load i32, ptr {}", element("i32", "%in", let("and i32 {}, 1023", uniform(0))));
        default:
          return let("load i32, ptr {}", one_of({"%u0", "%u1"}));
      }
    const std::string a = uniform(depth - 1), b = uniform(depth - 1);
    return let("{} i32 {}, {}", one_of({"add", "sub", "mul", "xor", "and"}), a, b);
  }

  // ---- values of a thread ----

  std::string thread_number() {
    return one_of({"%tid.x", "%tid.x", "%lin", "%lin", "%me", "%laneid", "%tid.y", "%tid.z"});
  }

  std::string int_leaf() {
    switch (pick(10)) {
      case 0:
        return number();
      case 9: {
        const std::string row = element("<4 x i32>", "%in", let("and i32 {}, 255", int_expression(1)));
        return let("extractelement <4 x i32> {}, i32 {}", let("load <4 x i32>, ptr {}", row), pick(4));
      }
      case 1:
      case 2:
        return thread_number();
      case 3:
        return let("load i32, ptr {}", element("i32", "%in", let("and i32 {}, 1023", int_expression(1))));
      case 4:
        return let("load i32, ptr {}", element("i32", "%array", let("and i32 {}, 15", int_expression(1))));
      case 5:
        return uniform(1);
      case 6:
        return let("load i32, ptr {}", cell("i32", Place::Records));
      default:
        return load(variable("i32"));
    }
  }

  std::string int_expression(int depth) {
    if (depth <= 0 || chance(5))
      return depth <= 0 && chance(2) ? load(variable("i32")) : depth < -2 ? "%me" : int_leaf();
    const auto part = [&] { return int_expression(depth - 1); };
    switch (pick(15)) {
      case 0:
        return let("{} i32 {}, {}", one_of({"lshr", "ashr", "shl"}), part(), std::to_string(pick(32)));
      case 1:
        return let("{} i32 {}, {}", one_of({"lshr", "ashr", "shl"}), part(), let("and i32 {}, 31", part()));
      case 2:
        return let("{} i32 {}, {}", one_of({"udiv", "urem", "sdiv", "srem"}), part(), divisor());
      case 3:
        return let("{} i32 {}, {}", one_of({"udiv", "urem", "sdiv", "srem"}), part(),
                   one_of({"1", "3", "8", "32", "100"}));
      case 4:
        return let("select i1 {}, i32 {}, i32 {}", lane_condition(depth - 1), part(), part());
      case 5: {
        const char* type = one_of({"i8", "i16"});
        return let("{} {} {} to i32", one_of({"sext", "zext"}), type, narrow(type, depth - 1));
      }
      case 6:
        return let("trunc i64 {} to i32", long_expression(depth - 1));
      case 7:
        return let("call i32 @llvm.{}.i32(i32 {}, i32 {})", one_of({"smin", "smax", "umin", "umax"}), part(), part());
      case 8:
        return let("call i32 @llvm.ctpop.i32(i32 {})", part());
      case 9: {
        const std::string f = real_expression("float", depth - 1), size = let("call float @llvm.fabs.f32(float {})", f);
        const std::string small = let("fcmp olt float {}, 1.0e9", size);
        return let("fptosi float {} to i32", let("select i1 {}, float {}, float 2.5", small, f));
      }
      case 10:
        return let("{} i32 {}, {}", one_of({"and", "or", "xor"}), thread_number(), number());
      case 11:
        return let("{} i32 {}, {}", one_of({"add", "sub", "mul"}), thread_number(), uniform(1));
      case 12:
        return let("zext i1 {} to i32", lane_condition(depth - 1));
      default:
        return let("{} i32 {}, {}", one_of({"add", "sub", "mul", "and", "or", "xor"}), part(), part());
    }
  }

  std::string divisor() { return let("or i32 {}, 1", let("and i32 {}, 1023", int_expression(1))); }

  std::string narrow(const char* type, int depth) {
    if (depth > 0 && chance(2))
      return let("{} {} {}, {}", one_of({"add", "mul", "xor"}), type, narrow(type, depth - 1), narrow(type, depth - 1));
    if (chance(3)) return load(variable(type));
    if (type == std::string("i8") && chance(3))
      return let("load i8, ptr {}", element("i8", one_of({"%bytes"}), let("and i32 {}, 15", int_expression(1))));
    return let("trunc i32 {} to {}", int_expression(depth), type);
  }

  std::string long_expression(int depth) {
    switch (pick(depth > 0 ? 6 : 3)) {
      case 0:
        return load(variable("i64"));
      case 1: {  // may wrap before it is extended
        const std::string near = let("{} i32 {}, {}", one_of({"add", "sub", "mul"}), thread_number(), number());
        return wide(near);
      }
      case 2:
        return wide(int_expression(depth - 1));
      case 3:
        return let("{} i64 {}, {}", one_of({"lshr", "ashr", "shl"}), long_expression(depth - 1),
                   std::to_string(pick(64)));
      default:
        return let("{} i64 {}, {}", one_of({"add", "sub", "mul", "xor", "and"}), long_expression(depth - 1),
                   long_expression(depth - 1));
    }
  }

  /// Neither infinite nor no number, and small enough that no operation makes it so.
  std::string sane(const std::string& type, const std::string& value) {
    const char* suffix = type == "float" ? "f32" : "f64";
    const std::string size = let("call {} @llvm.fabs.{}({} {})", type, suffix, type, value);
    return let("select i1 {}, {} {}, {} 1.25", let("fcmp olt {} {}, 1099511627776.0", type, size), type, value, type);
  }

  std::string real_expression(const std::string& type, int depth) {
    const auto part = [&] { return real_expression(type, depth - 1); };
    const char* suffix = type == "float" ? "f32" : "f64";
    if (depth <= 0 || chance(4)) {
      if (chance(2)) return load(variable(type));
      return let("{} i32 {} to {}", one_of({"sitofp", "uitofp"}), int_expression(depth - 1), type);
    }
    std::string value;
    switch (pick(8)) {
      case 0:
        value =
            let("call {} @llvm.fma.{}({} {}, {} {}, {} {})", type, suffix, type, part(), type, part(), type, part());
        break;
      case 1: {
        const std::string below = let("call {} @llvm.fabs.{}({} {})", type, suffix, type, part());
        value = let("fdiv {} {}, {}", type, part(), let("fadd {} {}, 1.0", type, below));
        break;
      }
      case 2:
        value = let("call {} @llvm.sqrt.{}({} {})", type, suffix, type,
                    let("call {} @llvm.fabs.{}({} {})", type, suffix, type, part()));
        break;
      case 3: {
        const std::string a = part(), b = part();
        value = let("select i1 {}, {} {}, {} {}", let("fcmp {} {} {}, {}", one_of({"olt", "oge", "une"}), type, a, b),
                    type, a, type, b);
        break;
      }
      case 4:
        if (type == "float") {
          value = chance(2) ? let("fptrunc double {} to float", real_expression("double", depth - 1))
                            : let("fpext half {} to float", let("fptrunc float {} to half", part()));
        } else {
          value = let("fpext float {} to double", real_expression("float", depth - 1));
        }
        break;
      default:
        value = let("{} {} {}, {}", one_of({"fadd", "fsub", "fmul"}), type, part(), part());
    }
    return sane(type, value);
  }

  std::string expression(const std::string& type, int depth) {
    if (type == "i32") return int_expression(depth);
    if (type == "i64") return long_expression(depth);
    if (type == "i8" || type == "i16") return narrow(type == "i8" ? "i8" : "i16", depth);
    return real_expression(type, depth);
  }

  // ---- conditions ----

  const char* order() { return one_of({"eq", "ne", "ult", "ule", "ugt", "uge", "slt", "sle", "sgt", "sge"}); }

  std::string lane_condition(int depth) {
    switch (pick(5)) {
      case 0:
        return let("icmp {} i32 {}, {}", order(), thread_number(), chance(3) ? uniform(1) : number());
      case 1:
        return let("icmp {} i64 {}, {}", order(), long_expression(depth - 1), number());
      case 2:
        return let("fcmp {} float {}, {}", one_of({"olt", "ogt", "une"}), real_expression("float", depth - 1), "10.0");
      default:
        return let("icmp {} i32 {}, {}", order(), let("and i32 {}, 7", int_expression(depth)), std::to_string(pick(8)));
    }
  }

  std::string condition(Level level) {
    if (level == Level::Lane) return lane_condition(2);
    std::string value = uniform();
    if (level == Level::Warp) value = let("add i32 {}, {}", value, let("lshr i32 %lin, 5"));
    return let("icmp {} i32 {}, {}", order(), let("and i32 {}, 3", value), std::to_string(pick(4)));
  }

  // ---- statements ----

  void statement(const Context& context) {
    --budget_;
    const bool may_nest = context.depth < 3 && budget_ > -12;
    switch (pick(22)) {
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
        return guarded_read();
      default:
        return meets_ ? together(context) : assign();
    }
  }

  void statements(const Context& context) {
    for (uint32_t left = 1 + pick(3); left; --left) statement(context);
  }

  void assign() {
    const Variable& one = variables_[pick(static_cast<uint32_t>(variables_.size()))];
    line("store {} {}, ptr {}", one.type, expression(one.type, 2), one.name);
  }

  /// The thread's own: beside those of other threads, or beside its others.
  std::string cell(const std::string& type, Place place) {
    const std::string which = std::to_string(pick(8));
    std::string index;
    if (place == Place::Rows)
      index = let("add i32 {}, %me", let("mul i32 %total, {}", which));
    else
      index = let("add i32 {}, {}", let("shl i32 %me, 3"), let("add i32 {}, {}", let("shl i32 %total, 3"), which));
    const std::string base = type == "float" ? "32" : type == "double" ? "64" : type.substr(1);
    return element(type, "%o" + base, index);
  }

  void store_cell(const std::string& type, std::string value, Place place) {
    if (chance(12)) return line("store i32 4711, ptr {}", element("i32", "%sums", "255"));  // by all who come, the same
    if (value.empty()) value = expression(type, 2);
    const std::string where = cell(type, place);
    line("store {}{} {}, ptr {}", chance(8) ? "volatile " : "", type, value, where);
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
    const char* number = one_of({"%tid.x", "%lin", "%laneid"});
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

  // ---- threads together ----

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

  std::string ballot(const std::string& mask, const std::string& condition) {
    return let("call i32 @cupola.vote(i32 {}, i32 3, i32 {})", mask, let("zext i1 {} to i32", condition));
  }

  /// All lanes that are left come by.
  void whole_warp() {
    const std::string here = ballot("-1", "true"), members = chance(2) ? "-1" : here;
    switch (pick(6)) {
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
      default:
        return some_of_them(here);
    }
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
    const std::string apart = let("and i32 {}, {}", let("xor i32 {}, %laneid", lane), formatted("{}", ~(width - 1)));
    return let("select i1 {}, i32 {}, i32 %laneid", let("icmp eq i32 {}, 0", apart), lane);
  }

  /// A branch whose lanes are known, which meet in it.
  void some_of_them(const std::string& here) {
    const std::string chosen = lane_condition(2), members = ballot(here, chosen), yes = label(), on = label();
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
        shuffle(members, members);
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
        const std::string one =
            let("call i64 @cupola.shuffle(i32 {}, i32 3, i32 {}, i32 {}, i32 31)", here, uniform(1), leader);
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

  std::mt19937_64 random_;
  int budget_;
  const bool meets_, leaves_;
  std::string slots_, body_;
  int next_ = 0;
  std::vector<Variable> variables_;
};

}  // namespace cupola::cpu::build::testing
