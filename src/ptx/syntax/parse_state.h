#pragma once

#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/syntax/lexer.h"
#include "ptx/syntax/parser.h"

// The parser's inside, shared by the files that parse modules, bodies and operands.

namespace cupola::ptx {

/// What a name means between the braces that declare it.
struct Binding {
  enum class Kind : uint8_t { Register, Variable, Label, Prototype, Targets } kind;
  uint32_t index;
};

struct RegisterRange {
  std::string_view prefix;
  uint32_t count;
  Type type;
  uint8_t vector;
};

struct Scope {
  std::unordered_map<std::string_view, Binding> names;
  std::vector<RegisterRange> ranges;
  /// Operands and target lists that name something not declared yet: labels come later in the text.
  struct Pending {
    bool in_list;
    uint32_t index, item;  ///< of an operand; or of a target list and its item
    std::string_view name;
    Location location;
  };
  std::vector<Pending> pending;
};

class Parser {
 public:
  explicit Parser(Module& module);
  Result<> module();
  Result<> fragment(std::span<const Register> bound);

 private:
  // tokens
  void advance() {
    last_ = token_.location;
    token_ = lexer_.next();
  }
  bool accept(std::string_view mark);
  bool accept_directive(std::string_view name);
  Result<> expect(std::string_view mark);
  Result<std::string_view> expect_name(const char* what);
  Result<uint64_t> expect_integer(const char* what);
  std::unexpected<Error> error(std::string message, Location location) const;
  std::unexpected<Error> error(std::string message) const { return error(std::move(message), token_.location); }
  std::string shown() const;  ///< the token for a message

  // parse_module.cpp
  Result<> item();
  Result<> file();
  Result<> section();
  Result<> alias();
  Result<> linked_item();
  Result<> function(Linkage linkage, bool is_kernel);
  Result<std::vector<Variable>> parameter_list(bool prototype);
  Result<> bounds(Function& function);

  // parse_variables.cpp
  Result<> variables(Space space, Linkage linkage, std::vector<Variable>& into, bool in_function);
  Result<Variable> declarator(const Variable& common);
  Result<Variable> attributes(Space space);
  Result<> initializer(Variable& variable);
  Result<uint64_t> initializer_list(Variable& variable, size_t depth, uint64_t start);
  Result<> bound_initial(const Variable& variable, uint64_t bytes);
  Result<> initial_element(Variable& variable, uint64_t element);
  Result<> numbered_variables(const Variable& variable, std::vector<Variable>& into, bool in_function);
  Result<Initial> initial_value(Type type);

  // parse_constant.cpp
  struct Constant {
    bool is_float = false, is_single = false;
    uint64_t bits = 0;
  };
  static constexpr int kSum = 9;  ///< precedence of + and -
  Result<Constant> constant();
  Result<Constant> constant_binary(int least);
  Result<Constant> constant_unary();
  Result<int64_t> integer_constant();

  // parse_body.cpp
  Result<> body();
  Result<> statement();
  Result<> block();
  Result<> registers();
  Result<> loc();
  Result<> label(std::string_view name, Location location);
  Result<> instruction();
  Result<> call_lists(std::vector<Operand>& top);
  Result<> prototype(std::string_view label);
  Result<> targets(std::string_view label, bool calls);
  Result<> close_scope();
  Result<> declare(std::string_view name, Binding binding, Location location);
  Result<> declare_range(const RegisterRange& range, Location location);
  const Binding* find(std::string_view name);
  const Binding* find_in_range(Scope& scope, std::string_view name);
  void add(Statement::Kind kind, size_t index) { f_->body.push_back({kind, static_cast<uint32_t>(index)}); }

  // parse_operands.cpp
  Result<Operand> operand();
  Result<Operand> primary();
  Result<Operand> named();
  Result<Operand> address();
  Result<> element(Operand& operand);
  Result<Operand> vector(std::string_view closing);
  Result<Operand> parts(Operand::Kind kind, const std::vector<Operand>& parts);

  uint32_t symbol(std::string_view name);

  Module& m_;
  Lexer lexer_;
  Token token_;
  Location last_;
  Function* f_ = nullptr;  ///< the function whose body is being read
  std::vector<Scope> scopes_;
  uint32_t source_ = 0;
  uint64_t initial_bytes_ = 0;  ///< of the variables with initial values so far
  unsigned depth_ = 0;          ///< of expressions and braces, against texts that nest without end
  std::unordered_map<std::string_view, uint32_t> symbols_;
};

}  // namespace cupola::ptx
