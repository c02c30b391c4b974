#include <algorithm>

#include "ptx/syntax/parse_state.h"

// Function bodies: scopes, declarations, labels, instructions.

namespace cupola::ptx {
namespace {

constexpr unsigned kDeepestBlock = 200;
constexpr uint32_t kMostRegisters = 1u << 24;

/// "%r57" to "%r" and 57; nothing where no plain number ends it.
struct Numbered {
  std::string_view prefix;
  uint32_t number;
};
std::optional<Numbered> numbered(std::string_view name) {
  size_t digits = 0;
  uint64_t number = 0, unit = 1;
  while (digits < name.size() && digits < 9 && name[name.size() - 1 - digits] >= '0' &&
         name[name.size() - 1 - digits] <= '9') {
    number += unit * static_cast<uint64_t>(name[name.size() - 1 - digits] - '0');
    unit *= 10;
    ++digits;
  }
  if (digits == 0 || digits == name.size()) return std::nullopt;
  if (digits > 1 && name[name.size() - digits] == '0') return std::nullopt;
  return Numbered{name.substr(0, name.size() - digits), static_cast<uint32_t>(number)};
}

/// The first range of the scope that holds the name.
const RegisterRange* in_range(const Scope& scope, std::string_view name) {
  if (scope.ranges.empty()) return nullptr;
  const auto parts = numbered(name);
  if (!parts) return nullptr;
  const auto found = std::ranges::find_if(scope.ranges, [&](const RegisterRange& range) {
    return range.prefix == parts->prefix && parts->number < range.count;
  });
  return found == scope.ranges.end() ? nullptr : &*found;
}

}  // namespace

Result<> Parser::declare(std::string_view name, Binding binding, Location location) {
  if (name == "_") return {};
  Scope& scope = scopes_.back();
  if (in_range(scope, name) || !scope.names.emplace(name, binding).second)
    return error(formatted("'{}' is declared twice", name), location);
  return {};
}

/// "%r<9>" declares nothing that the scope has. Names of earlier registers may lie in a range of a longer prefix.
Result<> Parser::declare_range(const RegisterRange& range, Location location) {
  Scope& scope = scopes_.back();
  for (const RegisterRange& other : scope.ranges)
    if (other.prefix == range.prefix) return error(formatted("'{}<' is declared twice", range.prefix), location);
  for (const auto& [name, binding] : scope.names)
    if (const auto parts = numbered(name);
        parts && parts->prefix == range.prefix && parts->number < range.count && !in_range(scope, name))
      return error(formatted("'{}' is declared twice", name), location);
  scope.ranges.push_back(range);
  return {};
}

const Binding* Parser::find_in_range(Scope& scope, std::string_view name) {
  const RegisterRange* range = in_range(scope, name);
  if (!range) return nullptr;
  f_->registers.push_back({name, range->type, range->vector});
  const Binding binding{Binding::Kind::Register, static_cast<uint32_t>(f_->registers.size() - 1)};
  return &scope.names.emplace(name, binding).first->second;
}

const Binding* Parser::find(std::string_view name) {
  for (auto scope = scopes_.rbegin(); scope != scopes_.rend(); ++scope) {
    if (const auto found = scope->names.find(name); found != scope->names.end()) return &found->second;
    if (const Binding* found = find_in_range(*scope, name)) return found;
  }
  return nullptr;
}

Result<> Parser::body() {
  scopes_.clear();
  scopes_.emplace_back();
  source_ = 0;
  for (const auto* list : {&f_->results, &f_->parameters})
    for (const Variable& variable : *list) {
      if (variable.space == Space::Reg) {
        f_->registers.push_back({variable.name, variable.type, variable.vector});
        TRY(declare(variable.name, {Binding::Kind::Register, static_cast<uint32_t>(f_->registers.size() - 1)},
                    variable.location));
      } else {
        f_->variables.push_back(variable);
        TRY(declare(variable.name, {Binding::Kind::Variable, static_cast<uint32_t>(f_->variables.size() - 1)},
                    variable.location));
      }
    }
  TRY(expect("{"));
  while (!token_.is("}")) TRY(statement());
  TRY(close_scope());
  return expect("}");
}

Result<> Parser::fragment(std::span<const Register> bound) {
  m_.functions.emplace_back();
  f_ = &m_.functions.back();
  f_->has_body = true;
  m_.items.push_back({Item::Kind::Function, 0});
  scopes_.emplace_back();
  for (const Register& each : bound) {
    f_->registers.push_back(each);
    TRY(declare(each.name, {Binding::Kind::Register, static_cast<uint32_t>(f_->registers.size() - 1)}, {}));
  }
  while (token_.kind != Token::Kind::End) TRY(statement());
  return close_scope();
}

Result<> Parser::block() {
  if (++depth_ > kDeepestBlock) return error("the braces nest too deeply");
  scopes_.emplace_back();
  add(Statement::Kind::Open, 0);
  while (!token_.is("}")) TRY(statement());
  TRY(close_scope());
  advance();
  add(Statement::Kind::Close, 0);
  --depth_;
  return {};
}

/// Binds what this scope declared; hands the rest to the scope around it, or at the end to the module.
Result<> Parser::close_scope() {
  Scope scope = std::move(scopes_.back());
  scopes_.pop_back();
  for (Scope::Pending& pending : scope.pending) {
    const auto found = scope.names.find(pending.name);
    if (found != scope.names.end() && found->second.kind == Binding::Kind::Label) {
      if (pending.in_list) {
        f_->target_lists[pending.index].targets[pending.item] = found->second.index;
      } else {
        Operand& operand = f_->operands[pending.index];
        operand.kind = Operand::Kind::Label;
        operand.index = found->second.index;
      }
    } else if (!scopes_.empty()) {
      scopes_.back().pending.push_back(pending);
    } else if (pending.in_list) {
      return error(formatted("'{}' is not a label of this function", pending.name), pending.location);
    }
  }
  return {};
}

Result<> Parser::statement() {
  if (accept(";")) return {};
  if (accept("{")) return block();
  if (token_.kind == Token::Kind::End) return error("the body ends without '}'");
  if (token_.kind == Token::Kind::Name) {
    const std::string_view name = token_.text;
    const Location location = token_.location;
    // A label and an instruction both begin with a name: the next mark tells.
    Lexer ahead = lexer_;
    if (ahead.next().is(":")) {
      advance();
      advance();
      return label(name, location);
    }
    return instruction();
  }
  if (token_.is("@")) return instruction();
  if (token_.kind != Token::Kind::Directive) return error("an instruction is expected, not " + shown());
  if (accept_directive("reg")) return registers();
  if (accept_directive("loc")) return loc();
  if (accept_directive("pragma")) {
    if (token_.kind != Token::Kind::String) return error("a string is expected, not " + shown());
    add(Statement::Kind::Pragma, f_->pragmas.size());
    f_->pragmas.push_back(token_.text);
    advance();
    return expect(";");
  }
  for (const Space space : {Space::Param, Space::Local, Space::Shared, Space::Const, Space::Global, Space::Tex})
    if (accept_directive(text_of(space))) return variables(space, Linkage::Internal, f_->variables, true);
  if (accept_directive("extern")) {
    for (const Space space : {Space::Shared, Space::Global, Space::Const})
      if (accept_directive(text_of(space))) return variables(space, Linkage::Extern, f_->variables, true);
  }
  return error("an instruction is expected, not " + shown());
}

/// .reg .b32 %r<9>, %x;
Result<> Parser::registers() {
  TRY(const Variable common, attributes(Space::Reg));
  RegisterDeclaration declaration{common.type, common.vector, {}};
  do {
    const Location location = token_.location;
    TRY(const std::string_view name, expect_name("a register's name"));
    uint32_t count = 0;
    if (accept("<")) {
      TRY(const uint64_t given, expect_integer("a count"));
      if (given > kMostRegisters) return error("too many registers", last_);
      TRY(expect(">"));
      count = static_cast<uint32_t>(given);
      TRY(declare_range({name, count, common.type, common.vector}, location));
    } else {
      f_->registers.push_back({name, common.type, common.vector});
      TRY(declare(name, {Binding::Kind::Register, static_cast<uint32_t>(f_->registers.size() - 1)}, location));
    }
    declaration.names.push_back({name, count});
  } while (accept(","));
  add(Statement::Kind::Registers, f_->register_declarations.size());
  f_->register_declarations.push_back(std::move(declaration));
  return expect(";");
}

/// .loc file line column [, function_name label [+ offset], inlined_at file line column]
Result<> Parser::loc() {
  Source source;
  const auto number = [&](uint32_t& into) -> Result<> {
    if (token_.kind != Token::Kind::Integer) return error("a number is expected, not " + shown());
    into = static_cast<uint32_t>(token_.value);
    advance();
    return {};
  };
  TRY(number(source.file));
  TRY(number(source.line));
  TRY(number(source.column));
  while (accept(",")) {
    TRY(const std::string_view word, expect_name("function_name or inlined_at"));
    if (word == "function_name") {
      TRY(source.function, expect_name("a label"));
      if (accept("+")) TRY(number(source.function_offset));
    } else if (word == "inlined_at") {
      TRY(number(source.inlined_file));
      TRY(number(source.inlined_line));
      TRY(number(source.inlined_column));
    } else {
      return error("function_name or inlined_at is expected", last_);
    }
  }
  accept(";");
  source_ = static_cast<uint32_t>(f_->sources.size());
  add(Statement::Kind::Loc, source_);
  f_->sources.push_back(source);
  return {};
}

Result<> Parser::label(std::string_view name, Location location) {
  if (accept_directive("callprototype")) return prototype(name);
  if (accept_directive("branchtargets")) return targets(name, false);
  if (accept_directive("calltargets")) return targets(name, true);
  if (name.contains('.')) return error(formatted("'{}' is not a label", name), location);
  TRY(declare(name, {Binding::Kind::Label, static_cast<uint32_t>(f_->labels.size())}, location));
  add(Statement::Kind::Label, f_->labels.size());
  f_->labels.push_back(name);
  return {};
}

Result<> Parser::prototype(std::string_view label) {
  Prototype made{.label = label, .results = {}, .parameters = {}, .noreturn = false};
  if (token_.is("(")) {
    TRY(made.results, parameter_list(true));
  }
  TRY(expect_name("'_'"));
  if (token_.is("(")) {
    TRY(made.parameters, parameter_list(true));
  }
  if (accept_directive("noreturn")) made.noreturn = true;
  TRY(declare(label, {Binding::Kind::Prototype, static_cast<uint32_t>(f_->prototypes.size())}, last_));
  add(Statement::Kind::Prototype, f_->prototypes.size());
  f_->prototypes.push_back(std::move(made));
  return expect(";");
}

Result<> Parser::targets(std::string_view label, bool calls) {
  TargetList list{.label = label, .calls = calls, .targets = {}};
  const auto index = static_cast<uint32_t>(f_->target_lists.size());
  do {
    const Location location = token_.location;
    TRY(const std::string_view name, expect_name(calls ? "a function" : "a label"));
    const Binding* known = calls ? nullptr : find(name);
    if (!calls && (!known || known->kind == Binding::Kind::Label))
      scopes_.back().pending.push_back({true, index, static_cast<uint32_t>(list.targets.size()), name, location});
    else if (known && known->kind != Binding::Kind::Label)
      return error(formatted("'{}' is not a label", name), location);
    list.targets.push_back(calls ? symbol(name) : 0);
  } while (accept(","));
  TRY(declare(label, {Binding::Kind::Targets, index}, last_));
  add(Statement::Kind::Targets, index);
  f_->target_lists.push_back(std::move(list));
  return expect(";");
}

/// call [(results),] target [, (arguments) [, prototype]]
Result<> Parser::call_lists(std::vector<Operand>& top) {
  for (bool first = true; !token_.is(";"); first = false) {
    if (!first) TRY(expect(","));
    Operand operand;
    if (accept("(")) {
      TRY(operand, vector(")"));
    } else {
      TRY(operand, primary());
    }
    top.push_back(operand);
    if (top.size() > 4) return error("a call has at most four parts");
  }
  return {};
}

Result<> Parser::instruction() {
  Instruction made;
  made.source = source_;
  if (accept("@")) {
    made.guard_negated = accept("!");
    const Location location = token_.location;
    TRY(const Operand guard, primary());
    if (guard.kind != Operand::Kind::Register || f_->registers[guard.index].type != Type::Pred)
      return error("a guard is a predicate register", location);
    made.guard = static_cast<int32_t>(guard.index);
  }
  made.location = token_.location;
  TRY(const std::string_view word, expect_name("an instruction"));
  std::string joined;  // "mov .u32" is rare but allowed
  while (token_.kind == Token::Kind::Directive) {
    if (joined.empty()) joined = word;
    joined += token_.text;
    advance();
  }
  const std::string_view text = joined.empty() ? word : std::string_view(joined);

  std::vector<Operand> top;
  if (text == "call" || text.starts_with("call.")) {
    TRY(call_lists(top));
  } else {
    while (!token_.is(";")) {
      if (!top.empty()) TRY(expect(","));
      TRY(const Operand operand, this->operand());
      top.push_back(operand);
      if (top.size() > 16) return error("too many operands");
    }
  }
  TRY(expect(";"));
  auto form = m_.forms.understand(text, top.size());
  if (!form) return error(std::move(form).error().message, made.location);
  made.form = *form;
  made.first_operand = static_cast<uint32_t>(f_->operands.size());
  made.operand_count = static_cast<uint16_t>(top.size());
  for (Operand& operand : top) {
    if (operand.kind == Operand::Kind::Symbol)
      scopes_.back().pending.push_back(
          {false, static_cast<uint32_t>(f_->operands.size()), 0, m_.names[operand.index], made.location});
    f_->operands.push_back(operand);
  }
  add(Statement::Kind::Instruction, f_->instructions.size());
  f_->instructions.push_back(made);
  return {};
}

}  // namespace cupola::ptx
