#include "image/segment_registry.h"

#include <atomic>

#include "base/mutex.h"
#include "image/loader.h"

// A list of nodes that only grows; a node whose segment went is used again. A signal handler may walk it at any moment:
// a writer closes a node (begin = 0) before it changes the rest and opens it last, and a reader looks at begin before
// and after. The node of the segment that the reader's own thread runs in cannot change under it.

namespace cupola::image {
namespace {

struct Node {
  std::atomic<uint64_t> begin = 0;
  std::atomic<uint64_t> end = 0;
  std::atomic<const LoadedSegment*> segment = nullptr;
  Node* next = nullptr;
};

constinit std::atomic<Node*> first = nullptr;

Mutex& writers() {
  static Mutex* const mutex = new Mutex;  // leaked: segments may be unloaded after static destructors
  return *mutex;
}

}  // namespace

void register_segment(const LoadedSegment* segment, uint64_t begin, uint64_t end) {
  Lock lock(writers());
  Node* node = first.load();
  while (node && node->segment.load()) node = node->next;
  const bool fresh = !node;
  if (fresh) node = new Node;  // kept for ever, see above
  node->end.store(end);
  node->segment.store(segment);
  node->begin.store(begin);
  if (fresh) {
    node->next = first.load();
    first.store(node);
  }
}

void unregister_segment(const LoadedSegment* segment) {
  Lock lock(writers());
  for (Node* node = first.load(); node; node = node->next) {
    if (node->segment.load() != segment) continue;
    node->begin.store(0);
    node->end.store(0);
    node->segment.store(nullptr);
    return;
  }
}

const LoadedSegment* find_segment(uint64_t program_counter) {
  for (Node* node = first.load(); node; node = node->next) {
    const uint64_t begin = node->begin.load();
    if (begin == 0 || program_counter < begin || program_counter >= node->end.load()) continue;
    const LoadedSegment* segment = node->segment.load();
    if (node->begin.load() == begin) return segment;
  }
  return nullptr;
}

}  // namespace cupola::image
