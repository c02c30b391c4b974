#pragma once

#include <llvm/IR/Module.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace cupola {

/// A module that kir::to_nvptx made, as PTX text for `architecture` ("sm_89", "sm_90a"), through LLVM's NVPTX code
/// generator. Errors: NotSupported, for an architecture that LLVM does not know.
Result<std::string> ptx_text(std::unique_ptr<llvm::Module> module, const std::string& architecture);

}  // namespace cupola
