#pragma once

#include "base/result.h"
#include "image/compile_request.h"
#include "image/kernel_image.h"

namespace cupola {

/// From a request's code to an image: reads the kir, links the device library that lies in `cupola/device.bc` beside
/// this library (none: as if it were empty), prepares the module and generates code. Any thread.
Result<image::KernelImage> compile(const image::CompileRequest& request);

}  // namespace cupola
