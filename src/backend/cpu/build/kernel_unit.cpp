#include "backend/cpu/build/kernel_unit.h"

#include <llvm/IR/Module.h>
#include <llvm/Transforms/Utils/Cloning.h>
#include <llvm/Transforms/Utils/ValueMapper.h>

#include "kir/call_reach.h"

namespace cupola::cpu::build {
namespace {

/// On the kernel's body: its name for the program, and the bytes of the module's constants.
constexpr const char *kKernelMark = "cupola-kernel", *kConstantBytesMark = "cupola-constant-bytes";

/// Copies functions into another module, with what they call.
class Extract final : public llvm::ValueMaterializer {
 public:
  explicit Extract(llvm::Module& to) : to_(to) {}

  llvm::Function* take(llvm::Function& function) {
    auto* made = llvm::cast<llvm::Function>(llvm::MapValue(&function, map_, llvm::RF_None, nullptr, this));
    while (!declared_.empty()) define(*declared_.pop_back_val());
    return made;
  }

  llvm::Value* materialize(llvm::Value* value) override {
    auto* function = llvm::dyn_cast<llvm::Function>(value);
    if (!function) return nullptr;
    auto* made = llvm::Function::Create(function->getFunctionType(), function->getLinkage(), function->getName(), &to_);
    made->copyAttributesFrom(function);
    if (!function->isDeclaration()) declared_.push_back(function);
    return made;
  }

 private:
  void define(llvm::Function& function) {
    auto& made = llvm::cast<llvm::Function>(*map_[&function]);
    for (unsigned i = 0; i < function.arg_size(); ++i) {
      map_[function.getArg(i)] = made.getArg(i);
      made.getArg(i)->setName(function.getArg(i)->getName());
    }
    llvm::SmallVector<llvm::ReturnInst*, 4> returns;
    llvm::CloneFunctionInto(&made, &function, map_, llvm::CloneFunctionChangeType::DifferentModule, returns, "",
                            nullptr, nullptr, this);
  }

  llvm::Module& to_;
  llvm::ValueToValueMapTy map_;
  llvm::SmallVector<llvm::Function*, 8> declared_;  ///< whose bodies are still to be copied
};

void copy_properties(llvm::Module& to, const llvm::Module& from) {
  to.setDataLayout(from.getDataLayout());
  to.setTargetTriple(from.getTargetTriple());
  llvm::SmallVector<llvm::Module::ModuleFlagEntry, 8> flags;
  from.getModuleFlagsMetadata(flags);
  for (const llvm::Module::ModuleFlagEntry& flag : flags)
    to.addModuleFlag(flag.Behavior, flag.Key->getString(), flag.Val);
}

std::unexpected<Error> malformed(const std::string& why) {
  return fail(ErrorCode::InvalidImage, "cpu: the unit of a kernel is malformed: {}", why);
}

}  // namespace

std::vector<std::byte> write_unit(const KernelBody& kernel, uint64_t constant_bytes, const kir::CallReach& reach) {
  llvm::Module& from = *kernel.body->getParent();
  llvm::Module to(kernel.name, from.getContext());
  copy_properties(to, from);
  Extract extract(to);
  llvm::Function* const body = extract.take(*kernel.body);
  for (llvm::Function* function : reach.from(kernel.body)) {  // what is called through pointers, too: for its effects
    llvm::Function* made = extract.take(*function);
    if (reach.address_taken().contains(function)) made->addFnAttr(kir::kAddressTakenMark);
  }
  body->addFnAttr(kKernelMark, kernel.name);
  body->addFnAttr(kConstantBytesMark, llvm::utostr(constant_bytes));
  return kir::write(to);
}

Result<KernelUnit> read_unit(llvm::LLVMContext& context, std::span<const std::byte> bytes) {
  TRY(std::unique_ptr<llvm::Module> module, kir::read(context, bytes));
  for (llvm::Function& function : *module) {
    const llvm::Attribute name = function.getFnAttribute(kKernelMark);
    if (!name.isValid() || function.isDeclaration()) continue;
    uint64_t constant_bytes = 0;
    if (function.getFnAttribute(kConstantBytesMark).getValueAsString().getAsInteger(10, constant_bytes))
      return malformed("it does not say how many bytes of constants there are");
    return KernelUnit{std::move(module), {name.getValueAsString().str(), &function, {}}, constant_bytes};
  }
  return malformed("it has no kernel");
}

}  // namespace cupola::cpu::build
