#include <algorithm>

#include "ptx/syntax/parse_state.h"

// What stands at module level. PTX ISA, "PTX Module Directives", "Kernel and Function Directives", "Performance-Tuning
// Directives".

namespace cupola::ptx {
namespace {

constexpr std::string_view kBounds[] = {"maxnreg",           "maxntid",        "reqntid",
                                        "minnctapersm",      "maxnctapersm",   "explicitcluster",
                                        "reqnctapercluster", "maxclusterrank", "blocksareclusters"};
/// Bounds of which the numbers may be left out.
bool takes_no_number(std::string_view bound) {
  return bound == "explicitcluster" || bound == "blocksareclusters";
}

std::optional<Linkage> linkage_named(std::string_view word) {
  if (word == "extern") return Linkage::Extern;
  if (word == "visible") return Linkage::Visible;
  if (word == "weak") return Linkage::Weak;
  if (word == "common") return Linkage::Common;
  return std::nullopt;
}

}  // namespace

Result<> Parser::module() {
  if (!accept_directive("version")) return error("PTX begins with '.version', not " + shown());
  // "8.7" is one number to the lexer.
  const std::string_view version = token_.text;
  const size_t dot = version.find('.');
  const auto digit = [&](size_t at) { return at < version.size() && version[at] >= '0' && version[at] <= '9'; };
  if (dot == std::string_view::npos || dot > 2 || !digit(0) || !digit(dot + 1) || version.size() != dot + 2)
    return error("a version such as 8.7 is expected, not " + shown());
  for (const char c : version)
    if (c != '.') m_.version = m_.version * 10 + static_cast<uint32_t>(c - '0');
  m_.forms.set_version(m_.version);
  advance();
  if (!accept_directive("target")) return error("'.target' is expected, not " + shown());
  do {
    TRY(const std::string_view target, expect_name("a target such as sm_89"));
    m_.targets.push_back(target);
  } while (accept(","));
  if (accept_directive("address_size")) {
    TRY(const uint64_t bits, expect_integer("64"));
    if (bits != 64)
      return error("'.address_size 32' has not been supported since CUDA 9; build with 64-bit addresses", last_);
  }
  while (token_.kind != Token::Kind::End) TRY(item());
  return {};
}

Result<> Parser::item() {
  if (accept(";")) return {};
  if (token_.kind != Token::Kind::Directive) return error("a directive is expected, not " + shown());
  if (accept_directive("file")) return file();
  if (accept_directive("section")) return section();
  if (accept_directive("alias")) return alias();
  if (accept_directive("pragma")) {
    m_.items.push_back({Item::Kind::Pragma, static_cast<uint32_t>(m_.pragmas.size())});
    m_.pragmas.push_back(token_.text);
    if (token_.kind != Token::Kind::String) return error("a string is expected, not " + shown());
    advance();
    return expect(";");
  }
  if (token_.is_directive("loc")) {  // debug information of no function
    const size_t line = token_.location.line;
    while (token_.kind != Token::Kind::End && token_.location.line == line) advance();
    return {};
  }
  return linked_item();
}

/// .file 1 "name" [, time, size]
Result<> Parser::file() {
  TRY(const uint64_t number, expect_integer("a file's number"));
  if (token_.kind != Token::Kind::String) return error("a file's name in quotes is expected, not " + shown());
  m_.items.push_back({Item::Kind::File, static_cast<uint32_t>(m_.files.size())});
  m_.files.push_back({static_cast<uint32_t>(number), token_.text});
  advance();
  if (!accept(",")) return {};
  TRY(integer_constant());
  TRY(expect(","));
  TRY(integer_constant());
  return {};
}

Result<> Parser::section() {
  if (token_.kind != Token::Kind::Directive && token_.kind != Token::Kind::Name)
    return error("a section's name is expected, not " + shown());
  Section section{token_.text, {}};
  advance();
  if (!token_.is("{")) return error("'{' is expected, not " + shown());
  section.text = lexer_.raw_block();
  advance();
  m_.items.push_back({Item::Kind::Section, static_cast<uint32_t>(m_.sections.size())});
  m_.sections.push_back(section);
  return {};
}

Result<> Parser::alias() {
  Alias alias;
  TRY(alias.name, expect_name("a function's name"));
  TRY(expect(","));
  TRY(alias.target, expect_name("a function's name"));
  m_.items.push_back({Item::Kind::Alias, static_cast<uint32_t>(m_.aliases.size())});
  m_.aliases.push_back(alias);
  return expect(";");
}

/// [.extern | .visible | .weak | .common] and a function, a kernel or a variable
Result<> Parser::linked_item() {
  Linkage linkage = Linkage::Internal;
  if (const auto named = linkage_named(token_.text.substr(1)); named && token_.kind == Token::Kind::Directive) {
    linkage = *named;
    advance();
  }
  if (accept_directive("func")) return function(linkage, false);
  if (accept_directive("entry")) return function(linkage, true);
  for (const Space space : {Space::Global, Space::Const, Space::Shared, Space::Local, Space::Tex})
    if (accept_directive(text_of(space))) return variables(space, linkage, m_.variables, false);
  return error("a function or a variable is expected, not " + shown());
}

/// "(.param .b32 a, .reg .u32 b)"; in a prototype the names are '_'.
Result<std::vector<Variable>> Parser::parameter_list(bool prototype) {
  std::vector<Variable> list;
  TRY(expect("("));
  while (!accept(")")) {
    if (!list.empty()) TRY(expect(","));
    const bool in_register = accept_directive("reg");
    if (!in_register && !accept_directive("param")) return error("'.param' or '.reg' is expected, not " + shown());
    TRY(const Variable common, attributes(in_register ? Space::Reg : Space::Param));
    TRY(Variable variable, declarator(common));
    if (variable.open && !prototype && !token_.is(")")) return error("only the last parameter may be without a size");
    list.push_back(std::move(variable));
  }
  return list;
}

Result<> Parser::bounds(Function& function) {
  while (token_.kind == Token::Kind::Directive) {
    const std::string_view word = token_.text.substr(1);
    if (word == "noreturn") {
      function.noreturn = true;
      advance();
      continue;
    }
    if (word == "pragma") {
      advance();
      if (token_.kind != Token::Kind::String) return error("a string is expected, not " + shown());
      function.pragmas.push_back(token_.text);
      advance();
      TRY(expect(";"));
      continue;
    }
    if (std::ranges::find(kBounds, word) == std::end(kBounds)) return error("a body is expected, not " + shown());
    PerformanceBound bound{word, {}};
    advance();
    if (!takes_no_number(word)) {
      do {
        TRY(const uint64_t number, expect_integer("a number"));
        bound.numbers.push_back(static_cast<uint32_t>(number));
      } while (accept(",") && bound.numbers.size() < 3);
    }
    accept(",");
    function.bounds.push_back(std::move(bound));
  }
  return {};
}

Result<> Parser::function(Linkage linkage, bool is_kernel) {
  Function made;
  made.is_kernel = is_kernel;
  made.linkage = linkage;
  if (token_.is("(")) {
    TRY(made.results, parameter_list(false));
  }
  made.location = token_.location;
  TRY(made.name, expect_name("a function's name"));
  if (token_.is("(")) {
    TRY(made.parameters, parameter_list(false));
  }
  if (is_kernel && (!made.results.empty() || std::ranges::count(made.parameters, Space::Reg, &Variable::space)))
    return error(formatted("'{}': a kernel has no results, and .param parameters", made.name), made.location);
  TRY(bounds(made));
  m_.items.push_back({Item::Kind::Function, static_cast<uint32_t>(m_.functions.size())});
  m_.functions.push_back(std::move(made));
  f_ = &m_.functions.back();
  if (token_.is("{")) {
    f_->has_body = true;
    TRY(body());
  } else {
    TRY(expect(";"));
  }
  f_ = nullptr;
  return {};
}

}  // namespace cupola::ptx
