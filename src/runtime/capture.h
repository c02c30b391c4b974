#pragma once

#include <map>
#include <memory>

#include "base/mutex.h"
#include "runtime/capture_mode.h"
#include "runtime/graph.h"

// Stream capture: what is submitted to a stream becomes nodes of a graph. "CUDA C++ Programming Guide, Creating a Graph
// Using Stream Capture" and "CUDA Driver API, cuStreamBeginCapture" give the rules. Each stream of a capture has a
// frontier, the nodes that its next node comes after. An event that is recorded in such a stream keeps the frontier; a
// stream that waits for the event joins the capture, or adds to its own frontier. A call that breaks a rule invalidates
// the capture, whose end then fails.

namespace cupola::runtime {

class Stream;

/// By CUDA's numbers (CUstreamCaptureStatus).
enum class CaptureStatus { None = 0, Active = 1, Invalidated = 2 };

/// Nodes and the data of the edges that leave them, apart because the API shows them apart.
struct Frontier {
  std::vector<Node*> nodes;
  std::vector<EdgeData> edges;

  void add(Node* node, EdgeData edge);  ///< unless it is there
};

/// One capture, of one stream and those that joined it. Once it is over, calls fail with IllegalState. Any thread.
class Capture : public std::enable_shared_from_this<Capture> {
 public:
  uint64_t id() const { return id_; }
  const std::shared_ptr<Graph>& graph() const { return graph_; }
  bool owns_graph() const { return own_graph_; }  ///< it was begun without one
  CaptureStatus status() const EXCLUDES(mutex_);

  /// A node after the stream's frontier, which it becomes. Errors: StreamCaptureInvalidated; Graph::add's.
  Result<Node*> add(Stream& stream, Work work) EXCLUDES(mutex_);

  /// Error: StreamCaptureInvalidated.
  Result<Frontier> frontier(const Stream& stream) const EXCLUDES(mutex_);

  /// The stream comes after `frontier` too, and takes part from now on. Error: StreamCaptureInvalidated.
  Result<> join(const std::shared_ptr<Stream>& stream, const Frontier& frontier) EXCLUDES(mutex_);

  /// Adds to the stream's frontier, or replaces it. Errors: StreamCaptureInvalidated; InvalidValue for nodes of other
  /// graphs.
  Result<> update(Stream& stream, const std::vector<Dependency>& dependencies, bool replace) EXCLUDES(mutex_);

  /// For the API, which shows it: valid until the stream is used the next time.
  const Frontier* shown_frontier(const Stream& stream) const EXCLUDES(mutex_);

  /// From now on the capture can only be ended.
  void invalidate() EXCLUDES(mutex_);

  /// Invalidates it and returns the error.
  template <typename... Args>
  std::unexpected<Error> refuse(ErrorCode code, fmt::format_string<Args...> text, Args&&... args) {
    invalidate();
    return fail(code, text, std::forward<Args>(args)...);
  }

  /// The stream is destroyed.
  void forget(Stream& stream) EXCLUDES(mutex_);

 private:
  friend Result<> begin_capture(const std::shared_ptr<Stream>&, CaptureMode, std::shared_ptr<Graph>,
                                const std::vector<Dependency>&);
  friend Result<std::shared_ptr<Graph>> end_capture(Stream&);
  friend Result<> check_unsafe_call(const char*);

  Capture(const Stream& origin, CaptureMode mode, uint64_t thread, std::shared_ptr<Graph> graph, bool own_graph);
  Result<> check_active() const REQUIRES(mutex_);
  bool joined(const Stream& origin) const REQUIRES(mutex_);
  void finish() EXCLUDES(mutex_);

  const Stream& origin_;  ///< compared only
  const CaptureMode mode_;
  const uint64_t thread_;  ///< that began it
  const uint64_t id_;
  const std::shared_ptr<Graph> graph_;
  const bool own_graph_;
  mutable Mutex mutex_;
  bool valid_ GUARDED_BY(mutex_) = true;
  bool finished_ GUARDED_BY(mutex_) = false;  ///< over: it has no members, and never again any
  struct Member {
    std::weak_ptr<Stream> stream;
    Frontier frontier;
  };
  std::map<const Stream*, Member> members_ GUARDED_BY(mutex_);
};

/// Begins a capture into `graph`, after `dependencies`; into a new graph when null. Errors: IllegalState while it
/// captures; StreamCaptureUnsupported for the legacy stream.
Result<> begin_capture(const std::shared_ptr<Stream>& stream, CaptureMode mode, std::shared_ptr<Graph> graph,
                       const std::vector<Dependency>& dependencies);

/// Ends it. Errors: IllegalState when the stream does not capture, or another thread ends it at this moment;
/// StreamCaptureUnmatched for another stream of the capture than the first; and, with the capture ended and its graph
/// gone, StreamCaptureWrongThread, StreamCaptureInvalidated and StreamCaptureUnjoined.
Result<std::shared_ptr<Graph>> end_capture(Stream& stream);

/// For calls that could disturb a capture anywhere, such as allocating memory. Error: StreamCaptureUnsupported, which
/// invalidates the captures concerned, as "cuThreadExchangeStreamCaptureMode" documents it.
Result<> check_unsafe_call(const char* what);

}  // namespace cupola::runtime
