#pragma once

#include <cstdint>

namespace cupola::image {

class LoadedSegment;

/// Makes the range known to find_segment, and forgets it. Any thread.
void register_segment(const LoadedSegment* segment, uint64_t begin, uint64_t end);
void unregister_segment(const LoadedSegment* segment);

}  // namespace cupola::image
