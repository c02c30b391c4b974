#include "rows.h"

#include "base/format.h"

namespace cupola::libdevicetest {
namespace {

constexpr double any = 0;  // with `any`: no range is of more interest than others

constexpr Row kRows[] = {
#define LIBDEVICE(name, signature, family, oracle, cuda, ulps, absolute, where, low, high) \
  {#name, #signature, Family::family, #oracle, cuda, ulps, absolute, Where::where, low, high},
#include "device/libdevice.def"
#undef LIBDEVICE
};

std::string_view llvm_type(char letter) {
  switch (letter) {
    case 'v':
      return "void";
    case 'f':
    case 'F':
      return "float";
    case 'd':
    case 'D':
      return "double";
    case 'i':
    case 'u':
    case 'I':
      return "i32";
    case 'l':
    case 'U':
      return "i64";
    case 'h':
      return "i16";
    default:
      return "ptr";
  }
}

/// How a slot becomes a value of the type: the name of the value, whose instructions are appended.
std::string from_slot(std::string& text, char letter, std::string_view slot, const std::string& name) {
  const std::string_view type = llvm_type(letter);
  if (letter == 'l' || letter == 'U') return std::string(slot);
  if (letter == 'd') {
    text += formatted("  %{} = bitcast i64 {} to double\n", name, slot);
  } else if (letter == 'f') {
    text += formatted("  %{}.w = trunc i64 {} to i32\n  %{} = bitcast i32 %{}.w to float\n", name, slot, name, name);
  } else {
    text += formatted("  %{} = trunc i64 {} to {}\n", name, slot, type);
  }
  return "%" + name;
}

std::string to_slot(std::string& text, char letter, std::string_view value, const std::string& name) {
  const std::string_view type = llvm_type(letter);
  if (type == "i64") return std::string(value);
  if (type == "double") {
    text += formatted("  %{} = bitcast double {} to i64\n", name, value);
  } else if (type == "float") {
    text += formatted("  %{}.w = bitcast float {} to i32\n  %{} = zext i32 %{}.w to i64\n", name, value, name, name);
  } else {
    const bool is_signed = letter == 'i' || letter == 'I';
    text += formatted("  %{} = {} {} {} to i64\n", name, is_signed ? "sext" : "zext", type, value);
  }
  return "%" + name;
}

/// The call and what surrounds it, in the block of a thread that has work.
std::string body(const Row& row) {
  std::string text =
      formatted("  %first = mul i64 %i, {}\n  %in.i = getelementptr i64, ptr %in, i64 %first\n", input_slots(row));
  std::string arguments, types;
  std::vector<std::string> pointers;
  unsigned slot = 0, number = 0;
  for (const char letter : row.arguments()) {
    const std::string name = formatted("a{}", number++);
    std::string value;
    if (is_result_pointer(letter)) {
      pointers.push_back("%" + name);
      value = "%" + name;
    } else {
      text += formatted("  %{}.p = getelementptr i64, ptr %in.i, i64 {}\n", name, slot++);
      value = formatted("%{}.p", name);
      if (llvm_type(letter) != "ptr") {
        text += formatted("  %{}.s = load i64, ptr %{}.p\n", name, name);
        value = from_slot(text, letter, formatted("%{}.s", name), name);
      }
    }
    const std::string_view type = is_result_pointer(letter) ? "ptr" : llvm_type(letter);
    arguments += formatted("{}{} {}", arguments.empty() ? "" : ", ", type, value);
  }
  const std::string_view result = llvm_type(row.result());
  text += formatted("  {}call {} @__nv_{}({})\n", row.result() == 'v' ? "" : "%r = ", result, row.name, arguments);
  const std::string letters = output_letters(row);
  text += formatted("  %last = mul i64 %i, {}\n  %out.i = getelementptr i64, ptr %out, i64 %last\n", letters.size());
  size_t pointer = 0;
  for (size_t i = 0; i < letters.size(); ++i) {
    std::string value = "%r";
    if (i > 0 || row.result() == 'v') {
      value = formatted("%o{}", i);
      text += formatted("  {} = load {}, ptr {}\n", value, llvm_type(letters[i]), pointers[pointer++]);
    }
    value = to_slot(text, letters[i], value, formatted("s{}", i));
    text += formatted("  %q{} = getelementptr i64, ptr %out.i, i64 {}\n  store i64 {}, ptr %q{}\n", i, i, value, i);
  }
  return text;
}

std::string declaration(const Row& row) {
  std::string types;
  for (const char letter : row.arguments()) {
    if (!types.empty()) types += ", ";
    types += is_result_pointer(letter) ? "ptr" : llvm_type(letter);
  }
  return formatted("declare {} @__nv_{}({})\n", llvm_type(row.result()), row.name, types);
}

std::string kernel(const Row& row, bool flushes) {
  std::string text = formatted("define ptx_kernel void @k_{}(ptr %in, ptr %out, i32 %count){} {{\n", row.name,
                               flushes ? " \"denormal-fp-math-f32\"=\"preserve-sign,preserve-sign\"" : "");
  unsigned number = 0;
  for (const char letter : row.arguments()) {
    if (is_result_pointer(letter)) text += formatted("  %a{} = alloca {}\n", number, llvm_type(letter));
    ++number;
  }
  text +=
      "  %block = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\n  %size = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()\n"
      "  %thread = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n  %start = mul i32 %block, %size\n"
      "  %place = add i32 %start, %thread\n  %i = zext i32 %place to i64\n  %inside = icmp ult i32 %place, %count\n"
      "  br i1 %inside, label %work, label %end\nwork:\n";
  return text + body(row) + "  br label %end\nend:\n  ret void\n}\n";
}

}  // namespace

std::span<const Row> rows() {
  return kRows;
}

bool is_result_pointer(char letter) {
  return letter == 'I' || letter == 'F' || letter == 'D';
}

unsigned input_slots(const Row& row) {
  unsigned slots = 0;
  for (const char letter : row.arguments())
    slots += letter == 'p' || letter == 'q' ? kArraySlots : is_result_pointer(letter) ? 0 : 1;
  return slots;
}

std::string output_letters(const Row& row) {
  std::string letters;
  if (row.result() != 'v') letters += row.result();
  for (const char letter : row.arguments())
    if (is_result_pointer(letter)) letters += static_cast<char>(letter - 'A' + 'a');
  return letters;
}

unsigned output_slots(const Row& row) {
  return static_cast<unsigned>(output_letters(row).size());
}

std::string module_text(std::span<const Row* const> rows, bool flushes) {
  std::string text =
      "target triple = \"nvptx64-nvidia-cuda\"\n"
      "declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()\ndeclare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()\n"
      "declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()\n";
  for (const Row* row : rows) text += declaration(*row) + kernel(*row, flushes);
  if (flushes) text += "!llvm.module.flags = !{!0}\n!0 = !{i32 4, !\"nvvm-reflect-ftz\", i32 1}\n";
  return text;
}

}  // namespace cupola::libdevicetest
