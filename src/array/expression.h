#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "array/operations.h"
#include "base/result.h"

namespace cupola::array {

/// What each node of an expression is.
enum class NodeKind : uint8_t {
  Input,      ///< an element of an array
  Scalar,     ///< a value that a launch gives, the same for all elements
  Constant,   ///< a value that is compiled in
  Operation,  ///< an operation on earlier nodes
};

/// Counted from 0 in the order in which nodes are made.
using NodeNumber = uint32_t;

struct Node {
  NodeKind kind = NodeKind::Input;
  uint32_t place = 0;                    ///< Input, Scalar: which of them
  uint64_t bits = 0;                     ///< Constant: the value's bits, above them zeros
  const Operation* operation = nullptr;  ///< Operation
  bool fast = false;
  std::vector<NodeNumber> arguments = {};
  bool operator==(const Node&) const = default;
};

/// Operations on the elements of arrays, of one type: what is computed for each place of some arrays and stored in
/// others. The compiler makes one kernel of it: outputs' addresses, inputs' addresses, scalars, then the number of
/// elements as 64 bits. Not thread-safe while it grows.
class Expression {
 public:
  static constexpr size_t kMostNodes = 4096, kMostArrays = 64;

  explicit Expression(ElementType type) : type_(type) {}

  /// Errors of all: InvalidValue, naming the limit, the operation, or what is wrong with its arguments.
  Result<NodeNumber> add_input();
  Result<NodeNumber> add_scalar();
  Result<NodeNumber> add_constant(uint64_t bits);
  Result<NodeNumber> add_operation(std::string_view name, bool fast, std::span<const NodeNumber> arguments);
  /// The node's values are stored in the next output. A node may be stored several times.
  Result<> add_output(NodeNumber node);

  ElementType type() const { return type_; }
  std::span<const Node> nodes() const { return nodes_; }
  std::span<const NodeNumber> outputs() const { return outputs_; }
  uint32_t inputs() const { return inputs_; }
  uint32_t scalars() const { return scalars_; }

  bool operator==(const Expression&) const = default;

 private:
  Result<NodeNumber> add(Node node);

  ElementType type_;
  uint32_t inputs_ = 0, scalars_ = 0;
  std::vector<Node> nodes_;
  std::vector<NodeNumber> outputs_;
};

/// As libcuda loads it and the compiler takes it (image::CodeKind::Expression). One expression has one encoding.
std::vector<std::byte> serialize(const Expression& expression);
/// Errors: InvalidImage for bytes that are no expression, among them one without outputs.
Result<Expression> deserialize_expression(std::span<const std::byte> bytes);

}  // namespace cupola::array
