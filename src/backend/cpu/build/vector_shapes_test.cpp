#include "backend/cpu/build/vector_shapes.h"

#include "backend/cpu/build/analysed_kernel.h"

// Oracle: the values that 32 threads beside each other compute, worked out by hand. A shape that claims too much makes
// wrong code, one that claims too little slow code, so that each is stated exactly.

namespace cupola::cpu::build::testing {
namespace {

std::string described(const Shape& shape) {
  switch (shape.kind) {
    case Shape::Kind::Unknown:
      return "unknown";
    case Shape::Kind::Uniform:
      return "uniform";
    case Shape::Kind::Affine:
      return (shape.is_extended ? "extended " : "affine ") + std::to_string(shape.stride);
    case Shape::Kind::Periodic:
      return (shape.is_extended ? "extended periodic " : "periodic ") + std::to_string(shape.stride);
    case Shape::Kind::Segmented:
      return (shape.is_extended ? "extended segmented " : "segmented ") + std::to_string(shape.stride);
    case Shape::Kind::Varying:
      return "varying";
  }
}

/// What `expression` makes of %t, threadIdx.x, %y, threadIdx.y, %l, the lane's number, %d, blockDim.x, and %n and %p,
/// arguments.
std::string shape_of(const std::string& expression, BlockClass blocks = BlockClass::Rows) {
  const AnalysedKernel kernel(
      "define ptx_kernel void @k(i32 %n, ptr %p) {\n"
      "  %t = call i32 @cupola.tid.x()\n  %y = call i32 @cupola.tid.y()\n"
      "  %d = call i32 @cupola.ntid.x()\n  %l = call i32 @cupola.laneid()\n"
      "  " +
          expression + "\n  ret void\n}",
      blocks);
  return described(kernel.of("r"));
}

struct Row {
  const char *expression, *rows, *any;
};

void expect(std::initializer_list<Row> table) {
  for (const Row& row : table) {
    EXPECT_EQ(shape_of(row.expression), row.rows) << row.expression;
    EXPECT_EQ(shape_of(row.expression, BlockClass::Any), row.any) << row.expression;
  }
}

TEST(VectorShapes, WhatAThreadKnowsOfItself) {
  expect({{"%r = add i32 %t, 0", "affine 1", "varying"},
          {"%r = add i32 %y, 0", "uniform", "varying"},
          {"%r = add i32 %d, 0", "uniform", "uniform"},
          {"%r = add i32 %l, 0", "affine 1", "affine 1"},
          {"%r = add i32 %n, 1", "uniform", "uniform"}});
}

TEST(VectorShapes, SumsAndProductsScaleTheStride) {
  expect({{"%r = add i32 %t, %n", "affine 1", "varying"},
          {"%r = sub i32 %n, %l", "affine -1", "affine -1"},
          {"%r = mul i32 %l, 12", "affine 12", "affine 12"},
          {"%r = shl i32 %l, 3", "affine 8", "affine 8"},
          {"%r = add i32 %l, %l", "affine 2", "affine 2"},
          {"%r = sub i32 %l, %l", "uniform", "uniform"},
          {"%r = sub i32 %t, %l", "uniform", "varying"},
          {"%r = mul i32 %l, 0", "uniform", "uniform"},
          {"%r = mul i32 %l, %n", "varying", "varying"},
          {"%r = mul i32 %n, %d", "uniform", "uniform"},
          {"%r = mul i32 %l, %l", "varying", "varying"},
          {"%w = zext i32 %l to i64\n%r = mul i64 %w, 4294967296", "varying", "varying"}});
}

TEST(VectorShapes, AddressesStepByTheirElements) {
  expect({{"%r = getelementptr i32, ptr %p, i32 %l", "affine 4", "affine 4"},
          {"%r = getelementptr i8, ptr %p, i32 %l", "affine 1", "affine 1"},
          {"%r = getelementptr { i64, i32 }, ptr %p, i32 %l, i32 1", "affine 16", "affine 16"},
          {"%r = getelementptr [3 x i16], ptr %p, i32 %n, i32 %l", "affine 2", "affine 2"},
          {"%r = getelementptr [3 x i16], ptr %p, i32 %l, i32 %l", "affine 8", "affine 8"},
          {"%r = alloca [5 x i32]", "affine 20", "affine 20"},
          {"%r = alloca [5 x i32], align 16", "affine 32", "affine 32"}});
}

TEST(VectorShapes, WarpsBeginAtMultiplesOf32) {
  expect({{"%r = lshr i32 %t, 5", "uniform", "varying"},   {"%r = ashr i32 %t, 6", "uniform", "varying"},
          {"%r = lshr i32 %t, 4", "varying", "varying"},   {"%r = udiv i32 %t, 32", "uniform", "varying"},
          {"%r = udiv i32 %t, 16", "varying", "varying"},  {"%r = udiv i32 %t, 33", "varying", "varying"},
          {"%r = urem i32 %t, 32", "affine 1", "varying"}, {"%r = urem i32 %t, 64", "affine 1", "varying"},
          {"%r = urem i32 %t, 16", "varying", "varying"},  {"%r = urem i32 %t, 33", "varying", "varying"},
          {"%r = and i32 %t, 31", "affine 1", "varying"},  {"%r = and i32 %t, 992", "uniform", "varying"},
          {"%r = and i32 %t, -32", "uniform", "varying"},  {"%r = and i32 %t, 1", "varying", "varying"},
          {"%r = and i32 %t, 16", "varying", "varying"},   {"%r = and i32 %t, 48", "varying", "varying"},
          {"%r = or i32 %t, 64", "affine 1", "varying"},   {"%r = or i32 %t, 1", "varying", "varying"},
          {"%r = xor i32 %t, 32", "affine 1", "varying"},  {"%r = xor i32 %t, 31", "varying", "varying"},
          {"%r = xor i32 %l, 1", "varying", "varying"},    {"%r = lshr i32 %l, 5", "uniform", "uniform"},
          {"%r = lshr i32 %l, 4", "varying", "varying"}});
}

TEST(VectorShapes, WhatIsAddedOrMultipliedMovesTheBitsThatAreShared) {
  expect({{"%m = add i32 %t, 1\n%r = lshr i32 %m, 5", "varying", "varying"},
          {"%m = add i32 %t, %n\n%r = lshr i32 %m, 5", "varying", "varying"},
          {"%m = add i32 %t, 64\n%r = lshr i32 %m, 5", "uniform", "varying"},
          {"%m = mul i32 %d, %n\n%s = add i32 %m, %t\n%r = lshr i32 %s, 5", "uniform", "varying"},
          {"%m = mul i32 %t, 2\n%r = lshr i32 %m, 5", "varying", "varying"},
          {"%m = mul i32 %t, 2\n%r = lshr i32 %m, 6", "uniform", "varying"},
          {"%m = sub i32 0, %t\n%r = lshr i32 %m, 5", "varying", "varying"}});
}

TEST(VectorShapes, LanesAreOnOneSideOfAMultipleOf32) {
  expect({{"%r = icmp ult i32 %t, 32", "uniform", "varying"},
          {"%r = icmp slt i32 %t, 32", "uniform", "varying"},
          {"%r = icmp uge i32 %t, 64", "uniform", "varying"},
          {"%r = icmp ugt i32 %t, 31", "uniform", "varying"},
          {"%r = icmp ule i32 %t, 31", "uniform", "varying"},
          {"%r = icmp ult i32 %t, %d", "uniform", "varying"},
          {"%r = icmp ult i32 %t, 31", "varying", "varying"},
          {"%r = icmp ult i32 %t, 33", "varying", "varying"},
          {"%r = icmp ugt i32 %t, 32", "varying", "varying"},
          {"%r = icmp ule i32 %t, 32", "varying", "varying"},
          {"%r = icmp ugt i32 %t, -1", "varying", "varying"},
          {"%r = icmp slt i32 %t, %n", "varying", "varying"},
          {"%r = icmp eq i32 %t, 0", "varying", "varying"},
          {"%r = icmp ne i32 %t, 32", "varying", "varying"},
          {"%r = icmp ult i32 %n, %d", "uniform", "uniform"},
          {"%m = add i32 %t, 1\n%r = icmp ult i32 %m, 32", "varying", "varying"}});
}

TEST(VectorShapes, ExtensionsHoldAsLongAsNoLaneWraps) {
  expect({{"%r = sext i32 %t to i64", "affine 1", "varying"},
          {"%r = zext i32 %l to i64", "affine 1", "affine 1"},
          {"%m = add i32 %l, %n\n%r = sext i32 %m to i64", "extended 1", "extended 1"},
          {"%m = sub i32 %l, 5\n%r = zext i32 %m to i64", "extended 1", "extended 1"},
          {"%m = add i32 %l, %n\n%w = sext i32 %m to i64\n%r = mul i64 %w, 4", "extended 4", "extended 4"},
          {"%m = add i32 %l, %n\n%w = sext i32 %m to i64\n%r = lshr i64 %w, 5", "varying", "varying"},
          {"%r = sext i32 %n to i64", "uniform", "uniform"},
          {"%m = icmp eq i32 %l, 0\n%r = zext i1 %m to i32", "varying", "varying"},
          {"%m = trunc i32 %t to i8\n%r = sext i8 %m to i32", "affine 1", "varying"},
          {"%m = trunc i32 %l to i8\n%s = mul i8 %m, 4\n%r = sext i8 %s to i32", "affine 4", "affine 4"}});
}

// 31 steps of 100 are more than the numbers of 8 bits, so that the last lane may lie where it would without a wrap.
TEST(VectorShapes, AnExtensionThatMayWrapSeveralTimesVaries) {
  expect({{"%m = trunc i32 %l to i8\n%s = mul i8 %m, 100\n%r = sext i8 %s to i32", "varying", "varying"},
          {"%m = mul i32 %l, 138547333\n%s = add i32 %m, %n\n%r = sext i32 %s to i64", "varying", "varying"},
          {"%m = mul i32 %l, 69273666\n%s = add i32 %m, %n\n%r = sext i32 %s to i64", "extended 69273666",
           "extended 69273666"}});
}

TEST(VectorShapes, MemoryIsUniformWhereItsAddressIs) {
  expect({{"%r = load i32, ptr %p", "uniform", "uniform"},
          {"%a = getelementptr i32, ptr %p, i32 %l\n%r = load i32, ptr %a", "varying", "varying"},
          {"%r = atomicrmw add ptr %p, i32 1 monotonic", "varying", "varying"},
          {"%r = cmpxchg ptr %p, i32 0, i32 1 monotonic monotonic", "varying", "varying"},
          {"%a = alloca i32\n%r = load i32, ptr %a", "varying", "varying"}});
}

TEST(VectorShapes, WhatWarpsAgreeOnIsUniformAsTheirMembersAre) {
  expect({{"%r = call i32 @cupola.vote(i32 -1, i32 3, i32 %l)", "uniform", "uniform"},
          {"%m = mul i32 %l, %l\n%r = call i32 @cupola.vote(i32 %m, i32 3, i32 %l)", "varying", "varying"},
          {"%r = call i32 @cupola.vote(i32 %l, i32 3, i32 1)", "varying", "varying"},
          {"%r = call i32 @cupola.redux(i32 %n, i32 0, i32 %l)", "uniform", "uniform"},
          {"%r = call i32 @cupola.active_mask()", "uniform", "uniform"},
          {"%r = call i64 @cupola.match(i32 -1, i32 0, i64 1)", "varying", "varying"},
          {"%r = call i64 @cupola.shuffle(i32 -1, i32 3, i32 %l, i32 0, i32 31)", "varying", "varying"}});
}

TEST(VectorShapes, ASelectIsAffineWhereAllLanesTakeTheSame) {
  expect({{"%c = icmp eq i32 %n, 0\n%m = add i32 %l, 5\n%r = select i1 %c, i32 %l, i32 %m", "affine 1", "affine 1"},
          {"%c = icmp eq i32 %n, 0\n%m = add i32 %l, %l\n%r = select i1 %c, i32 %l, i32 %m", "varying", "varying"},
          {"%c = icmp eq i32 %l, 0\n%m = add i32 %l, 5\n%r = select i1 %c, i32 %l, i32 %m", "varying", "varying"},
          {"%c = icmp eq i32 %l, 0\n%r = select i1 %c, i32 %n, i32 7", "varying", "varying"}});
}

constexpr const char* kBranch = R"(
  define ptx_kernel void @k(i32 %n) {
    %l = call i32 @cupola.laneid()
    %c = icmp LIMIT
    br i1 %c, label %yes, label %on
  yes:
    %m = add i32 %l, 7
    br label %on
  on:
    %different = phi i32 [ %l, %0 ], [ %m, %yes ]
    %numbers = phi i32 [ 1, %0 ], [ 2, %yes ]
    %same = phi i32 [ %l, %0 ], [ %l, %yes ]
    %known = phi i32 [ %n, %0 ], [ poison, %yes ]
    ret void
  })";

std::string branch(const std::string& condition) {
  std::string text = kBranch;
  return text.replace(text.find("LIMIT"), 5, condition);
}

// ---- warps of two rows of 16 and of four rows of 8 ----

struct Segments {
  const char *expression, *rows16, *rows8;
};

void expect(std::initializer_list<Segments> table) {
  for (const Segments& row : table) {
    EXPECT_EQ(shape_of(row.expression, BlockClass::Rows16), row.rows16) << row.expression;
    EXPECT_EQ(shape_of(row.expression, BlockClass::Rows8), row.rows8) << row.expression;
  }
}

TEST(VectorShapesOfSegments, WhatAThreadKnowsOfItself) {
  expect({Segments{"%r = add i32 %t, 0", "periodic 1", "periodic 1"},
          {"%r = add i32 %y, 0", "segmented 0", "segmented 0"},
          {"%r = add i32 %d, 0", "uniform", "uniform"},
          {"%r = add i32 %l, 0", "affine 1", "affine 1"},
          {"%r = add i32 %n, 1", "uniform", "uniform"}});
}

TEST(VectorShapesOfSegments, SumsKeepTheKindThatBothHave) {
  expect({Segments{"%r = add i32 %t, %n", "periodic 1", "periodic 1"},
          {"%r = sub i32 %n, %t", "periodic -1", "periodic -1"},
          {"%r = add i32 %t, %t", "periodic 2", "periodic 2"},
          {"%r = sub i32 %t, %t", "uniform", "uniform"},
          {"%r = add i32 %t, %y", "segmented 1", "segmented 1"},
          {"%r = add i32 %l, %y", "segmented 1", "segmented 1"},
          {"%r = add i32 %l, %t", "segmented 2", "segmented 2"},
          {"%r = sub i32 %l, %t", "segmented 0", "segmented 0"},
          {"%r = add i32 %l, %l", "affine 2", "affine 2"},
          {"%r = or disjoint i32 %y, %t", "segmented 1", "segmented 1"},
          {"%r = or i32 %y, %t", "varying", "varying"},
          {"%r = mul i32 %t, 12", "periodic 12", "periodic 12"},
          {"%r = shl i32 %t, 2", "periodic 4", "periodic 4"},
          {"%r = mul i32 %t, %n", "varying", "varying"},
          {"%r = mul i32 %t, %y", "varying", "varying"},
          {"%r = mul i32 %t, 0", "uniform", "uniform"}});
}

TEST(VectorShapesOfSegments, WhatIsMadeOfRowsAloneIsTheSameInARow) {
  expect(
      {Segments{"%r = mul i32 %y, %n", "segmented 0", "segmented 0"},
       {"%r = mul i32 %y, %y", "segmented 0", "segmented 0"},
       {"%r = shl i32 %y, %n", "segmented 0", "segmented 0"},
       {"%r = lshr i32 %y, 1", "segmented 0", "segmented 0"},
       {"%r = udiv i32 %y, 3", "segmented 0", "segmented 0"},
       {"%r = srem i32 %n, %y", "segmented 0", "segmented 0"},
       {"%r = icmp eq i32 %y, 3", "segmented 0", "segmented 0"},
       {"%r = icmp slt i32 %y, %n", "segmented 0", "segmented 0"},
       {"%r = sitofp i32 %y to float", "segmented 0", "segmented 0"},
       {"%r = sext i32 %y to i64", "segmented 0", "segmented 0"},
       {"%r = trunc i32 %y to i8", "segmented 0", "segmented 0"},
       {"%r = call i32 @llvm.smax.i32(i32 %y, i32 %n)", "segmented 0", "segmented 0"},
       {"%r = call { i32, i1 } @llvm.sadd.with.overflow.i32(i32 %y, i32 %n)", "varying", "varying"},
       {"%c = icmp eq i32 %y, 3\n%r = select i1 %c, i32 %n, i32 7", "segmented 0", "segmented 0"},
       {"%c = icmp eq i32 %y, 3\n%m = add i32 %t, %n\n%r = select i1 %c, i32 %t, i32 %m", "segmented 1", "segmented 1"},
       {"%c = icmp eq i32 %y, 3\n%m = add i32 %l, %n\n%r = select i1 %c, i32 %l, i32 %m", "segmented 1", "segmented 1"},
       {"%c = icmp eq i32 %y, 3\n%m = mul i32 %t, 2\n%r = select i1 %c, i32 %t, i32 %m", "varying", "varying"},
       {"%c = icmp eq i32 %t, 3\n%r = select i1 %c, i32 %n, i32 7", "varying", "varying"},
       {"%c = icmp eq i32 %n, 3\n%r = select i1 %c, i32 %n, i32 %y", "segmented 0", "segmented 0"},
       {"%c = icmp eq i32 %n, 3\n%r = select i1 %c, i32 %t, i32 %l", "segmented 1", "segmented 1"}});
}

TEST(VectorShapesOfSegments, AddressesOfRowsAndOfColumns) {
  expect({Segments{"%r = getelementptr float, ptr %p, i32 %t", "periodic 4", "periodic 4"},
          {"%r = getelementptr [17 x float], ptr %p, i32 %y, i32 %t", "segmented 4", "segmented 4"},
          {"%r = getelementptr [17 x float], ptr %p, i32 %t, i32 %y", "segmented 68", "segmented 68"},
          {"%r = getelementptr [17 x float], ptr %p, i32 %n, i32 %t", "periodic 4", "periodic 4"},
          {"%r = getelementptr [17 x float], ptr %p, i32 %y, i32 %n", "segmented 0", "segmented 0"},
          {"%a = alloca [8 x i32]\n%r = getelementptr i32, ptr %a, i32 %t", "segmented 36", "segmented 36"}});
}

TEST(VectorShapesOfSegments, MemoryIsTheSameInARowWhereItsAddressIs) {
  expect({Segments{"%a = getelementptr i32, ptr %p, i32 %y\n%r = load i32, ptr %a", "segmented 0", "segmented 0"},
          {"%a = getelementptr i32, ptr %p, i32 %y\n%r = load volatile i32, ptr %a", "varying", "varying"},
          {"%a = getelementptr i32, ptr %p, i32 %y\n%r = load atomic i32, ptr %a monotonic, align 4", "varying",
           "varying"},
          {"%a = getelementptr i32, ptr %p, i32 %t\n%r = load i32, ptr %a", "varying", "varying"},
          {"%m = add i32 %y, %n\n%w = sext i32 %m to i64\n%a = getelementptr i32, ptr %p, i64 %w\n"
           "%r = load i32, ptr %a",
           "segmented 0", "segmented 0"},
          {"%a = alloca i32\n%r = load i32, ptr %a", "varying", "varying"}});
}

// threadIdx.x is less than 16 or 8, rows begin at multiples of that.
TEST(VectorShapesOfSegments, RowsShareHighBits) {
  expect({Segments{"%r = lshr i32 %t, 4", "uniform", "uniform"},
          {"%r = lshr i32 %t, 3", "varying", "uniform"},
          {"%r = lshr i32 %t, 2", "varying", "varying"},
          {"%r = and i32 %t, 15", "periodic 1", "periodic 1"},
          {"%r = and i32 %t, 7", "varying", "periodic 1"},
          {"%r = icmp ult i32 %t, 16", "uniform", "uniform"},
          {"%r = icmp ult i32 %t, 8", "varying", "uniform"},
          {"%r = icmp ult i32 %t, 15", "varying", "varying"},
          {"%m = mul i32 %y, %d\n%i = add i32 %m, %t\n%r = lshr i32 %i, 5", "segmented 0", "segmented 0"},
          {"%m = mul i32 %y, %d\n%i = add i32 %m, %t\n%r = lshr i32 %i, 3", "varying", "segmented 0"},
          {"%m = mul i32 %y, 16\n%i = add i32 %m, %t\n%r = and i32 %i, 15", "segmented 1", "segmented 1"},
          {"%m = mul i32 %y, %d\n%i = add i32 %m, %t\n%r = icmp ult i32 %i, 64", "segmented 0", "segmented 0"},
          {"%m = mul i32 %y, %d\n%i = add i32 %m, %t\n%r = icmp ult i32 %i, 40", "varying", "segmented 0"},
          {"%m = mul i32 %y, 16\n%r = icmp ult i32 %t, %m", "segmented 0", "segmented 0"},
          {"%m = mul i32 %y, 12\n%r = icmp ult i32 %t, %m", "varying", "varying"}});
}

// Where lanes of all the warp are in step, its segments' bases are 16 or 8 steps apart.
TEST(VectorShapesOfSegments, SegmentsOfLanesKnowFewerZeros) {
  expect(
      {Segments{"%m = mul i32 %y, 256\n%s = add i32 %m, %l\n%r = lshr i32 %s, 5", "segmented 0", "segmented 0"},
       {"%m = mul i32 %y, 256\n%s = add i32 %m, %l\n%r = lshr i32 %s, 3", "varying", "segmented 0"},
       {"%c = icmp eq i32 %n, 0\n%m = select i1 %c, i32 %l, i32 %t\n%r = lshr i32 %m, 3", "varying", "segmented 0"}});
}

TEST(VectorShapesOfSegments, ExtensionsHoldAsLongAsNoRowWraps) {
  expect({Segments{"%r = sext i32 %t to i64", "periodic 1", "periodic 1"},
          {"%m = add i32 %t, %n\n%r = sext i32 %m to i64", "extended periodic 1", "extended periodic 1"},
          {"%m = mul i32 %n, %d\n%s = add i32 %m, %t\n%r = sext i32 %s to i64", "periodic 1", "periodic 1"},
          {"%m = mul i32 %y, %n\n%s = add i32 %m, %t\n%r = sext i32 %s to i64", "extended segmented 1",
           "extended segmented 1"},
          {"%m = mul i32 %y, %n\n%s = add i32 %m, %t\n%w = zext i32 %s to i64\n%r = mul i64 %w, 4",
           "extended segmented 4", "extended segmented 4"},
          {"%m = add i32 %t, %n\n%w = sext i32 %m to i64\n%v = zext i32 %y to i64\n%r = add i64 %w, %v",
           "extended segmented 1", "extended segmented 1"},
          {"%m = trunc i32 %t to i8\n%s = mul i8 %m, 16\n%r = sext i8 %s to i32", "varying", "periodic 16"},
          {"%m = mul i32 %t, 138547333\n%s = add i32 %m, %n\n%r = sext i32 %s to i64", "extended periodic 138547333",
           "extended periodic 138547333"},
          {"%m = mul i32 %t, 277094666\n%s = add i32 %m, %n\n%r = sext i32 %s to i64", "varying",
           "extended periodic 277094666"}});
}

TEST(VectorShapesOfSegments, GroupsOfLanesAgreeOnNothingForSegments) {
  expect({Segments{"%r = call i32 @cupola.vote(i32 %y, i32 3, i32 1)", "varying", "varying"},
          {"%r = call i32 @cupola.vote(i32 %t, i32 3, i32 1)", "varying", "varying"},
          {"%r = call i32 @cupola.vote(i32 -1, i32 3, i32 %y)", "uniform", "uniform"}});
}

TEST(VectorShapes, WaysThatLanesTakeApartMeetInVaryingValues) {
  const AnalysedKernel kernel(branch("ult i32 %l, 5"));
  EXPECT_TRUE(kernel.is_masked("yes"));
  EXPECT_FALSE(kernel.is_masked("on"));
  EXPECT_EQ(described(kernel.of("different")), "varying");
  EXPECT_EQ(described(kernel.of("numbers")), "varying");
  EXPECT_EQ(described(kernel.of("same")), "affine 1");
  EXPECT_EQ(described(kernel.of("known")), "uniform");
}

TEST(VectorShapes, WaysThatLanesTakeTogetherMeetInWhatBothHave) {
  const AnalysedKernel kernel(branch("ult i32 %n, 5"));
  EXPECT_FALSE(kernel.is_masked("yes"));
  EXPECT_EQ(described(kernel.of("different")), "affine 1");
  EXPECT_EQ(described(kernel.of("numbers")), "uniform");
}

constexpr const char* kLoop = R"(
  define ptx_kernel void @k(i32 %n) {
    %l = call i32 @cupola.laneid()
    br label %loop
  loop:
    %i = phi i32 [ 0, %0 ], [ %next, %loop ]
    %walk = phi i32 [ %l, %0 ], [ %step, %loop ]
    %twice = phi i32 [ %l, %0 ], [ %double, %loop ]
    %next = add i32 %i, 1
    %step = add i32 %walk, 32
    %double = add i32 %twice, %l
    %end = icmp eq i32 %next, LIMIT
    br i1 %end, label %out, label %loop
  out:
    %after = add i32 %i, 0
    ret void
  })";

std::string loop(const std::string& limit) {
  std::string text = kLoop;
  return text.replace(text.find("LIMIT"), 5, limit);
}

TEST(VectorShapes, ALoopThatAllLanesLeaveTogetherKeepsShapes) {
  const AnalysedKernel kernel(loop("%n"));
  EXPECT_FALSE(kernel.is_masked("loop"));
  EXPECT_EQ(described(kernel.of("i")), "uniform");
  EXPECT_EQ(described(kernel.of("walk")), "affine 1");
  EXPECT_EQ(described(kernel.of("twice")), "varying");
  EXPECT_EQ(described(kernel.of("after")), "uniform");
  EXPECT_EQ(kernel.shapes().left_apart(kernel.value("i"), kernel.block("out")), nullptr);
}

// At first its counter is a multiple of 32, and nothing wraps.
TEST(VectorShapes, AnExtensionHoldsWhereALoopGoesAnyDistance) {
  const AnalysedKernel kernel(R"(
    define ptx_kernel void @k(i32 %n, ptr %p) {
    entry:
      %t = call i32 @cupola.tid.x()
      br label %loop
    loop:
      %i = phi i32 [ %t, %entry ], [ %next, %loop ]
      %z = phi i32 [ 0, %entry ], [ %above, %loop ]
      %far = sext i32 %i to i64
      %place = getelementptr i32, ptr %p, i64 %far
      store i32 1, ptr %place
      %next = add i32 %i, %n
      %above = add i32 %z, 1
      %more = icmp slt i32 %above, %n
      br i1 %more, label %loop, label %out
    out:
      ret void
    })");
  EXPECT_EQ(described(kernel.of("i")), "affine 1");
  EXPECT_EQ(described(kernel.of("far")), "extended 1");
  EXPECT_EQ(described(kernel.of("place")), "extended 4");
}

TEST(VectorShapes, WhatLanesHoldThatLeftALoopAtDifferentTurnsVaries) {
  const AnalysedKernel kernel(loop("%l"));
  EXPECT_TRUE(kernel.is_masked("loop"));
  EXPECT_FALSE(kernel.is_masked("out"));
  EXPECT_EQ(described(kernel.of("i")), "uniform") << "the lanes that are still in it share the turn";
  EXPECT_EQ(described(kernel.of("walk")), "affine 1");
  EXPECT_EQ(described(kernel.at("i", "out")), "varying");
  EXPECT_EQ(described(kernel.at("walk", "out")), "varying");
  EXPECT_EQ(described(kernel.of("after")), "varying");
  EXPECT_NE(kernel.shapes().left_apart(kernel.value("i"), kernel.block("out")), nullptr);
  EXPECT_EQ(kernel.shapes().left_apart(kernel.value("i"), kernel.block("loop")), nullptr);
  EXPECT_EQ(kernel.shapes().left_apart(kernel.value("l"), kernel.block("out")), nullptr) << "it is from before";
}

TEST(VectorShapes, AUniformLoopInADivergentBranchIsMaskedAndLeftTogether) {
  const AnalysedKernel kernel(R"(
    define ptx_kernel void @k(i32 %n) {
      %l = call i32 @cupola.laneid()
      %c = icmp ult i32 %l, 5
      br i1 %c, label %enter, label %out
    enter:
      br label %loop
    loop:
      %i = phi i32 [ 0, %enter ], [ %next, %loop ]
      %next = add i32 %i, 1
      %end = icmp eq i32 %next, %n
      br i1 %end, label %leave, label %loop
    leave:
      br label %out
    out:
      ret void
    })");
  EXPECT_TRUE(kernel.is_masked("loop"));
  EXPECT_FALSE(kernel.diverges("loop"));
  EXPECT_EQ(described(kernel.of("i")), "uniform");
}

TEST(VectorShapes, ABreakUnderDivergenceMasksTheWholeLoop) {
  const AnalysedKernel kernel(R"(
    define ptx_kernel void @k(i32 %n) {
      %l = call i32 @cupola.laneid()
      br label %loop
    loop:
      %i = phi i32 [ 0, %0 ], [ %next, %latch ]
      %gone = icmp eq i32 %l, %i
      br i1 %gone, label %out, label %latch
    latch:
      %next = add i32 %i, 1
      %end = icmp eq i32 %next, %n
      br i1 %end, label %out, label %loop
    out:
      %which = phi i32 [ 0, %loop ], [ 1, %latch ]
      ret void
    })");
  EXPECT_TRUE(kernel.is_masked("loop"));
  EXPECT_TRUE(kernel.is_masked("latch"));
  EXPECT_FALSE(kernel.is_masked("out"));
  EXPECT_EQ(described(kernel.of("which")), "varying");
  EXPECT_EQ(described(kernel.at("next", "out")), "varying");
}

TEST(VectorShapes, AnExtendedValueDoesNotSurviveAPhi) {
  const AnalysedKernel kernel(R"(
    define ptx_kernel void @k(i32 %n) {
      %l = call i32 @cupola.laneid()
      %m = add i32 %l, %n
      %wide = sext i32 %m to i64
      %c = icmp eq i32 %n, 0
      br i1 %c, label %yes, label %on
    yes:
      br label %on
    on:
      %kept = phi i64 [ %wide, %0 ], [ %wide, %yes ]
      ret void
    })");
  EXPECT_EQ(described(kernel.of("wide")), "extended 1");
  EXPECT_EQ(described(kernel.of("kept")), "varying");
}

TEST(VectorShapesOfSegments, ABranchOnTheRowDivergesAndALoopKeepsWhatIsOfRows) {
  const AnalysedKernel kernel(R"(
    define ptx_kernel void @k(i32 %n, i32 %w) {
      %t = call i32 @cupola.tid.x()
      %y = call i32 @cupola.tid.y()
      br label %loop
    loop:
      %i = phi i32 [ 0, %0 ], [ %next, %loop ]
      %row = phi i32 [ 0, %0 ], [ %below, %loop ]
      %place = phi i32 [ %t, %0 ], [ %further, %loop ]
      %next = add i32 %i, 1
      %below = add i32 %y, %row
      %further = add i32 %place, %w
      %end = icmp eq i32 %next, %n
      br i1 %end, label %out, label %loop
    out:
      %c = icmp ult i32 %y, %n
      br i1 %c, label %yes, label %on
    yes:
      br label %on
    on:
      %different = phi i32 [ %y, %out ], [ %n, %yes ]
      %same = phi i32 [ %y, %out ], [ %y, %yes ]
      ret void
    })",
                              BlockClass::Rows16);
  EXPECT_EQ(described(kernel.of("i")), "uniform");
  EXPECT_EQ(described(kernel.of("row")), "segmented 0");
  EXPECT_EQ(described(kernel.of("place")), "periodic 1");
  EXPECT_TRUE(kernel.diverges("out"));
  EXPECT_TRUE(kernel.is_masked("yes"));
  EXPECT_EQ(described(kernel.of("different")), "varying");
  EXPECT_EQ(described(kernel.of("same")), "segmented 0");
}

}  // namespace
}  // namespace cupola::cpu::build::testing
