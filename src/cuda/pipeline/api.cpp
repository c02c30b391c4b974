#include <cstring>
#include <string>

#include "base/guarded.h"
#include "cuda/pipeline/pipeline.h"
#include "cupola/pipeline.h"

// The C functions of cupola/pipeline.h: arguments are checked here, exceptions stay inside.

using namespace cupola;

namespace {

thread_local std::string last_error;

/// Runs a function's body; what fails is kept for cupola_pipeline_last_error.
template <typename Body>
int api_call(Body&& body) {
  Result<> result = guarded(body);
  if (result) return CUPOLA_PIPELINE_SUCCESS;
  last_error = std::move(result.error().message);
  return static_cast<int>(result.error().code);
}

Result<> given(const void* pointer, const char* name) {
  if (pointer) return {};
  return fail(ErrorCode::InvalidValue, "{} is null", name);
}

cupola_operation described(const array::Operation& row) {
  return {.name = row.name,
          .category = row.category,
          .parameters = row.parameters,
          .formula = row.formula,
          .arguments = static_cast<uint32_t>(row.arguments()),
          .types = row.types,
          .accuracy = static_cast<cupola_accuracy>(row.bound.accuracy),
          .bound_f32 = row.bound.f32,
          .bound_f64 = row.bound.f64,
          .fast_bound = row.fast};
}

/// One of the functions that add a node.
template <typename Add>
int add_node(cupola_expression* expression, uint32_t* node, Add&& add) {
  return api_call([&]() -> Result<> {
    TRY(given(expression, "expression"));
    TRY(given(node, "node"));
    TRY(*node, add(expression->expression));
    return {};
  });
}

}  // namespace

#define EXPORTED extern "C" [[gnu::visibility("default")]]

EXPORTED size_t cupola_operation_count(void) {
  return array::operations().size();
}

EXPORTED int cupola_operation_get(size_t index, cupola_operation* operation) {
  return api_call([&]() -> Result<> {
    TRY(given(operation, "operation"));
    if (index >= array::operations().size())
      return fail(ErrorCode::InvalidValue, "there is no operation {}: there are {}", index, array::operations().size());
    *operation = described(array::operations()[index]);
    return {};
  });
}

EXPORTED int cupola_operation_find(const char* name, cupola_operation* operation) {
  return api_call([&]() -> Result<> {
    TRY(given(name, "name"));
    TRY(given(operation, "operation"));
    const array::Operation* const row = array::find_operation(name);
    if (!row) return fail(ErrorCode::InvalidValue, "there is no operation '{}': docs/operations.md lists them", name);
    *operation = described(*row);
    return {};
  });
}

EXPORTED int cupola_expression_create(cupola_element_type type, cupola_expression** expression) {
  return api_call([&]() -> Result<> {
    TRY(given(expression, "expression"));
    const auto number = static_cast<size_t>(type);
    if (number >= array::kElementTypes) return fail(ErrorCode::InvalidValue, "{} is no element type", number);
    *expression = new cupola_expression{array::Expression(static_cast<array::ElementType>(number))};
    return {};
  });
}

EXPORTED void cupola_expression_destroy(cupola_expression* expression) {
  delete expression;
}

EXPORTED int cupola_expression_input(cupola_expression* expression, uint32_t* node) {
  return add_node(expression, node, [](array::Expression& of) { return of.add_input(); });
}

EXPORTED int cupola_expression_scalar(cupola_expression* expression, uint32_t* node) {
  return add_node(expression, node, [](array::Expression& of) { return of.add_scalar(); });
}

EXPORTED int cupola_expression_constant(cupola_expression* expression, const void* value, uint32_t* node) {
  return add_node(expression, node, [&](array::Expression& of) -> Result<array::NodeNumber> {
    TRY(given(value, "value"));
    uint64_t bits = 0;  // the machine is little-endian
    std::memcpy(&bits, value, array::bytes_of(of.type()));
    return of.add_constant(bits);
  });
}

EXPORTED int cupola_expression_apply(cupola_expression* expression, const char* name, uint32_t flags,
                                     const uint32_t* arguments, uint32_t count, uint32_t* node) {
  return add_node(expression, node, [&](array::Expression& of) -> Result<array::NodeNumber> {
    TRY(given(name, "name"));
    if (count != 0) TRY(given(arguments, "arguments"));
    if (flags & ~CUPOLA_FAST)
      return fail(ErrorCode::InvalidValue, "flags are {:#x}; CUPOLA_FAST is the only one", flags);
    return of.add_operation(name, (flags & CUPOLA_FAST) != 0, {arguments, count});
  });
}

EXPORTED int cupola_expression_output(cupola_expression* expression, uint32_t node) {
  return api_call([&]() -> Result<> {
    TRY(given(expression, "expression"));
    return expression->expression.add_output(node);
  });
}

EXPORTED int cupola_pipeline_compile(const cupola_expression* expression, cupola_pipeline** pipeline) {
  return api_call([&]() -> Result<> {
    TRY(given(expression, "expression"));
    TRY(given(pipeline, "pipeline"));
    TRY(std::unique_ptr<cupola_pipeline> made, cupola_pipeline::compile(expression->expression));
    *pipeline = made.release();
    return {};
  });
}

EXPORTED void cupola_pipeline_destroy(cupola_pipeline* pipeline) {
  delete pipeline;
}

EXPORTED int cupola_pipeline_run(const cupola_pipeline* pipeline, const uint64_t* outputs, const uint64_t* inputs,
                                 const void* scalars, size_t n, CUstream stream) {
  return api_call([&]() -> Result<> {
    TRY(given(pipeline, "pipeline"));
    return pipeline->run(outputs, inputs, scalars, n, stream);
  });
}

EXPORTED int cupola_pipeline_run_host(const cupola_pipeline* pipeline, void* const* outputs, const void* const* inputs,
                                      const void* scalars, size_t n) {
  return api_call([&]() -> Result<> {
    TRY(given(pipeline, "pipeline"));
    return pipeline->run_host(outputs, inputs, scalars, n);
  });
}

EXPORTED const char* cupola_pipeline_last_error(void) {
  return last_error.c_str();
}
