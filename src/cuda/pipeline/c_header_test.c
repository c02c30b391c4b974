// The header as C; the calls are those of its own example.
#include <cupola/pipeline.h>

int cupola_pipeline_example(const float* in, float* out, size_t n, float factor) {
  cupola_expression* e = 0;
  cupola_pipeline* p = 0;
  uint32_t x = 0, a = 0, product = 0, y = 0;
  int status = cupola_expression_create(CUPOLA_F32, &e);
  status |= cupola_expression_input(e, &x);
  status |= cupola_expression_scalar(e, &a);
  uint32_t factors[2];
  factors[0] = a, factors[1] = x;
  status |= cupola_expression_apply(e, "multiply", 0, factors, 2, &product);
  status |= cupola_expression_apply(e, "sigmoid", 0, &product, 1, &y);
  status |= cupola_expression_output(e, y);
  status |= cupola_pipeline_compile(e, &p);
  if (status == 0) {
    void* outputs[1];
    const void* inputs[1];
    outputs[0] = out, inputs[0] = in;
    status = cupola_pipeline_run_host(p, outputs, inputs, &factor, n);
  }
  cupola_pipeline_destroy(p);
  cupola_expression_destroy(e);
  return status;
}
