#include "runtime/capture.h"

#include <algorithm>
#include <unordered_set>

#include "runtime/current_context.h"
#include "runtime/runtime.h"

namespace cupola::runtime {
namespace {

std::atomic<uint64_t> next_capture = 1;

/// All captures that go on. Never destroyed.
struct Captures {
  Mutex mutex;
  std::vector<std::shared_ptr<Capture>> active GUARDED_BY(mutex);
  std::atomic<size_t> count{0};  ///< of `active`: most calls look only at this

  static Captures& get() {
    static auto* const captures = new Captures;
    return *captures;
  }
  void add(std::shared_ptr<Capture> capture) {
    Lock lock(mutex);
    active.push_back(std::move(capture));
    count = active.size();
  }
  void remove(const Capture& capture) {
    std::shared_ptr<Capture> removed;
    Lock lock(mutex);
    const auto found = std::ranges::find_if(active, [&](const auto& each) { return each.get() == &capture; });
    if (found == active.end()) return;
    removed = std::move(*found);
    active.erase(found);
    count = active.size();
    lock.unlock();
  }
};

/// The nodes and all before them.
std::unordered_set<const Node*> with_ancestors(const std::vector<Node*>& nodes) {
  std::unordered_set<const Node*> found(nodes.begin(), nodes.end());
  std::vector<const Node*> open(nodes.begin(), nodes.end());
  while (!open.empty()) {
    const Node* node = open.back();
    open.pop_back();
    for (const Dependency& each : node->dependencies())
      if (found.insert(each.node).second) open.push_back(each.node);
  }
  return found;
}

}  // namespace

void Frontier::add(Node* node, EdgeData edge) {
  if (std::ranges::find(nodes, node) != nodes.end()) return;
  nodes.push_back(node);
  edges.push_back(edge);
}

Capture::Capture(const Stream& origin, CaptureMode mode, uint64_t thread, std::shared_ptr<Graph> graph, bool own_graph)
    : origin_(origin),
      mode_(mode),
      thread_(thread),
      id_(next_capture.fetch_add(1)),
      graph_(std::move(graph)),
      own_graph_(own_graph) {}

CaptureStatus Capture::status() const {
  Lock lock(mutex_);
  return valid_ ? CaptureStatus::Active : CaptureStatus::Invalidated;
}

void Capture::invalidate() {
  Lock lock(mutex_);
  valid_ = false;
}

Result<> Capture::check_active() const {
  if (finished_) return fail(ErrorCode::IllegalState, "the capture is over: another thread ended it");
  if (valid_) return {};
  return fail(ErrorCode::StreamCaptureInvalidated, "the capture was invalidated by an earlier call: end it");
}

Result<Node*> Capture::add(Stream& stream, Work work) {
  Lock lock(mutex_);
  TRY(check_active());
  Frontier& frontier = members_[&stream].frontier;
  std::vector<Dependency> dependencies;
  for (size_t i = 0; i < frontier.nodes.size(); ++i) dependencies.push_back({frontier.nodes[i], frontier.edges[i]});
  TRY(Node* const node, graph_->add(std::move(work), dependencies));
  frontier.nodes.assign(1, node);
  frontier.edges.assign(1, {});
  return node;
}

Result<Frontier> Capture::frontier(const Stream& stream) const {
  Lock lock(mutex_);
  TRY(check_active());
  const auto found = members_.find(&stream);
  return found == members_.end() ? Frontier{} : found->second.frontier;
}

Result<> Capture::join(const std::shared_ptr<Stream>& stream, const Frontier& frontier) {
  Lock lock(mutex_);
  TRY(check_active());
  Member& member = members_[stream.get()];
  member.stream = stream;
  for (size_t i = 0; i < frontier.nodes.size(); ++i) member.frontier.add(frontier.nodes[i], frontier.edges[i]);
  if (!stream->capture()) stream->set_capture(shared_from_this());  // before the lock ends, as finish() lets members go
  return {};
}

Result<> Capture::update(Stream& stream, const std::vector<Dependency>& dependencies, bool replace) {
  Lock lock(mutex_);
  TRY(check_active());
  for (const Dependency& each : dependencies)
    if (&each.node->graph() != graph_.get())
      return fail(ErrorCode::InvalidValue, "a dependency is no node of the graph that is captured");
  Frontier& frontier = members_[&stream].frontier;
  if (replace) frontier = {};
  for (const Dependency& each : dependencies) frontier.add(each.node, each.data);
  return {};
}

const Frontier* Capture::shown_frontier(const Stream& stream) const {
  Lock lock(mutex_);
  const auto found = members_.find(&stream);
  return found == members_.end() ? nullptr : &found->second.frontier;
}

void Capture::forget(Stream& stream) {
  {
    Lock lock(mutex_);
    members_.erase(&stream);
    valid_ = false;
  }
  if (&stream != &origin_) return;
  finish();
  if (own_graph_) graph_->withdraw();
}

/// True when everything that the other streams captured comes before the end of the origin's.
bool Capture::joined(const Stream& origin) const {
  const std::unordered_set<const Node*> before = with_ancestors(members_.at(&origin).frontier.nodes);
  return std::ranges::all_of(members_, [&](const auto& member) {
    return std::ranges::all_of(member.second.frontier.nodes, [&](const Node* node) { return before.contains(node); });
  });
}

/// Lets all streams go.
void Capture::finish() {
  std::vector<std::shared_ptr<Stream>> streams;
  {
    Lock lock(mutex_);
    for (const auto& [key, member] : members_)
      if (auto stream = member.stream.lock()) streams.push_back(std::move(stream));
    members_.clear();
    valid_ = false;
    finished_ = true;
  }
  for (const auto& stream : streams) stream->set_capture(nullptr);
  Captures::get().remove(*this);
}

Result<> begin_capture(const std::shared_ptr<Stream>& stream, CaptureMode mode, std::shared_ptr<Graph> graph,
                       const std::vector<Dependency>& dependencies) {
  if (stream->kind() == Stream::Kind::Legacy)
    return fail(ErrorCode::StreamCaptureUnsupported, "the legacy default stream cannot be captured");
  if (stream->capture()) return fail(ErrorCode::IllegalState, "the stream is being captured already");
  const bool own_graph = !graph;
  if (own_graph) graph = Graph::make(true);
  for (const Dependency& each : dependencies)
    if (&each.node->graph() != graph.get())
      return fail(ErrorCode::InvalidValue, "a dependency is no node of the graph to capture into");
  auto capture =
      std::shared_ptr<Capture>(new Capture(*stream, mode, ThreadState::get().id(), std::move(graph), own_graph));
  {
    Lock lock(capture->mutex_);
    Capture::Member& member = capture->members_[stream.get()];
    member.stream = stream;
    for (const Dependency& each : dependencies) member.frontier.add(each.node, each.data);
  }
  Captures::get().add(capture);
  stream->set_capture(std::move(capture));
  return {};
}

Result<std::shared_ptr<Graph>> end_capture(Stream& stream) {
  const std::shared_ptr<Capture> capture = stream.capture();
  if (!capture) return fail(ErrorCode::IllegalState, "the stream is not being captured");
  if (&capture->origin_ != &stream)
    return capture->refuse(ErrorCode::StreamCaptureUnmatched, "the capture was begun in another stream: end it there");
  const bool wrong_thread = capture->mode_ != CaptureMode::Relaxed && capture->thread_ != ThreadState::get().id();
  bool valid = false, joined = false;
  {
    Lock lock(capture->mutex_);
    if (capture->finished_) return fail(ErrorCode::IllegalState, "the capture is over: another thread ended it");
    valid = capture->valid_;
    joined = capture->joined(stream);
    capture->finished_ = true;
  }
  capture->finish();
  if (valid && joined && !wrong_thread) return capture->graph();
  if (capture->own_graph_) capture->graph()->withdraw();
  if (wrong_thread)  // it is over all the same, as an H200 (driver 580) has it
    return fail(ErrorCode::StreamCaptureWrongThread,
                "the capture was begun by another thread: end it there, or begin it in relaxed mode");
  if (!valid) return fail(ErrorCode::StreamCaptureInvalidated, "the capture was invalidated by an earlier call");
  return fail(ErrorCode::StreamCaptureUnjoined,
              "another stream took part in the capture and its work does not come before the end: let this stream wait "
              "for an event that is recorded there");
}

Result<> check_unsafe_call(const char* what) {
  Captures& captures = Captures::get();
  if (captures.count.load(std::memory_order_acquire) == 0) return {};
  const ThreadState& thread = ThreadState::get();
  if (thread.capture_mode == CaptureMode::Relaxed) return {};
  std::vector<std::shared_ptr<Capture>> disturbed;
  {
    Lock lock(captures.mutex);
    for (const auto& capture : captures.active) {
      const bool own = capture->thread_ == thread.id();
      const bool forbids = own ? capture->mode_ != CaptureMode::Relaxed
                               : capture->mode_ == CaptureMode::Global && thread.capture_mode == CaptureMode::Global;
      if (forbids) disturbed.push_back(capture);
    }
  }
  if (disturbed.empty()) return {};
  for (const auto& capture : disturbed) capture->invalidate();
  return fail(ErrorCode::StreamCaptureUnsupported,
              "{} is not allowed while a stream is captured: do it before, or capture in relaxed mode", what);
}

}  // namespace cupola::runtime
