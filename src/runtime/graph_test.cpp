#include "runtime/graph.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

#include "runtime/runtime.h"

// Oracle: what hal's commands do in order, and the rules of "CUDA Driver API, Graph Management" for shapes and updates.

namespace cupola::runtime {
namespace {

class Graphs : public testing::Test {
 protected:
  void SetUp() override {
    setenv("CUPOLA_DEVICE", "null", 0);
    ASSERT_TRUE(Runtime::initialise());
    context_ = std::make_unique<Context>(*Runtime::get().devices()[0], false);
    stream_ = context_->legacy_stream().value();
  }
  void TearDown() override { ASSERT_TRUE(context_->synchronize()); }

  static Node* add(Graph& graph, std::vector<Node*> after, Work work = EmptyWork{}) {
    std::vector<Dependency> dependencies;
    for (Node* node : after) dependencies.push_back({node, {}});
    return graph.add(std::move(work), dependencies).value();
  }
  std::shared_ptr<ExecutableGraph> instantiate(const std::shared_ptr<Graph>& graph) {
    InstantiationProblem problem;
    return ExecutableGraph::make(graph, *context_, 0, problem).value();
  }

  std::unique_ptr<Context> context_;
  std::shared_ptr<Stream> stream_;
};

using GraphTest = Graphs;

/// Notes the order in which host nodes run.
struct Notes {
  Mutex mutex;
  std::string order GUARDED_BY(mutex);

  struct Entry {
    Notes* notes;
    char letter;
  };
  std::vector<std::unique_ptr<Entry>> entries;

  Work note(char letter) {
    entries.push_back(std::make_unique<Entry>(Entry{this, letter}));
    return HostWork{[](void* data) {
                      auto* entry = static_cast<Entry*>(data);
                      Lock lock(entry->notes->mutex);
                      entry->notes->order += entry->letter;
                    },
                    entries.back().get()};
  }
  std::string take() {
    Lock lock(mutex);
    return std::exchange(order, {});
  }
};

TEST_F(GraphTest, AChainHasOneLane) {
  const auto graph = Graph::make(false);
  Node* last = add(*graph, {});
  for (int i = 0; i < 5; ++i) last = add(*graph, {last});
  const auto plan = Plan::make(*graph, nullptr).value();
  EXPECT_EQ(plan->lanes(), 1u);
  EXPECT_EQ(plan->steps().size(), 6u);
}

TEST_F(GraphTest, BranchesHaveLanesOfTheirOwnUpToALimit) {
  const auto graph = Graph::make(false);
  Node* top = add(*graph, {});
  Node *left = add(*graph, {top}), *right = add(*graph, {top});
  add(*graph, {left, right});
  EXPECT_EQ(Plan::make(*graph, nullptr).value()->lanes(), 2u);
  for (int i = 0; i < 20; ++i) add(*graph, {top});
  EXPECT_EQ(Plan::make(*graph, nullptr).value()->lanes(), kMostLanes);
}

TEST_F(GraphTest, StepsComeAfterTheirDependencies) {
  const auto graph = Graph::make(false);
  std::vector<Node*> nodes;
  for (int i = 0; i < 40; ++i) {
    std::vector<Node*> after;
    for (int k = 1; k <= 3; ++k)
      if (i >= 7 * k) after.push_back(nodes[static_cast<size_t>(i - 7 * k)]);
    nodes.push_back(add(*graph, after));
  }
  const auto plan = Plan::make(*graph, nullptr).value();
  for (uint32_t i = 0; i < plan->steps().size(); ++i)
    for (uint32_t before : plan->steps()[i].after) EXPECT_LT(before, i);
}

TEST_F(GraphTest, RunsInTheOrderOfItsEdges) {
  Notes notes;
  const auto graph = Graph::make(false);
  Node* a = add(*graph, {}, notes.note('a'));
  Node *b = add(*graph, {a}, notes.note('b')), *c = add(*graph, {a}, notes.note('c'));
  Node* d = add(*graph, {b, c}, notes.note('d'));
  add(*graph, {d}, notes.note('e'));
  const auto executable = instantiate(graph);
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(executable->launch(*stream_));
    ASSERT_TRUE(context_->synchronize());
    const std::string order = notes.take();
    EXPECT_TRUE(order == "abcde" || order == "acbde") << order;
  }
}

TEST_F(GraphTest, ChildGraphsRunInPlace) {
  Notes notes;
  const auto inner = Graph::make(false), graph = Graph::make(false);
  Node* x = add(*inner, {}, notes.note('x'));
  add(*inner, {x}, notes.note('y'));
  Node* a = add(*graph, {}, notes.note('a'));
  Node* child = add(*graph, {a}, ChildWork{inner});
  add(*graph, {child}, notes.note('b'));
  const auto executable = instantiate(graph);
  ASSERT_TRUE(executable->launch(*stream_));
  ASSERT_TRUE(executable->launch(*stream_));
  ASSERT_TRUE(context_->synchronize());
  EXPECT_EQ(notes.take(), "axybaxyb");
}

TEST_F(GraphTest, AConditionThatIsNeverSetRunsItsDefault) {
  Notes notes;
  const auto graph = Graph::make(false), body = Graph::make(false);
  auto condition = GraphCondition::make(*context_, 1, true).value();
  ASSERT_TRUE(condition->take());
  add(*body, {}, FillWork{{.destination = condition->handle(), .value_bytes = 4, .width = 1}});  // to zero
  ConditionalWork loop{ConditionalWork::Kind::While, condition, {body}};
  Node* a = add(*graph, {}, notes.note('a'));
  Node* node = add(*graph, {a}, loop);
  add(*graph, {node}, notes.note('b'));
  auto& addresses = Runtime::get().addresses;
  ASSERT_TRUE(addresses.add({condition->handle(), 4, MemoryKind::Device, context_.get()}));
  const auto executable = instantiate(graph);
  ASSERT_TRUE(executable->launch(*stream_));
  ASSERT_TRUE(executable->launch(*stream_));
  ASSERT_TRUE(context_->synchronize());
  EXPECT_EQ(notes.take(), "abab");
  addresses.take(condition->handle(), [](const MemoryRange&) { return true; });
}

TEST_F(GraphTest, ACycleIsFoundWhenItIsInstantiated) {
  const auto graph = Graph::make(false);
  Node *a = add(*graph, {}), *b = add(*graph, {a});
  ASSERT_TRUE(graph->add_edge(*b, *a, {}));
  InstantiationProblem problem;
  EXPECT_FALSE(ExecutableGraph::make(graph, *context_, 0, problem));
  EXPECT_EQ(problem.kind, InstantiationProblem::Kind::InvalidStructure);
  EXPECT_TRUE(problem.node == a || problem.node == b);
}

TEST_F(GraphTest, RefusesForeignAndRepeatedDependencies) {
  const auto graph = Graph::make(false), other = Graph::make(false);
  Node *a = add(*graph, {}), *foreign = add(*other, {});
  const Dependency twice[] = {{a, {}}, {a, {}}}, outside[] = {{foreign, {}}};
  EXPECT_EQ(graph->add(EmptyWork{}, twice).error().code, ErrorCode::InvalidValue);
  EXPECT_EQ(graph->add(EmptyWork{}, outside).error().code, ErrorCode::InvalidValue);
  EXPECT_FALSE(graph->add_edge(*a, *a, {}));
  EXPECT_FALSE(graph->add_edge(*a, *foreign, {}));
  EXPECT_EQ(graph->nodes().size(), 1u);
}

TEST_F(GraphTest, AnUpdateOfAnotherShapeNamesTheNode) {
  Notes notes;
  const auto graph = Graph::make(false), other = Graph::make(false);
  Node *a = add(*graph, {}, notes.note('a')), *b = add(*graph, {}, notes.note('b'));
  add(*graph, {a, b});
  Node *x = add(*other, {}, notes.note('x')), *y = add(*other, {});
  add(*other, {x, y});
  const auto executable = instantiate(graph);
  const UpdateOutcome outcome = executable->update(*other);
  EXPECT_EQ(outcome.kind, UpdateOutcome::Kind::NodeTypeChanged);
  EXPECT_EQ(outcome.node, y);
  y->work = notes.note('y');
  EXPECT_EQ(executable->update(*other).kind, UpdateOutcome::Kind::Success);
  ASSERT_TRUE(executable->launch(*stream_));
  ASSERT_TRUE(context_->synchronize());
  const std::string order = notes.take();
  EXPECT_TRUE(order == "xy" || order == "yx") << order;
}

/// A kernel that notes for which blocks code is asked for.
class NotingExecutable final : public hal::Executable {
 public:
  NotingExecutable() { kernels_[0].name = "k"; }

  std::span<const hal::KernelInfo> kernels() const override { return kernels_; }
  std::span<const hal::SymbolInfo> symbols() const override { return {}; }
  Result<> prepare(uint32_t, const hal::Dim3& block) override {
    if (block.x == 13) return fail(ErrorCode::InvalidSource, "it does not compile");
    asked.push_back(block.x);
    return {};
  }

  std::vector<uint32_t> asked;

 private:
  hal::KernelInfo kernels_[1];
};

// Where code is made at the first launch, an executable graph has it before.
TEST_F(GraphTest, CodeIsMadeWhenAGraphBecomesExecutableAndWhenItChanges) {
  const auto noting = std::make_shared<NotingExecutable>();
  Module module(*context_, nullptr);
  const auto function = std::make_shared<Function>(*context_, module, noting, 0);
  const auto kernel = [&](uint32_t x) { return KernelWork{function, {{1}, {x}}, {}, {}}; };
  const auto inner = Graph::make(false);
  add(*inner, {}, kernel(32));
  const auto graph = Graph::make(false);
  Node *own = add(*graph, {}, kernel(64)), *child = add(*graph, {own}, ChildWork{inner});
  EXPECT_EQ(noting->asked, std::vector<uint32_t>());
  const auto executable = instantiate(graph);
  EXPECT_EQ(noting->asked, (std::vector<uint32_t>{64, 32}));

  ASSERT_TRUE(executable->set_work(*own, kernel(100)));
  const auto other = Graph::make(false);
  add(*other, {}, kernel(7));
  ASSERT_TRUE(executable->set_child(*child, *other));
  EXPECT_EQ(noting->asked, (std::vector<uint32_t>{64, 32, 100, 7}));

  const Result<> refused = executable->set_work(*own, kernel(13));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::InvalidSource);
}

TEST_F(GraphTest, HandlesEndWithTheirGraph) {
  Runtime& runtime = Runtime::get();
  auto graph = Graph::make(true);
  Node* node = add(*graph, {});
  auto inner = Graph::make(false);
  add(*inner, {});
  add(*graph, {}, ChildWork{inner});
  Node* inner_node = inner->nodes()[0].get();
  EXPECT_TRUE(runtime.graph_node(node));
  EXPECT_TRUE(runtime.graph_node(inner_node));
  EXPECT_TRUE(runtime.graph(inner.get()));
  graph->withdraw();
  EXPECT_FALSE(runtime.graph(graph.get()));
  EXPECT_FALSE(runtime.graph_node(node));
  EXPECT_FALSE(runtime.graph_node(inner_node));
  EXPECT_FALSE(runtime.graph(inner.get()));
}

}  // namespace
}  // namespace cupola::runtime
