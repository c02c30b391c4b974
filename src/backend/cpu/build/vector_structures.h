#pragma once

namespace cupola::cpu::build {

class Lanes;
struct Group;

/// Whether widen_group() has instructions for the group in the block that is being written.
bool can_widen_group(const Lanes& lanes, const Group& group);
/// All accesses of the group, as wide loads and shuffles or shuffles and wide stores. Touches no place before or after
/// those of the lanes that run, and changes none between.
void widen_group(Lanes& lanes, const Group& group);

}  // namespace cupola::cpu::build
