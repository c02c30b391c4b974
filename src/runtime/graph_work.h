#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "hal/command.h"
#include "runtime/launch.h"
#include "runtime/memory_watch.h"
#include "runtime/transfer.h"

// What the nodes of a graph do.

namespace cupola::runtime {

class Context;
class Device;
class GraphCondition;
class Event;
class Graph;
class GraphAllocation;

struct EmptyWork {};

struct KernelWork {
  std::shared_ptr<Function> function;
  LaunchShape shape;
  hal::ParameterBlock parameters;  ///< the whole
  LaunchAttributes attributes;
};

struct CopyWork {
  hal::Copy command;
  End destination = End::Unified, source = End::Unified;
};

struct FillWork {
  hal::Fill command;
};

struct HostWork {
  void (*function)(void*) = nullptr;
  void* data = nullptr;
};

struct RecordWork {
  std::shared_ptr<Event> event;
};

/// Waits for the event as it was recorded last when the graph is launched.
struct WaitWork {
  std::shared_ptr<Event> event;
};

struct ChildWork {
  std::shared_ptr<Graph> graph;  ///< the node's own
};

struct AllocWork {
  std::shared_ptr<GraphAllocation> allocation;
};

struct FreeWork {
  std::shared_ptr<GraphAllocation> allocation;
};

/// Operations on values in memory, one after another.
struct MemoryOpsWork {
  const Context* context = nullptr;  ///< reported only
  Device* device = nullptr;
  std::vector<MemoryOp> ops;
};

/// Runs one of its bodies, or none, as the condition's value says when it is reached.
struct ConditionalWork {
  enum class Kind {
    If,      ///< body 0 when not zero; body 1, if there is one, when zero
    While,   ///< body 0 as long as not zero
    Switch,  ///< the body of that number
  };
  Kind kind = Kind::If;
  std::shared_ptr<GraphCondition> condition;
  std::vector<std::shared_ptr<Graph>> bodies;  ///< the node's own
};

using Work = std::variant<KernelWork, CopyWork, FillWork, HostWork, ChildWork, EmptyWork, WaitWork, RecordWork,
                          AllocWork, FreeWork, MemoryOpsWork, ConditionalWork>;

}  // namespace cupola::runtime
