// Oracle: NVIDIA's assembler, whose verdicts on single statements stand in assembler.tsv. Cupola's parser and verifier
// take what it takes and refuse what it refuses.
//
//   ptx-assembler FILE.tsv      "place<TAB>takes|refuses<TAB>text[<TAB>why Cupola says otherwise]"

#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "ptx/syntax/parser.h"
#include "ptx/syntax/verify.h"

namespace {

using cupola::ptx::parse;
using cupola::ptx::verify;

constexpr const char* kModule = R"(.version 8.5
.target sm_90
.address_size 64
.global .f32 gf; .global .u32 gu; .const .u32 cu; .global .u64 gq; .shared .u32 sm; .extern .shared .b8 dyn[];
.global .texref trf; .global .f64 gd;
.func k2() { ret; }
)";

constexpr const char* kRegisters = R"(
.reg .pred p,q; .reg .u32 r,r2; .reg .s32 s; .reg .b32 b,b2; .reg .u64 l,l2; .reg .b64 bl; .reg .f32 f,f2;
.reg .f64 d,d2; .reg .b16 h,h2; .reg .f16 hf; .reg .v4 .f32 v; .reg .v2 .u32 v2; .local .u32 lu; .reg .u16 us;
)";

std::vector<std::string> fields_of(const std::string& line) {
  std::vector<std::string> fields;
  for (size_t at = 0; at <= line.size();) {
    const size_t end = std::min(line.find('\t', at), line.size());
    fields.push_back(line.substr(at, end - at));
    at = end + 1;
  }
  return fields;
}

std::string text_with(const std::string& place, const std::string& statement) {
  const bool in_body = place == "body";
  return kModule + (in_body ? "" : statement) + "\n.visible .entry k(.param .u32 kp) {" + kRegisters +
         (in_body ? statement : "") + "\nret;\n}\n";
}

/// Why Cupola refuses the text, or "".
std::string refusal(const std::string& text) {
  const auto module = parse(text);
  if (!module) return module.error().message;
  const auto verified = verify(*module);
  return verified ? "" : verified.error().message;
}

}  // namespace

int main(int argc, char** argv) {
  std::ifstream file(argc == 2 ? argv[1] : "");
  if (!file) {
    std::cerr << "usage: ptx-assembler FILE.tsv\n";
    return 2;
  }
  int wrong = 0, right = 0, otherwise = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    const auto fields = fields_of(line);
    if (fields.size() < 3) {
      std::cerr << "no verdict in: " << line << "\n";
      return 2;
    }
    const std::string why = refusal(text_with(fields[0], fields[2]));
    const bool agrees = why.empty() == (fields[1] == "takes");
    const bool excused = fields.size() > 3;
    (agrees ? right : otherwise) += 1;
    if (agrees != excused) continue;
    ++wrong;
    std::cout << fields[2] << ": NVIDIA's assembler " << fields[1] << " it; Cupola " << (why.empty() ? "takes it" : why)
              << (excused ? "; the reason in the fourth column is out of date" : "") << "\n";
  }
  std::cout << right << " verdicts agree, " << otherwise << " differ, " << wrong << " of them unexplained\n";
  return wrong || right == 0;
}
