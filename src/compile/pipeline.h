#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "image/compile_request.h"

namespace cupola {

/// From a request's code to what its target names. Any thread.
///   "cpu:..."        a serialised image::KernelImage: the module, with what it uses of the device library that lies in
///                    `cupola/device.bc` beside this library (none: as if it were empty), prepared, as machine code
///                    and what CompileRequest::code leaves for later; or of such a unit, the code for some blocks
///   "metal:msl30"    a serialised image::MetalImage, all code at once, for a Metal that takes MSL 3.0
///   "metal:metallib30" the same as AIR, in Apple's container of compiled kernels, with what the host must know
///   "explain"        how the cpu device of this machine runs each kernel, and why, as text: for each class of blocks,
///                    or for those that CompileRequest::code names
///   "msl"            the module's kernels as source in Metal's shading language
///   "metallib"       the same kernels as AIR, in Apple's container, for whatever system takes them
///   "kir"            the linked module as LLVM text, with PTX and inline PTX lowered, before kir::prepare
///   "unit"           the module as bitcode, ready to be linked with others: cupolac -dc
///   "check"          nothing, if the code can be read and linked
///   "linked"         the linked module as bitcode, after a check that nothing is missing and inline PTX is PTX:
///   cupolac "ptx:sm_89"      PTX text for that architecture; what the cpu device takes from the C library comes from
///                    `cupola/c_library.bc`
Result<std::vector<std::byte>> compile(const image::CompileRequest& request);

}  // namespace cupola
