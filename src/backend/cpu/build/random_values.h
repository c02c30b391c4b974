#pragma once

#include <string>

#include "backend/cpu/build/random_text.h"

// Random expressions: of what all threads of the block share, those of a row of it, or each has for itself.

namespace cupola::cpu::build::testing {

class RandomValues : public RandomText {
 protected:
  using RandomText::RandomText;

  // ---- values that all threads of the block share ----

  std::string uniform(int depth = 2) {
    if (depth == 0 || chance(3)) switch (pick(6)) {
        case 0:
          return number();
        case 1:
          return "%n";
        case 2:
          return variety_.spreads ? one_of({"%ctaid.x", "%ctaid.y", "%block", "%ntid.x", "%count"})
                                  : one_of({"%ctaid.x", "%ntid.x", "%count"});
        case 3:
          return let("load i32, ptr {}", element("i32", "%in", let("and i32 {}, 1023", uniform(0))));
        default:
          return let("load i32, ptr {}", one_of({"%u0", "%u1"}));
      }
    const std::string a = uniform(depth - 1), b = uniform(depth - 1);
    return let("{} i32 {}, {}", one_of({"add", "sub", "mul", "xor", "and"}), a, b);
  }

  // ---- values that threads of a row of the block share ----

  std::string row_value(int depth = 2) {
    if (depth == 0 || chance(3)) switch (pick(6)) {
        case 0:
          return uniform(1);
        case 1:
          return "%tid.z";
        case 2:
          return let("load i32, ptr {}", element("i32", "%in", let("and i32 {}, 1023", row_value(1))));
        default:
          return one_of({"%tid.y", "%rows"});
      }
    const std::string a = row_value(depth - 1), b = row_value(depth - 1);
    switch (pick(6)) {
      case 0:
        return let("{} i32 {}, {}", one_of({"lshr", "ashr", "shl"}), a, let("and i32 {}, 31", b));
      case 1:
        return let("{} i32 {}, {}", one_of({"udiv", "urem", "sdiv", "srem"}), a,
                   let("or i32 {}, 1", let("and i32 {}, 1023", b)));
      case 2:
        return let("select i1 {}, i32 {}, i32 {}", row_condition(depth - 1), a, b);
      default:
        return let("{} i32 {}, {}", one_of({"add", "sub", "mul", "xor", "and"}), a, b);
    }
  }

  std::string row_condition(int depth) {
    return let("icmp {} i32 {}, {}", order(), row_value(depth), chance(2) ? number() : row_value(0));
  }

  /// A place in a table of rows of some width, less than 600: a row of the table for each of the block's.
  std::string table_place() {
    const std::string width = chance(2) ? let("and i32 {}, 31", uniform(1)) : one_of({"16", "17", "24", "8"});
    const std::string row = let("and i32 {}, 15", row_value(1)), before = let("mul i32 {}, {}", row, width);
    const std::string column = chance(2) ? "%tid.x" : let("add i32 %tid.x, {}", let("and i32 {}, 15", uniform(1)));
    return chance(2) ? let("add i32 {}, {}", before, column) : let("add i32 {}, {}", column, before);
  }

  /// What threads of a warp share.
  void know_as_warp() {
    const std::string warp = let("lshr i32 %lin, 5"), ours = uniform(1);
    const std::string index = let("and i32 {}, 1023", let("{} i32 {}, {}", one_of({"add", "xor"}), ours, warp));
    std::string known = chance(3) ? index : let("load i32, ptr {}", element("i32", "%in", index));
    if (chance(2))
      known = let("select i1 {}, i32 {}, i32 {}",
                  let("icmp {} i32 {}, {}", one_of({"eq", "ult"}), warp, std::to_string(pick(3))), known,
                  one_of({"120", "5", "%count"}));
    line("store i32 {}, ptr %w0", known);
  }

  // ---- values of a thread ----

  std::string thread_number() {
    return one_of({"%tid.x", "%tid.x", "%lin", "%lin", "%me", "%laneid", "%tid.y", "%tid.z"});
  }

  std::string int_leaf() {
    switch (pick(variety_.spreads ? 15 : 14)) {
      case 0:
        return number();
      case 14:
        return let("load i32, ptr %w0");
      case 13: {  // a row or not, by what the running code finds
        const std::string mixed = let("{} i32 {}, {}", one_of({"xor", "or"}), one_of({"%lin", "%me", "%laneid"}),
                                      let("and i32 {}, {}", uniform(1), one_of({"96", "-32", "1", "127"})));
        return let("load i32, ptr {}", element("i32", "%in", let("and i32 {}, 1023", mixed)));
      }
      case 10:
        return row_value();
      case 11:
        return table_place();
      case 12: {
        const std::string base = one_of({"i32", "i32", "i16", "i8"}), place = table_place();
        const std::string value = let("load {}, ptr {}", base, element(base, "%in", place));
        return base == "i32" ? value : let("{} {} {} to i32", one_of({"sext", "zext"}), base, value);
      }
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
    if (variety_.shifts && chance(10)) return shifted(depth);
    switch (pick(16)) {
      case 0:
        return let("{} i32 {}, {}", one_of({"lshr", "ashr", "shl"}), part(), std::to_string(pick(32)));
      case 13:
        return let("call i32 @cupola.{}(i32 {}, i32 {}, i32 {}, i32 {})", one_of({"dot4", "dot2"}),
                   std::to_string(pick(4)), chance(3) ? uniform(1) : part(), part(), part());
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

  /// A number shifted by what the block or a row of it shares, maybe by 32 and more, and some of its bits, taken before
  /// it is known whether the distance is less than 32 or afterwards.
  std::string shifted(int depth) {
    const char* shift = one_of({"lshr", "lshr", "shl", "ashr"});
    const std::string number = int_expression(depth - 1), far = chance(3) ? row_value(1) : uniform(1);
    const std::string distance = chance(2) ? far : let("and i32 {}, 63", far);
    const auto take = [&](const std::string& from) {
      switch (pick(5)) {
        case 0:
          return let("and i32 {}, {}", from, one_of({"1", "255", "15", "-2", "61440"}));
        case 1:
          return let("and i32 {}, {}", from, int_expression(depth - 1));
        case 2:
          return let("and i32 {}, {}", from, uniform(1));
        default:
          return from;
      }
    };
    const std::string moved = take(let("{} i32 {}, {}", shift, number, distance));
    const std::string beyond = shift == std::string("ashr") ? let("ashr i32 {}, 31", number) : "0";
    const std::string is_near = chance(2) ? let("icmp ult i32 {}, 32", distance) : let("icmp ule i32 {}, 31", distance);
    return take(let("select i1 {}, i32 {}, i32 {}", is_near, moved, beyond));
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
    switch (pick(7)) {
      case 5:
        return row_condition(depth);
      case 6:
        return let("icmp {} i32 {}, {}", order(), table_place(), chance(2) ? number() : row_value(1));
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
};

}  // namespace cupola::cpu::build::testing
