#pragma once

#include "cuda/driver/api.h"
#include "hal/parameter_block.h"

namespace cupola::driver {

/// The parameter block of a kernel from what a launch gives: one pointer a parameter, or a packed block as `extra`
/// describes it. Error: InvalidValue.
Result<hal::ParameterBlock> parameter_block(const Function& function, void** parameters, void** extra);

}  // namespace cupola::driver
