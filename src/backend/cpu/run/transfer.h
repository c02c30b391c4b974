#pragma once

#include <memory>

#include "backend/cpu/run/work.h"
#include "hal/command.h"

namespace cupola::cpu {

/// A copy or fill in progress. Large ones are cut into pieces, the items, for several workers.
std::shared_ptr<Work> make_transfer(const hal::Copy& copy, std::shared_ptr<CpuDomain> domain,
                                    std::function<void()> done);
std::shared_ptr<Work> make_transfer(const hal::Fill& fill, std::shared_ptr<CpuDomain> domain,
                                    std::function<void()> done);

}  // namespace cupola::cpu
