#pragma once

#include <llvm/Analysis/LoopInfo.h>
#include <llvm/Analysis/PostDominators.h>
#include <llvm/IR/Dominators.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Verifier.h>
#include <llvm/Target/TargetMachine.h>

#include <memory>
#include <string>

#include "backend/cpu/build/lone_lanes.h"
#include "backend/cpu/build/lone_threads.h"
#include "backend/cpu/build/object_file.h"
#include "backend/cpu/build/peer_stores.h"
#include "backend/cpu/build/test_program.h"
#include "backend/cpu/build/vector_convergence.h"
#include "backend/cpu/build/vector_departures.h"
#include "backend/cpu/build/vector_exits.h"
#include "backend/cpu/build/vector_groups.h"
#include "backend/cpu/build/vector_prepare.h"
#include "backend/cpu/build/vector_report.h"
#include "backend/cpu/build/vector_shapes.h"
#include "backend/cpu/build/vector_widening.h"
#include "kir/call_reach.h"

namespace cupola::cpu::build::testing {

/// The function @k of kir text as the vector rung's analyses see it; the text is in the form that they ask for,
/// or is brought into it by prepare().
class AnalysedKernel {
 public:
  explicit AnalysedKernel(const std::string& text, BlockClass blocks = BlockClass::Rows)
      : blocks_(blocks), module_(parse(context_, kDeclarations + text)), function_(module_->getFunction("k")) {
    analyse();
  }

  /// As the rung does first, which brings text of any form into the one that it asks for.
  void prepare() {
    const kir::CallReach reach(*module_);
    const Result<> whole = inline_calls(*function_, reach);
    EXPECT_TRUE(whole) << whole.error().message;
    prepare_for_lanes(*function_);
    EXPECT_FALSE(llvm::verifyFunction(*function_, &llvm::errs()));
    analyse();
  }

  /// As the rung does with the prepared kernel.
  void know_lone_lanes() {
    build::know_lone_lanes(*function_);
    EXPECT_FALSE(llvm::verifyFunction(*function_, &llvm::errs()));
    analyse();
  }

  /// As the rung does before it looks at shapes.
  Exits separate() {
    exits_ = separate_exits(*function_, blocks_);
    EXPECT_FALSE(llvm::verifyFunction(*function_, &llvm::errs()));
    analyse();
    return exits_;
  }

  /// As the rung does before it takes lanes apart that return.
  bool store_with_peers() {
    const bool some = build::store_with_peers(*function_, blocks_);
    EXPECT_FALSE(llvm::verifyFunction(*function_, &llvm::errs()));
    analyse();
    return some;
  }

  llvm::Instruction* value(const std::string& name) const {
    for (llvm::Instruction& one : llvm::instructions(*function_))
      if (one.getName() == name) return &one;
    ADD_FAILURE() << "no value " << name;
    return nullptr;
  }
  llvm::BasicBlock* block(const std::string& name) const {
    for (llvm::BasicBlock& one : *function_)
      if (one.getName() == name) return &one;
    ADD_FAILURE() << "no block " << name;
    return nullptr;
  }

  bool has_local_arrays() const {
    return llvm::any_of(llvm::instructions(*function_), llvm::IsaPred<llvm::AllocaInst>);
  }

  size_t stores() const { return llvm::count_if(llvm::instructions(*function_), llvm::IsaPred<llvm::StoreInst>); }

  Shape of(const std::string& name) const { return shapes_->of(value(name)); }
  Shape at(const std::string& name, const std::string& user) const { return shapes_->at(value(name), block(user)); }
  bool is_masked(const std::string& name) const { return shapes_->is_masked(block(name)); }
  bool diverges(const std::string& name) const { return shapes_->diverges(block(name)); }
  const Shapes& shapes() const { return *shapes_; }
  Departures departures() const {
    return Departures(*function_, *shapes_, *loops_, Companions(*loops_, *dominators_, *post_dominators_), exits_);
  }
  Groups groups() const { return Groups(*function_, *shapes_, *dominators_); }
  bool is_faster_alone() const { return build::is_faster_alone(*function_, *shapes_, *loops_); }
  bool may_run_alone() const { return build::may_run_alone(*function_, kir::CallReach(*module_)); }

  /// Its code for a warp, of a machine without masked accesses. The kernel's first parameter is the context.
  llvm::Function& widened() {
    const Exits exits = separate();
    auto* made = llvm::Function::Create(function_->getFunctionType(), llvm::GlobalValue::InternalLinkage, "widened",
                                        module_.get());
    accesses_ = widen(*function_, *made, {blocks_}, *shapes_, groups(), departures(), *loops_, exits, *machine_);
    EXPECT_FALSE(llvm::verifyFunction(*made, &llvm::errs()));
    return *made;
  }

  /// Of what widened() has made.
  std::string report() const { return report_accesses(*function_, blocks_, *shapes_, groups(), *loops_, accesses_); }

  std::string obstacle() const {
    const kir::CallReach reach(*module_);
    return convergence_obstacle(*function_, *shapes_, *loops_, *post_dominators_, departures(), reach);
  }

 private:
  static constexpr const char* kDeclarations = R"(
    declare i32 @cupola.tid.x()
    declare i32 @cupola.tid.y()
    declare i32 @cupola.ntid.x()
    declare i32 @cupola.laneid()
    declare i32 @cupola.active_mask()
    declare void @cupola.barrier(i32, i32)
    declare void @cupola.warp_sync(i32)
    declare void @cupola.grid.sync()
    declare void @cupola.trap() noreturn
    declare i64 @cupola.shuffle(i32, i32, i32, i32, i32)
    declare i32 @cupola.vote(i32, i32, i32)
    declare i64 @cupola.match(i32, i32, i64)
    declare i32 @cupola.redux(i32, i32, i32)
    declare ptr @cupola.warp_publish(ptr, i32)
  )";

  void analyse() {
    dominators_ = std::make_unique<llvm::DominatorTree>(*function_);
    post_dominators_ = std::make_unique<llvm::PostDominatorTree>(*function_);
    loops_ = std::make_unique<llvm::LoopInfo>(*dominators_);
    shapes_ = std::make_unique<Shapes>(*function_, blocks_, *loops_, *post_dominators_);
  }

  const BlockClass blocks_;
  llvm::LLVMContext context_;
  std::unique_ptr<llvm::Module> module_;
  llvm::Function* function_;
  std::unique_ptr<llvm::DominatorTree> dominators_;
  std::unique_ptr<llvm::PostDominatorTree> post_dominators_;
  std::unique_ptr<llvm::LoopInfo> loops_;
  std::unique_ptr<Shapes> shapes_;
  Exits exits_;
  Accesses accesses_;
  const std::unique_ptr<llvm::TargetMachine> machine_ = *machine_for("cpu:x86_64:x86-64");
};

/// A kernel of %n and %p that begins with its lane's number, %l.
inline std::string by_lane(const std::string& body) {
  return "define ptx_kernel void @k(i32 %n, ptr %p) {\n  %l = call i32 @cupola.laneid()\n" + body + "}\n";
}

/// A loop, and nothing after it, in which lane l takes l + 1 turns.
inline std::string lanes_turn(const std::string& turn) {
  return by_lane(R"(
      br label %loop
    loop:
      %i = phi i32 [ 0, %0 ], [ %next, %loop ]
      )" + turn +
                 R"(
      %next = add i32 %i, 1
      %over = icmp ugt i32 %next, %l
      br i1 %over, label %end, label %loop
    end:
      ret void
    )");
}

/// A loop in a loop: of both lane l takes l + 1 turns. More follows.
inline std::string lanes_turn_twice(const std::string& inner, const std::string& outer = "") {
  return by_lane(R"(
      br label %outer
    outer:
      %i = phi i32 [ 0, %0 ], [ %i.next, %latch ]
      br label %inner
    inner:
      %j = phi i32 [ 0, %outer ], [ %j.next, %inner ]
      )" + inner +
                 R"(
      %j.next = add i32 %j, 1
      %j.over = icmp ugt i32 %j.next, %l
      br i1 %j.over, label %latch, label %inner
    latch:
      )" + outer +
                 R"(
      %i.next = add i32 %i, 1
      %i.over = icmp ugt i32 %i.next, %l
      br i1 %i.over, label %tail, label %outer
    tail:
      store i32 1, ptr %p
      br label %end
    end:
      ret void
    )");
}

}  // namespace cupola::cpu::build::testing
