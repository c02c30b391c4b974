#include "array/expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "image/code.h"
#include "image/expression_frame.h"

using namespace cupola;
using namespace cupola::array;
using ::testing::HasSubstr;

namespace {

/// Something of everything: 1.5 * x + s, and x.
Expression sample() {
  Expression expression(ElementType::F32);
  const NodeNumber x = expression.add_input().value(), s = expression.add_scalar().value();
  const NodeNumber factor = expression.add_constant(0x3fc00000).value();
  const NodeNumber product = expression.add_operation("multiply", false, std::array{factor, x}).value();
  const NodeNumber sum = expression.add_operation("add", false, std::array{product, s}).value();
  const NodeNumber sine = expression.add_operation("sin", true, std::array{sum}).value();
  for (const NodeNumber output : {sine, x}) EXPECT_TRUE(expression.add_output(output));
  return expression;
}

std::string message_of(const auto& result) {
  return result ? "" : result.error().message;
}

}  // namespace

TEST(Expression, ComesBackAsItWas) {
  const Result<Expression> back = deserialize_expression(serialize(sample()));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, sample());
}

TEST(Expression, EveryShorterOneIsRefused) {
  const std::vector<std::byte> bytes = serialize(sample());
  for (size_t size = 0; size < bytes.size(); ++size) {
    const auto shorter = deserialize_expression(std::span(bytes).first(size));
    ASSERT_FALSE(shorter) << size;
    EXPECT_EQ(shorter.error().code, ErrorCode::InvalidImage);
    std::vector<std::byte> framed(bytes.begin(), bytes.begin() + static_cast<ptrdiff_t>(size));
    if (size < image::kExpressionHeader) continue;
    framed[8] = static_cast<std::byte>(size & 0xff), framed[9] = static_cast<std::byte>(size >> 8);
    EXPECT_FALSE(deserialize_expression(framed)) << size;
  }
}

TEST(Expression, FlippedBitsGiveAnotherExpressionOrAnError) {
  const std::vector<std::byte> bytes = serialize(sample());
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    std::vector<std::byte> flipped = bytes;
    flipped[bit / 8] ^= std::byte{1} << bit % 8;
    const auto read = deserialize_expression(flipped);
    if (read)
      EXPECT_EQ(serialize(*read), flipped) << bit;  // one encoding
    else
      EXPECT_EQ(read.error().code, ErrorCode::InvalidImage) << bit;
  }
}

TEST(Expression, RefusesWhatItIsNotGivenRightly) {
  Expression expression(ElementType::I32);
  const NodeNumber x = expression.add_input().value();
  EXPECT_THAT(message_of(expression.add_operation("nonsense", false, std::array{x})), HasSubstr("'nonsense'"));
  EXPECT_THAT(message_of(expression.add_operation("add", false, std::array{x})),
              HasSubstr("'add' takes 2 arguments, (x, y); 1 were given"));
  EXPECT_THAT(message_of(expression.add_operation("add", false, std::array{x, x + 1})), HasSubstr("no node"));
  EXPECT_THAT(message_of(expression.add_operation("sin", false, std::array{x})),
              HasSubstr("'sin' does not take elements of type i32: it takes f32, f64"));
  EXPECT_THAT(message_of(expression.add_operation("add", true, std::array{x, x})), HasSubstr("no fast variant"));
  EXPECT_THAT(message_of(expression.add_constant(uint64_t{1} << 32)), HasSubstr("more than 32 bits"));
  EXPECT_THAT(message_of(expression.add_output(7)), HasSubstr("no node"));
  EXPECT_FALSE(deserialize_expression(serialize(expression)));  // no output
}

TEST(Expression, HasLimits) {
  Expression expression(ElementType::F64);
  for (size_t i = 0; i < Expression::kMostArrays; ++i) {
    ASSERT_TRUE(expression.add_input());
    ASSERT_TRUE(expression.add_scalar());
    ASSERT_TRUE(expression.add_output(0));
  }
  EXPECT_FALSE(expression.add_input());
  EXPECT_FALSE(expression.add_scalar());
  EXPECT_FALSE(expression.add_output(0));
  while (expression.nodes().size() < Expression::kMostNodes) ASSERT_TRUE(expression.add_constant(0));
  EXPECT_FALSE(expression.add_constant(0));
}

TEST(Expression, IsFoundByItsHeaderAlone) {
  const std::vector<std::byte> bytes = serialize(sample());
  const Result<image::Code> code = image::read_code(bytes.data(), SIZE_MAX);
  ASSERT_TRUE(code) << code.error().message;
  ASSERT_EQ(code->units.size(), 1u);
  EXPECT_EQ(code->units[0].kind, image::CodeKind::Expression);
  EXPECT_EQ(code->units[0].bytes, bytes);
  EXPECT_FALSE(image::read_code(bytes.data(), bytes.size() - 1));
}

TEST(Operations, AreFoundByTheirNames) {
  for (const Operation& row : operations()) {
    EXPECT_EQ(find_operation(row.name), &row) << row.name;
    EXPECT_GE(row.arguments(), 1u);
    EXPECT_LE(row.arguments(), 5u);
    EXPECT_NE(row.types, 0u) << row.name;
  }
  EXPECT_EQ(find_operation(""), nullptr);
  EXPECT_EQ(find_operation("ad"), nullptr);
}
