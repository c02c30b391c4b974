#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "array/expression.h"
#include "compile/code_fixture.h"

// Expressions through the C entry. What operations compute is python/tests/test_operations.py's; here is what becomes
// of all of them for devices that tests do not run on.

namespace cupola {
namespace {

using array::ElementType;
using array::Expression;
using array::NodeNumber;
using ::testing::HasSubstr;

/// Operations [first, last) of those that take the type, as outputs over common inputs; their fast variants if `fast`.
Expression expression_of(ElementType type, size_t first, size_t last, bool fast) {
  Expression expression(type);
  std::vector<NodeNumber> inputs;
  for (int i = 0; i < 5; ++i) inputs.push_back(expression.add_input().value());
  size_t place = 0;
  for (const array::Operation& row : array::operations()) {
    if (!row.takes(type) || (fast && !row.has_fast())) continue;
    if (place >= first && place < last) {
      const auto node = expression.add_operation(row.name, fast, std::span(inputs).first(row.arguments()));
      EXPECT_TRUE(node && expression.add_output(*node)) << row.name;
    }
    ++place;
  }
  return expression;
}

std::string made_of(const Expression& expression, const char* target) {
  const auto answer =
      compiled({.target = target, .units = {{image::CodeKind::Expression, array::serialize(expression)}}});
  EXPECT_TRUE(answer) << target << ": " << answer.error().message;
  return answer ? std::string(reinterpret_cast<const char*>((*answer)->data()), (*answer)->size()) : "";
}

TEST(ExpressionCode, IsOneKernelThatCallsTheLibrary) {
  Expression expression(ElementType::F64);
  const NodeNumber x = expression.add_input().value(), s = expression.add_scalar().value();
  const NodeNumber product = expression.add_operation("multiply", false, std::array{x, s}).value();
  ASSERT_TRUE(expression.add_output(product));
  const std::string kir = made_of(expression, "kir");
  EXPECT_THAT(kir, HasSubstr("define ptx_kernel void @cupola_expression(ptr %0, ptr %1, double %2, i64 %3)"));
  EXPECT_THAT(kir, HasSubstr("call double @__cupola_op_multiply_f64(double"));
}

TEST(ExpressionCode, OfEveryOperationBecomesPtx) {
  constexpr size_t kGroup = 30;
  for (const auto type : {ElementType::F32, ElementType::F64, ElementType::I32, ElementType::I64, ElementType::U32})
    for (size_t first = 0;; first += kGroup) {
      const Expression expression = expression_of(type, first, first + kGroup, false);
      if (expression.outputs().empty()) break;
      EXPECT_THAT(made_of(expression, "ptx:sm_89"), HasSubstr(".visible .entry cupola_expression("));
    }
}

/// A GPU's own instructions.
TEST(ExpressionCode, OfFastVariantsIsApproximateInPtx) {
  const std::string ptx = made_of(expression_of(ElementType::F32, 0, 60, true), "ptx:sm_89");
  for (const char* instruction :
       {"sin.approx", "cos.approx", "ex2.approx", "lg2.approx", "rsqrt.approx", "sqrt.approx", "div.approx"})
    EXPECT_THAT(ptx, HasSubstr(instruction));
}

TEST(ExpressionCode, OfDamagedBytesIsAnError) {
  std::vector<std::byte> bytes = array::serialize(expression_of(ElementType::F32, 0, 1, false));
  bytes.pop_back();
  const auto answer = compiled({.target = "kir", .units = {{image::CodeKind::Expression, bytes}}});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().code, ErrorCode::InvalidImage);
}

}  // namespace
}  // namespace cupola
