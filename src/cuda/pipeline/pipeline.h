#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "array/expression.h"
#include "cuda/pipeline/driver.h"

/// An expression that grows.
struct cupola_expression {
  cupola::array::Expression expression;
};

/// An expression's kernel, loaded into a context. Immutable: any thread.
struct cupola_pipeline {
 public:
  /// Compiles for the current context, or for device 0's primary one, which becomes current.
  static cupola::Result<std::unique_ptr<cupola_pipeline>> compile(const cupola::array::Expression& expression);
  cupola_pipeline(const cupola_pipeline&) = delete;
  cupola_pipeline& operator=(const cupola_pipeline&) = delete;
  ~cupola_pipeline();

  cupola::Result<> run(const uint64_t* outputs, const uint64_t* inputs, const void* scalars, size_t n,
                       CUstream stream) const;
  cupola::Result<> run_host(void* const* outputs, const void* const* inputs, const void* scalars, size_t n) const;

 private:
  cupola_pipeline(const cupola::array::Expression& expression, const cupola::pipeline::Driver& driver)
      : driver_(driver),
        outputs_(expression.outputs().size()),
        inputs_(expression.inputs()),
        scalars_(expression.scalars()),
        element_bytes_(cupola::array::bytes_of(expression.type())) {}

  cupola::Result<> load(const cupola::array::Expression& expression);
  cupola::Result<> check_arrays(const uint64_t* addresses, size_t count, const char* what) const;
  cupola::Result<> launch(std::vector<uint64_t> addresses, const void* scalars, size_t n, CUstream stream) const;

  const cupola::pipeline::Driver& driver_;
  const size_t outputs_, inputs_, scalars_, element_bytes_;
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  bool reads_host_memory_ = false;
};
