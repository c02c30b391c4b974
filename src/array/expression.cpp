#include "array/expression.h"

#include <string>
#include <utility>

#include "image/expression_frame.h"
#include "image/wire.h"

namespace cupola::array {
namespace {

constexpr uint32_t kVersion = 1;

Result<> check_arguments(const Operation& operation, std::span<const NodeNumber> arguments, size_t nodes) {
  if (arguments.size() != operation.arguments())
    return fail(ErrorCode::InvalidValue, "operation '{}' takes {} arguments, {}; {} were given", operation.name,
                operation.arguments(), operation.parameters, arguments.size());
  for (const NodeNumber argument : arguments)
    if (argument >= nodes)
      return fail(ErrorCode::InvalidValue, "operation '{}': argument {} is no node: there are {}", operation.name,
                  argument, nodes);
  return {};
}

Result<> check_type(const Operation& operation, ElementType type, bool fast) {
  if (!operation.takes(type)) {
    std::string types;
    for (size_t i = 0; i < kElementTypes; ++i)
      if (operation.takes(static_cast<ElementType>(i)))
        types += (types.empty() ? "" : ", ") + std::string(name_of(static_cast<ElementType>(i)));
    return fail(ErrorCode::InvalidValue, "operation '{}' does not take elements of type {}: it takes {}",
                operation.name, name_of(type), types);
  }
  if (fast && !operation.has_fast())
    return fail(ErrorCode::InvalidValue, "operation '{}' has no fast variant", operation.name);
  return {};
}

}  // namespace

Result<NodeNumber> Expression::add(Node node) {
  if (nodes_.size() == kMostNodes)
    return fail(ErrorCode::InvalidValue, "an expression has at most {} nodes", kMostNodes);
  nodes_.push_back(std::move(node));
  return static_cast<NodeNumber>(nodes_.size() - 1);
}

Result<NodeNumber> Expression::add_input() {
  if (inputs_ == kMostArrays) return fail(ErrorCode::InvalidValue, "an expression has at most {} inputs", kMostArrays);
  TRY(const NodeNumber number, add({.kind = NodeKind::Input, .place = inputs_}));
  ++inputs_;
  return number;
}

Result<NodeNumber> Expression::add_scalar() {
  if (scalars_ == kMostArrays)
    return fail(ErrorCode::InvalidValue, "an expression has at most {} scalars", kMostArrays);
  TRY(const NodeNumber number, add({.kind = NodeKind::Scalar, .place = scalars_}));
  ++scalars_;
  return number;
}

Result<NodeNumber> Expression::add_constant(uint64_t bits) {
  if (bytes_of(type_) == 4 && bits >> 32 != 0)
    return fail(ErrorCode::InvalidValue, "{:#x} is no constant of type {}: it has more than 32 bits", bits,
                name_of(type_));
  return add({.kind = NodeKind::Constant, .bits = bits});
}

Result<NodeNumber> Expression::add_operation(std::string_view name, bool fast, std::span<const NodeNumber> arguments) {
  const Operation* const operation = find_operation(name);
  if (!operation)
    return fail(ErrorCode::InvalidValue, "there is no operation '{}': docs/operations.md lists them",
                name.substr(0, 80));
  TRY(check_arguments(*operation, arguments, nodes_.size()));
  TRY(check_type(*operation, type_, fast));
  return add({.kind = NodeKind::Operation,
              .operation = operation,
              .fast = fast,
              .arguments = {arguments.begin(), arguments.end()}});
}

Result<> Expression::add_output(NodeNumber node) {
  if (node >= nodes_.size())
    return fail(ErrorCode::InvalidValue, "output {} is no node: there are {}", node, nodes_.size());
  if (outputs_.size() == kMostArrays)
    return fail(ErrorCode::InvalidValue, "an expression has at most {} outputs", kMostArrays);
  outputs_.push_back(node);
  return {};
}

std::vector<std::byte> serialize(const Expression& expression) {
  image::wire::Writer out;
  out.number(kVersion);
  out.number(static_cast<uint8_t>(expression.type()));
  out.count(expression.nodes().size());
  for (const Node& node : expression.nodes()) {
    out.number(static_cast<uint8_t>(node.kind));
    switch (node.kind) {
      case NodeKind::Input:
      case NodeKind::Scalar:
        break;  // they are counted
      case NodeKind::Constant:
        out.number(node.bits);
        break;
      case NodeKind::Operation:
        out.text(node.operation->name);
        out.flag(node.fast);
        out.count(node.arguments.size());
        for (const NodeNumber argument : node.arguments) out.number(argument);
        break;
    }
  }
  out.count(expression.outputs().size());
  for (const NodeNumber output : expression.outputs()) out.number(output);
  return image::frame_expression(out.written());
}

namespace {

Result<> read_operation(image::wire::Reader& in, Expression& expression) {
  TRY(const std::string name, in.text("operation"));
  TRY(const bool fast, in.flag("fast"));
  TRY(const uint32_t count, in.count("arguments", sizeof(NodeNumber)));
  std::vector<NodeNumber> arguments(count);
  for (NodeNumber& argument : arguments) {
    TRY(argument, in.number<NodeNumber>("argument"));
  }
  TRY(expression.add_operation(name, fast, arguments));
  return {};
}

Result<> read_node(image::wire::Reader& in, Expression& expression) {
  TRY(const uint8_t kind, in.number<uint8_t>("kind of node"));
  switch (kind) {
    case static_cast<uint8_t>(NodeKind::Input):
      TRY(expression.add_input());
      return {};
    case static_cast<uint8_t>(NodeKind::Scalar):
      TRY(expression.add_scalar());
      return {};
    case static_cast<uint8_t>(NodeKind::Constant): {
      TRY(const uint64_t bits, in.number<uint64_t>("constant"));
      TRY(expression.add_constant(bits));
      return {};
    }
    case static_cast<uint8_t>(NodeKind::Operation):
      return read_operation(in, expression);
    default:
      return fail(ErrorCode::InvalidImage, "node of unknown kind {}", kind);
  }
}

Result<Expression> read_contents(image::wire::Reader& in) {
  TRY(const uint32_t version, in.number<uint32_t>("version"));
  if (version != kVersion)
    return fail(ErrorCode::InvalidImage, "format version {}, but this is {}; install all libraries from one build",
                version, kVersion);
  TRY(const uint8_t type, in.number<uint8_t>("element type"));
  if (type >= kElementTypes) return fail(ErrorCode::InvalidImage, "element type {} is unknown", type);
  Expression expression(static_cast<ElementType>(type));
  TRY(const uint32_t nodes, in.count("nodes", 1));
  for (uint32_t i = 0; i < nodes; ++i) TRY(read_node(in, expression));
  TRY(const uint32_t outputs, in.count("outputs", sizeof(NodeNumber)));
  for (uint32_t i = 0; i < outputs; ++i) {
    TRY(const NodeNumber output, in.number<NodeNumber>("output"));
    TRY(expression.add_output(output));
  }
  if (outputs == 0) return fail(ErrorCode::InvalidImage, "it has no output");
  if (in.left() != 0) return fail(ErrorCode::InvalidImage, "{} bytes follow the outputs", in.left());
  return expression;
}

}  // namespace

Result<Expression> deserialize_expression(std::span<const std::byte> bytes) {
  TRY(const std::span<const std::byte> contents, image::expression_contents(bytes));
  image::wire::Reader in(contents);
  Result<Expression> expression = read_contents(in);
  if (expression) return expression;
  return fail(ErrorCode::InvalidImage, "expression: {}", expression.error().message);
}

}  // namespace cupola::array
