#include "backend/metal/build/msl/structure.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/STLExtras.h>
#include <llvm/Analysis/LoopInfo.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/Instructions.h>

#include "kir/refusal.h"

namespace cupola::metal::build {
namespace {

using Kind = Statement::Kind;
using Statements = std::vector<Statement>;

/// First pass: statements with jumps that name their target. A Scope's `to` is the block that follows it, a Loop's
/// `block` its header; a jump is a Break whose `to` is the target.
class Tree {
 public:
  explicit Tree(llvm::Function& function) : function_(function), dominators_(function), loops_(dominators_) {
    unsigned place = 0;
    for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&function)) order_[block] = place++;
    for (llvm::BasicBlock& each : function) {
      llvm::BasicBlock* block = &each;
      if (!order_.contains(block) || block == &function.getEntryBlock()) continue;
      llvm::BasicBlock* parent = dominators_.getNode(block)->getIDom()->getBlock();
      if (llvm::BasicBlock* header = loop_left_behind(parent, block))
        after_loop_[header].push_back(block);
      else if (meets(block))
        meetings_[parent].push_back(block);
      else
        continue;
      placed_.insert(block);
    }
    for (auto* lists : {&after_loop_, &meetings_})
      for (auto& [owner, blocks] : *lists)
        llvm::sort(blocks, [&](auto* a, auto* b) { return order_.lookup(a) < order_.lookup(b); });
  }

  Result<Statements> run() {
    Statements all;
    TRY(tree(&function_.getEntryBlock(), all));
    return all;
  }

 private:
  /// The header of the outermost loop that holds `parent` and not `block`.
  llvm::BasicBlock* loop_left_behind(llvm::BasicBlock* parent, llvm::BasicBlock* block) const {
    llvm::BasicBlock* header = nullptr;
    for (const llvm::Loop* loop = loops_.getLoopFor(parent); loop && !loop->contains(block);
         loop = loop->getParentLoop())
      header = loop->getHeader();
    return header;
  }

  bool is_back_edge(const llvm::BasicBlock* from, const llvm::BasicBlock* to) const {
    return order_.lookup(from) >= order_.lookup(to);
  }

  /// Two or more ways lead to the block from in front of it.
  bool meets(llvm::BasicBlock* block) const {
    unsigned ways = 0;
    for (const llvm::BasicBlock* from : llvm::predecessors(block))
      if (order_.contains(from) && !is_back_edge(from, block)) ++ways;
    return ways > 1;
  }

  Result<> tree(llvm::BasicBlock* block, Statements& out) {
    const llvm::Loop* loop = loops_.getLoopFor(block);
    if (!loop || loop->getHeader() != block) return inside(block, out);
    Statement made{.kind = Kind::Loop, .block = block};
    TRY(inside(block, made.body));
    Statements inner;
    inner.push_back(std::move(made));
    return followed(std::move(inner), after_loop_.lookup(block), out);
  }

  Result<> inside(llvm::BasicBlock* block, Statements& out) {
    out.push_back({.kind = Kind::Code, .block = block});
    Statements end;
    TRY(terminator(block, end));
    return followed(std::move(end), meetings_.lookup(block), out);
  }

  /// `first`, then each of `blocks`, to which what stands before it may jump.
  Result<> followed(Statements first, llvm::ArrayRef<llvm::BasicBlock*> blocks, Statements& out) {
    for (llvm::BasicBlock* block : blocks) {
      Statement scope{.kind = Kind::Scope, .to = block, .body = std::move(first)};
      first.clear();
      first.push_back(std::move(scope));
      TRY(tree(block, first));
    }
    for (Statement& statement : first) out.push_back(std::move(statement));
    return {};
  }

  Result<> terminator(llvm::BasicBlock* block, Statements& out) {
    llvm::Instruction* end = block->getTerminator();
    if (llvm::isa<llvm::ReturnInst>(end)) {
      out.push_back({.kind = Kind::Return, .block = block});
      return {};
    }
    if (llvm::isa<llvm::UnreachableInst>(end)) {
      out.push_back({.kind = Kind::Unreachable, .block = block});
      return {};
    }
    auto* branch = llvm::dyn_cast<llvm::BranchInst>(end);
    if (!branch)
      return fail(ErrorCode::NotSupported, "metal: {}: '{}' is not supported", kir::place_of(*end),
                  end->getOpcodeName());
    if (branch->isUnconditional()) return jump(block, branch->getSuccessor(0), out);
    Statement made{.kind = Kind::If, .block = block, .condition = branch->getCondition()};
    TRY(jump(block, branch->getSuccessor(0), made.body));
    TRY(jump(block, branch->getSuccessor(1), made.otherwise));
    out.push_back(std::move(made));
    return {};
  }

  Result<> jump(llvm::BasicBlock* from, llvm::BasicBlock* to, Statements& out) {
    if (llvm::isa<llvm::PHINode>(to->front())) out.push_back({.kind = Kind::Copy, .block = from, .to = to});
    if (is_back_edge(from, to)) {
      if (!dominators_.dominates(to, from))
        return fail(ErrorCode::NotSupported, "metal: {}: a loop with several entries", kir::place_of(to->front()));
      out.push_back({.kind = Kind::Break, .to = to});
      return {};
    }
    if (!placed_.contains(to)) return tree(to, out);
    out.push_back({.kind = Kind::Break, .to = to});
    return {};
  }

  llvm::Function& function_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  llvm::DenseMap<const llvm::BasicBlock*, unsigned> order_;
  using Lists = llvm::DenseMap<llvm::BasicBlock*, llvm::SmallVector<llvm::BasicBlock*, 2>>;
  Lists after_loop_, meetings_;
  llvm::DenseSet<const llvm::BasicBlock*> placed_;
};

/// Second pass: how each jump is said. A place knows what control comes to by falling through, and what the constructs
/// around it are.
class Jumps {
 public:
  /// What a Break out of a construct, or a Continue of it, comes to.
  struct Around {
    Statement* statement;
    llvm::BasicBlock* next;  ///< where control is after it; null: at the end of the function
    bool is_scope;
  };

  bool leaves() const { return number_ != 0; }

  /// Finds out which scopes need a name: those that are jumped out of other than by leaving a loop in them at once.
  void mark(Statements& list, llvm::BasicBlock* next) {
    each(list, next, [&](Statement& statement, llvm::BasicBlock* falls) { mark(statement, falls); });
  }

  /// Writes the jumps as Breaks, Continues and Leaves; scopes that nobody needs dissolve.
  Statements resolve(Statements list, llvm::BasicBlock* next) {
    Statements out;
    each(list, next, [&](Statement& statement, llvm::BasicBlock* falls) { resolve(statement, falls, out); });
    return out;
  }

 private:
  /// Each statement with the block that control comes to behind it.
  template <typename Visit>
  static void each(Statements& list, llvm::BasicBlock* next, Visit visit) {
    for (size_t i = 0; i < list.size(); ++i) {
      llvm::BasicBlock* falls = next;
      if (i + 1 < list.size()) falls = entry_of(list[i + 1]);
      visit(list[i], falls);
    }
  }

  static llvm::BasicBlock* entry_of(const Statement& statement) {
    switch (statement.kind) {
      case Kind::Code:
      case Kind::Loop:
        return statement.block;
      case Kind::Scope:
        return statement.body.empty() ? statement.to : entry_of(statement.body.front());
      default:
        return nullptr;
    }
  }

  void mark(Statement& statement, llvm::BasicBlock* falls) {
    switch (statement.kind) {
      case Kind::If:
        mark(statement.body, falls);
        mark(statement.otherwise, falls);
        return;
      case Kind::Loop:
        around_.push_back({&statement, falls, false});
        mark(statement.body, statement.block);
        around_.pop_back();
        return;
      case Kind::Scope:
        around_.push_back({&statement, statement.to, true});
        mark(statement.body, statement.to);
        around_.pop_back();
        return;
      case Kind::Break:
        if (statement.to == falls) return;
        mark_target(statement.to);
        return;
      default:
        return;
    }
  }

  void mark_target(llvm::BasicBlock* target) {
    for (const Around& around : llvm::reverse(around_)) {
      if (!around.is_scope) {
        if (around.next == target || around.statement->block == target) return;  // by this loop's break or continue
        continue;
      }
      if (around.statement->to != target) continue;
      needed_.insert(around.statement);
      return;
    }
  }

  void resolve(Statement& statement, llvm::BasicBlock* falls, Statements& out) {
    switch (statement.kind) {
      case Kind::If: {
        Statement made = copy_of(statement);
        made.body = resolve(std::move(statement.body), falls);
        made.otherwise = resolve(std::move(statement.otherwise), falls);
        if (!made.body.empty() || !made.otherwise.empty()) out.push_back(std::move(made));
        return;
      }
      case Kind::Loop:
        return resolve_construct(statement, {&statement, falls, false}, statement.block, out);
      case Kind::Scope:
        if (needed_.contains(&statement))
          return resolve_construct(statement, {&statement, statement.to, true}, statement.to, out);
        for (Statement& part : resolve(std::move(statement.body), statement.to)) out.push_back(std::move(part));
        return;
      case Kind::Break:
        if (statement.to != falls) resolve_jump(statement.to, out);
        return;
      default:
        out.push_back(std::move(statement));
        return;
    }
  }

  static Statement copy_of(const Statement& statement) {
    return {.kind = statement.kind, .block = statement.block, .to = statement.to, .condition = statement.condition};
  }

  /// A jump that passes through constructs: its number, and how many of them it still has to leave.
  struct Passing {
    unsigned number;
    size_t depth;  ///< of the construct whose Break or Continue it ends with
    bool continues;
  };

  void resolve_construct(Statement& statement, Around around, llvm::BasicBlock* next, Statements& out) {
    const size_t before = passing_.size();
    around_.push_back(around);
    Statement made = copy_of(statement);
    made.body = resolve(std::move(statement.body), next);
    around_.pop_back();
    out.push_back(std::move(made));
    // Those that go on to leave the construct around this one.
    const size_t depth = around_.size();
    llvm::SmallVector<Passing, 4> on;
    for (const Passing& jump : llvm::drop_begin(passing_, before)) {
      if (jump.depth >= depth) continue;  // has arrived
      const bool last = jump.depth + 1 == depth;
      Statement arrive{.kind = Kind::Arrive, .number = jump.number, .last = last};
      arrive.body.push_back({.kind = last && jump.continues ? Kind::Continue : Kind::Break});
      out.push_back(std::move(arrive));
      if (!last) on.push_back(jump);
    }
    passing_.truncate(before);
    passing_.append(on);
  }

  void resolve_jump(llvm::BasicBlock* target, Statements& out) {
    for (size_t depth = around_.size(); depth-- > 0;) {
      const Around& around = around_[depth];
      const bool continues = !around.is_scope && around.statement->block == target;
      if (!continues && around.next != target) continue;
      if (depth + 1 == around_.size()) {
        out.push_back({.kind = continues ? Kind::Continue : Kind::Break});
        return;
      }
      const unsigned number = ++number_;
      out.push_back({.kind = Kind::Leave, .number = number});
      out.push_back({.kind = Kind::Break});
      passing_.push_back({number, depth, continues});
      return;
    }
  }

  llvm::SmallVector<Around, 8> around_;
  llvm::DenseSet<const Statement*> needed_;
  llvm::SmallVector<Passing, 8> passing_;
  unsigned number_ = 0;
};

}  // namespace

Result<std::vector<Statement>> structure(llvm::Function& function, bool& leaves) {
  TRY(Statements tree, Tree(function).run());
  Jumps jumps;
  jumps.mark(tree, nullptr);
  Statements all = jumps.resolve(std::move(tree), nullptr);
  leaves = jumps.leaves();
  return all;
}

}  // namespace cupola::metal::build
