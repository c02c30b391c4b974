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

  /// Computes `n` elements of each output from those of each input, on `stream`, of the pipeline's context; null is its
  /// default stream. `outputs` and `inputs` hold an address for each of the expression's, in their order, of `n`
  /// elements that the context's kernels reach, aligned to an element; `scalars` holds an element for each scalar, one
  /// behind the other, and is read before this returns; the other memory stays until the stream has got there. Zero
  /// elements: nothing is done. An output may be an input, whole; else they do not overlap. Any thread, also several at
  /// once; the context that is current stays so. Errors: InvalidValue for a null list or address, one that is not
  /// aligned, arrays that overlap, or more elements than a grid has threads; else the driver's, of cuLaunchKernel.
  cupola::Result<> run(const uint64_t* outputs, const uint64_t* inputs, const void* scalars, size_t n,
                       CUstream stream) const;
  /// The same over memory of the host, through copies on the device where kernels do not reach that; returns when the
  /// results are there. Errors: as run(), and the driver's where memory for the copies is short (OutOfMemory) or an
  /// earlier kernel failed.
  cupola::Result<> run_host(void* const* outputs, const void* const* inputs, const void* scalars, size_t n) const;

 private:
  cupola_pipeline(const cupola::array::Expression& expression, const cupola::pipeline::Driver& driver)
      : driver_(driver),
        outputs_(expression.outputs().size()),
        inputs_(expression.inputs()),
        scalars_(expression.scalars()),
        element_bytes_(cupola::array::bytes_of(expression.type())) {}

  cupola::Result<> load(const cupola::array::Expression& expression);
  cupola::Result<> check_arrays(const uint64_t* outputs, const uint64_t* inputs, size_t n) const;
  cupola::Result<> check_addresses(const uint64_t* addresses, size_t count, const char* what) const;
  cupola::Result<> launch(std::vector<uint64_t> addresses, const void* scalars, size_t n, CUstream stream) const;

  const cupola::pipeline::Driver& driver_;
  const size_t outputs_, inputs_, scalars_, element_bytes_;
  CUcontext context_ = nullptr;
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
  bool reads_host_memory_ = false;
};
