/** cupola/pipeline.h: operations on the elements of arrays, fused into one kernel (libcupola-pipeline, C99 and later).
 *
 * An expression is built of operations over inputs (arrays), scalars (given at each run) and constants (compiled in),
 * all of one element type; docs/operations.md lists the operations with their formulas and error bounds. Compiling it
 * for a device gives a pipeline, which is run over arrays of any length:
 *
 *     cupola_expression* e;                                            // y = sigmoid(a * x)
 *     cupola_expression_create(CUPOLA_F32, &e);
 *     uint32_t x, a, product, y;
 *     cupola_expression_input(e, &x);
 *     cupola_expression_scalar(e, &a);
 *     cupola_expression_apply(e, "multiply", 0, (uint32_t[]){a, x}, 2, &product);
 *     cupola_expression_apply(e, "sigmoid", 0, &product, 1, &y);
 *     cupola_expression_output(e, y);
 *     cupola_pipeline* p;
 *     cupola_pipeline_compile(e, &p);
 *     cupola_pipeline_run_host(p, (void*[]){out}, (const void*[]){in}, &factor, n);
 *
 * The library calls the driver API (libcuda) only, and takes Cupola's: of CUPOLA_LIBRARY_PATH, else that beside itself.
 *
 * Threads: any thread may call any function; an expression is changed by one thread at a time, a pipeline may be run by
 * several at once. Errors: each function returns a status; the numbers are those of CUresult, 0 is success.
 * cupola_pipeline_last_error() says in words what was wrong. A function that fails leaves what it should have set
 * alone. */
#ifndef CUPOLA_PIPELINE_H
#define CUPOLA_PIPELINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st;

typedef struct cupola_expression cupola_expression;
typedef struct cupola_pipeline cupola_pipeline;

/** The status codes that this library itself gives; what the driver says is handed on as it is. */
enum {
  CUPOLA_PIPELINE_SUCCESS = 0,
  CUPOLA_PIPELINE_INVALID_VALUE = 1, /**< a null pointer, an unknown name, a wrong number or type of arguments */
  CUPOLA_PIPELINE_OUT_OF_MEMORY = 2,
  CUPOLA_PIPELINE_NO_DRIVER = 35 /**< libcuda was not found */
};

/** What the elements of arrays are. */
typedef enum cupola_element_type {
  CUPOLA_F32 = 0,
  CUPOLA_F64 = 1,
  CUPOLA_I32 = 2,
  CUPOLA_I64 = 3,
  CUPOLA_U32 = 4
} cupola_element_type;

/** How near results of floats are to the exact value; results of integers are exact. */
typedef enum cupola_accuracy {
  CUPOLA_EXACT = 0, /**< each step of the formula is rounded to the element type, once */
  CUPOLA_ULPS = 1,  /**< within bound_f32 or bound_f64 units in the last place of the result */
  CUPOLA_TERMS = 2  /**< within so many units in the last place of the largest term that the formula adds up, or of the
                         result */
} cupola_accuracy;

/** An operation. The texts live as long as the library. */
typedef struct cupola_operation {
  const char* name;
  const char* category;
  const char* parameters; /**< "(x, alpha)" */
  const char* formula;
  uint32_t arguments;
  uint32_t types; /**< bit t is set if it takes elements of the cupola_element_type t */
  cupola_accuracy accuracy;
  double bound_f32, bound_f64;
  double fast_bound; /**< 0: there is no fast variant. Else the error of that of CUPOLA_F32, in units of 2^-23 of the
                          larger of 1 and the largest term; negative: it is another function, as exact. Other element
                          types take the precise one */
} cupola_operation;

/** How many operations there are. */
size_t cupola_operation_count(void);

/** Operation `index`, from 0, in the order of docs/operations.md.
 * Errors: INVALID_VALUE for an index that is too large, a null pointer. */
int cupola_operation_get(size_t index, cupola_operation* operation);

/** The operation of that name. Errors: INVALID_VALUE for a name that no operation has, a null pointer. */
int cupola_operation_find(const char* name, cupola_operation* operation);

/** An empty expression over elements of `type`. End it with cupola_expression_destroy.
 * Errors: INVALID_VALUE for an unknown type, a null pointer. */
int cupola_expression_create(cupola_element_type type, cupola_expression** expression);

/** Null is allowed. Pipelines made of it stay. */
void cupola_expression_destroy(cupola_expression* expression);

/** The next input array, scalar, or a constant whose value is read from `value` (one element), as a node.
 * Errors: INVALID_VALUE for a null pointer, more than 64 inputs, 64 scalars or 4096 nodes. */
int cupola_expression_input(cupola_expression* expression, uint32_t* node);
int cupola_expression_scalar(cupola_expression* expression, uint32_t* node);
int cupola_expression_constant(cupola_expression* expression, const void* value, uint32_t* node);

/** The fast variant of an operation, where there is one. */
#define CUPOLA_FAST 1u

/** The operation `name` applied to `count` nodes, as a node. `flags` is 0 or CUPOLA_FAST.
 * Errors: INVALID_VALUE for an unknown name, a count that is not the operation's, an element type that it does not
 * take, a fast variant that is not there, a node that does not exist, unknown flags, a null pointer. */
int cupola_expression_apply(cupola_expression* expression, const char* name, uint32_t flags, const uint32_t* arguments,
                            uint32_t count, uint32_t* node);

/** The values of `node` go to the next output array. Errors: INVALID_VALUE for no such node, more than 64 outputs. */
int cupola_expression_output(cupola_expression* expression, uint32_t node);

/** Compiles the expression for the device of the calling thread's current context, or, where it has none, of device 0,
 * whose primary context then becomes current. Code that was compiled before comes from libcuda's cache on disk.
 * Errors: INVALID_VALUE for an expression without outputs, a null pointer; NO_DRIVER; what libcuda says. */
int cupola_pipeline_compile(const cupola_expression* expression, cupola_pipeline** pipeline);

/** Waits for its runs. Null is allowed. Not when its context is gone already. */
void cupola_pipeline_destroy(cupola_pipeline* pipeline);

/** Computes `n` elements of each output. The addresses are the device's, in the order in which inputs and outputs were
 * made; each array has n elements, at addresses that are multiples of the element's size. An output may be an input (in
 * place); otherwise what is written must not overlap what else is read or written. `scalars` points at their values,
 * one behind the other; where the expression has no inputs or scalars the pointer may be null. Returns at once; the
 * work is done in `stream`, a CUstream of the pipeline's context, null for the default stream. n = 0 does nothing.
 * Errors: INVALID_VALUE for a null pointer, a misaligned address, n above 2^31 * 256 - 256; what libcuda says. */
int cupola_pipeline_run(const cupola_pipeline* pipeline, const uint64_t* outputs, const uint64_t* inputs,
                        const void* scalars, size_t n, struct CUstream_st* stream);

/** The same over memory of the host. Returns when it is done. Where the device reads the host's memory nothing is
 * copied. Errors: as cupola_pipeline_run; OUT_OF_MEMORY where copies do not fit into the device's memory. */
int cupola_pipeline_run_host(const cupola_pipeline* pipeline, void* const* outputs, const void* const* inputs,
                             const void* scalars, size_t n);

/** What was wrong with this thread's last call that failed, as one line; empty before there was one. Valid until this
 * thread's next call that fails. */
const char* cupola_pipeline_last_error(void);

#ifdef __cplusplus
}
#endif

#endif
