#include "kir/module_data.h"

#include <llvm/ADT/DenseMap.h>
#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "kir/address_space.h"
#include "kir/c_functions.h"
#include "kir/call_reach.h"
#include "kir/initializer.h"

namespace cupola::kir {
namespace {

class Layout {
 public:
  Layout(llvm::Module& module, const CallReach& reach, const ModuleDataAccess& access)
      : module_(module), layout_(module.getDataLayout()), reach_(reach), access_(access) {}

  Result<ModuleData> run() {
    TRY(place_variables(true));
    data_.constant_bytes = end_;
    TRY(place_variables(false));
    place_descriptors();
    data_.bytes.resize(end_);
    TRY(render_all());
    for (auto& [global, offset] : places_) replace_uses(*global, offset);
    remove_variables();
    return std::move(data_);
  }

 private:
  /// Variables of the constant space, or the others.
  Result<> place_variables(bool constants) {
    llvm::SmallVector<llvm::GlobalValue*, 16> used;
    llvm::collectUsedGlobalVariables(module_, used, /*CompilerUsed=*/false);
    llvm::collectUsedGlobalVariables(module_, used, /*CompilerUsed=*/true);
    llvm::SmallPtrSet<const llvm::GlobalValue*, 16> named(used.begin(), used.end());
    for (llvm::GlobalVariable& variable : module_.globals()) {
      if (variable.getName().starts_with("llvm.")) {
        if (variable.getName() == "llvm.global_ctors" && variable.hasInitializer() &&
            variable.getInitializer()->getNumOperands())
          return fail(ErrorCode::NotSupported, "device variables with constructors are not supported");
        continue;
      }
      const unsigned space = variable.getAddressSpace();
      if (space == kSharedSpace || (space == kConstantSpace) != constants) continue;
      if (space != kGenericSpace && space != kGlobalSpace && space != kConstantSpace)
        return fail(ErrorCode::NotSupported, "variable '{}' is in address space {}", variable.getName().str(), space);
      variable.removeDeadConstantUsers();
      if (variable.isDeclaration()) {
        if (variable.use_empty()) continue;
        return fail(ErrorCode::NotSupported, "device variable '{}' is declared but defined nowhere",
                    variable.getName().str());
      }
      const bool visible = !variable.hasLocalLinkage() || named.contains(&variable);
      if (!visible && variable.use_empty()) continue;
      const uint64_t size = layout_.getTypeAllocSize(variable.getValueType());
      const uint64_t offset = place(variable, size, layout_.getPreferredAlign(&variable).value());
      if (visible)
        data_.symbols.push_back(
            {own_name(variable).str(), offset, size, space == kConstantSpace || variable.isConstant()});
    }
    return {};
  }

  void place_descriptors() {
    for (llvm::Function* function : reach_.address_taken())
      data_.descriptors.push_back(
          {place(*function, access_.descriptor_bytes, access_.descriptor_alignment), function->getName().str()});
  }

  uint64_t place(llvm::GlobalValue& global, uint64_t size, uint64_t alignment) {
    const uint64_t offset = llvm::alignTo(end_, alignment);
    data_.alignment = std::max(data_.alignment, alignment);
    end_ = offset + std::max<uint64_t>(size, 1);  // two variables never share an address
    places_.push_back({&global, offset});
    offsets_[&global] = offset;
    return offset;
  }

  Result<> render_all() {
    for (auto& [global, offset] : places_) {
      if (llvm::isa<llvm::Function>(global)) continue;
      const uint64_t at = offset;
      auto& variable = llvm::cast<llvm::GlobalVariable>(*global);
      const uint64_t size = layout_.getTypeAllocSize(variable.getValueType());
      TRY(render_initializer(*variable.getInitializer(), layout_, std::span(data_.bytes).subspan(at, size),
                             [&](uint64_t word, const llvm::GlobalValue& target, int64_t addend) {
                               return relocate(variable, at + word, target, addend);
                             }));
    }
    return {};
  }

  Result<> relocate(const llvm::GlobalVariable& variable, uint64_t word, const llvm::GlobalValue& target,
                    int64_t addend) {
    const auto found = offsets_.find(&target);
    if (found == offsets_.end())
      return fail(ErrorCode::NotSupported,
                  "the initial value of '{}' holds the address of '{}', which has no fixed one",
                  variable.getName().str(), target.getName().str());
    const uint64_t address = found->second + static_cast<uint64_t>(addend);
    if (address > end_)
      return fail(ErrorCode::NotSupported, "the initial value of '{}' points {} bytes from '{}', out of the module",
                  variable.getName().str(), addend, target.getName().str());
    data_.relocations.push_back({word, image::DataRelocation::Kind::DataAddress, address});
    return {};
  }

  /// One address a function, computed at its entry: simple, and the back-end folds it into the accesses.
  void replace_uses(llvm::GlobalValue& global, uint64_t offset) {
    llvm::DenseMap<llvm::Function*, llvm::Value*> addresses;
    for (llvm::Use& use : llvm::make_early_inc_range(global.uses())) {
      auto* user = llvm::dyn_cast<llvm::Instruction>(use.getUser());
      if (!user) continue;
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user); call && call->isCallee(&use) && call->getCalledFunction())
        continue;
      llvm::Value*& address = addresses[user->getFunction()];
      if (!address) address = address_in(*user->getFunction(), global, offset);
      use.set(address);
    }
  }

  llvm::Value* address_in(llvm::Function& function, llvm::GlobalValue& global, uint64_t offset) {
    llvm::Instruction*& base = bases_[&function];
    if (!base) base = access_.base(function);
    llvm::IRBuilder<> builder(base->getParent(), std::next(base->getIterator()));
    llvm::Value* address = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), base, offset);
    if (global.getAddressSpace() != kGenericSpace) address = builder.CreateAddrSpaceCast(address, global.getType());
    return address;
  }

  void remove_variables() {
    llvm::SmallVector<llvm::GlobalVariable*, 32> removed;
    for (llvm::GlobalVariable& variable : module_.globals())
      if (variable.getAddressSpace() != kSharedSpace) removed.push_back(&variable);
    for (llvm::GlobalVariable* variable : removed) variable->setInitializer(nullptr);
    for (llvm::GlobalVariable* variable : removed) {
      variable->removeDeadConstantUsers();
      variable->replaceAllUsesWith(llvm::PoisonValue::get(variable->getType()));  // metadata and the like
      variable->eraseFromParent();
    }
  }

  llvm::Module& module_;
  const llvm::DataLayout& layout_;
  const CallReach& reach_;
  const ModuleDataAccess& access_;
  ModuleData data_;
  uint64_t end_ = 0;
  std::vector<std::pair<llvm::GlobalValue*, uint64_t>> places_;
  llvm::DenseMap<const llvm::GlobalValue*, uint64_t> offsets_;
  llvm::DenseMap<llvm::Function*, llvm::Instruction*> bases_;
};

}  // namespace

Result<ModuleData> lay_out_module_data(llvm::Module& module, const CallReach& reach, const ModuleDataAccess& access) {
  return Layout(module, reach, access).run();
}

}  // namespace cupola::kir
