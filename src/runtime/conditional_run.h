#pragma once

#include "runtime/graph_plan.h"

namespace cupola::runtime {

/// The commands that run a conditional node: one that looks at the condition once the lane is there and runs the body
/// on the body's own lanes, again and again for a While, and one that holds the lane until that is over.
std::vector<hal::Command> conditional_commands(const std::shared_ptr<const Prepared>& prepared,
                                               const std::shared_ptr<Lanes>& lanes, uint32_t step);

}  // namespace cupola::runtime
