#include "ptx/lower/module_lowering.h"

#include <llvm/IR/Constants.h>
#include <llvm/Transforms/Utils/ModuleUtils.h>

#include <algorithm>
#include <numeric>

#include "kir/kir.h"
#include "ptx/lower/emission.h"
#include "ptx/lower/float_values.h"

namespace cupola::ptx {
namespace {

using llvm::Constant;
using llvm::GlobalValue;

llvm::GlobalValue::LinkageTypes linkage_of(Linkage linkage) {
  switch (linkage) {
    case Linkage::Internal:
      return GlobalValue::InternalLinkage;
    case Linkage::Extern:
    case Linkage::Visible:
      return GlobalValue::ExternalLinkage;
    case Linkage::Weak:
    case Linkage::Common:
      return GlobalValue::WeakAnyLinkage;
  }
  return GlobalValue::ExternalLinkage;
}

/// Functions that the compiler's other front ends declare with pointers, where PTX has 64-bit numbers. p: pointer, i
/// and l: 32 and 64 bits, v: nothing; the result first. CUDA C++ Programming Guide, "Formatted Output", "Assertion",
/// "Dynamic Global Memory".
struct KnownFunction {
  llvm::StringLiteral name, types;
};
constexpr KnownFunction kKnownFunctions[] = {
    {"vprintf", "ipp"},
    {"malloc", "pl"},
    {"free", "vp"},
    {"__assertfail", "vppipl"},
    // "CUDA C++ Programming Guide, Device-Side Launch from PTX"; a dim3 is passed by value, which is a pointer here.
    {"cudaGetParameterBuffer", "pll"},
    {"cudaLaunchDevice", "ippppip"},
    {"cudaGetParameterBufferV2", "ppppi"},
    {"cudaLaunchDeviceV2", "ipp"},
    // The device runtime's other functions: src/device/launches.cu, device_queries.cu and cooperation.cu.
    {"cudaCGGetIntrinsicHandle", "li"},
    {"cudaCGSynchronize", "ili"},
    {"cudaCGGetSize", "ippl"},
    {"cudaCGGetRank", "ippl"},
    {"cudaStreamCreateWithFlags", "ipi"},
    {"cudaStreamDestroy", "ip"},
    {"cudaStreamWaitEvent", "ippi"},
    {"cudaEventCreateWithFlags", "ipi"},
    {"cudaEventRecord", "ipp"},
    {"cudaEventDestroy", "ip"},
    {"cudaMalloc", "ipl"},
    {"cudaFree", "ip"},
    {"cudaMemcpyAsync", "ipplip"},
    {"cudaMemcpy2DAsync", "iplplllip"},
    {"cudaMemsetAsync", "ipilp"},
    {"cudaMemset2DAsync", "iplillp"},
    {"cudaMemset3DAsync", "ipipp"},
    {"cudaGetDevice", "ip"},
    {"cudaGetDeviceCount", "ip"},
    {"cudaDeviceGetAttribute", "ipii"},
    {"cudaDeviceGetLimit", "ipi"},
    {"cudaRuntimeGetVersion", "ip"},
    {"cudaFuncGetAttributes", "ipp"},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessor", "ippil"},
    {"cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", "ippili"},
    {"cudaGetLastError", "i"},
    {"cudaPeekAtLastError", "i"},
    {"cudaGraphSetConditional", "vli"}};

llvm::FunctionType* known_signature(llvm::LLVMContext& context, llvm::StringRef name) {
  for (const KnownFunction& known : kKnownFunctions) {
    if (known.name != name) continue;
    llvm::SmallVector<llvm::Type*, 6> types;
    for (const char c : known.types)
      types.push_back(c == 'p'   ? static_cast<llvm::Type*>(llvm::PointerType::get(context, 0))
                      : c == 'i' ? llvm::Type::getInt32Ty(context)
                      : c == 'l' ? llvm::Type::getInt64Ty(context)
                                 : llvm::Type::getVoidTy(context));
    return llvm::FunctionType::get(types[0], llvm::ArrayRef(types).drop_front(), false);
  }
  return nullptr;
}

/// What the device library calls a function that PTX declares: nvcc's code calls the device runtime of CUDA 12 and
/// later (cudaLaunchDeviceV2 ...) by names of its own, with one more ending for streams of each thread.
std::string library_name(llvm::StringRef name) {
  if (!name.consume_front("__cudaCDP2")) return name.str();
  name.consume_back("_ptsz");
  return "cuda" + name.str();
}

/// Whether values of one signature can stand for those of the other, pointers for 64-bit numbers.
bool same_widths(const llvm::FunctionType& a, const llvm::FunctionType& b) {
  const auto width = [](const llvm::Type* type) {
    return type->isPointerTy() ? 64u : static_cast<unsigned>(type->getPrimitiveSizeInBits());
  };
  if (a.getNumParams() != b.getNumParams() || a.getReturnType()->isVoidTy() != b.getReturnType()->isVoidTy())
    return false;
  for (unsigned i = 0; i < a.getNumParams(); ++i)
    if (width(a.getParamType(i)) != width(b.getParamType(i))) return false;
  return width(a.getReturnType()) == width(b.getReturnType());
}

/// Whether the device library's function is meant: where there is no body, and the device runtime's also where there is
/// one. What nvcc links brings NVIDIA's device runtime as PTX, which calls what only NVIDIA's driver has. `type`: the
/// function's own.
bool is_of_the_library(const Function& function, const llvm::FunctionType& type) {
  if (function.is_kernel) return false;
  if (!function.has_body) return true;
  const std::string name = library_name(function.name);
  const llvm::FunctionType* known =
      llvm::StringRef(name).starts_with("cuda") ? known_signature(type.getContext(), name) : nullptr;
  return known && same_widths(type, *known);
}

/// LLVM's common variables are zeros in global memory.
GlobalValue::LinkageTypes linkage_of(const Variable& variable) {
  const bool zeros = variable.space == Space::Global && variable.initial.empty();
  return variable.linkage == Linkage::Common && zeros ? GlobalValue::CommonLinkage : linkage_of(variable.linkage);
}

/// Strings and tables that the compiler made have names that no program can: "$str".
bool host_may_name(const Variable& variable) {
  return variable.linkage != Linkage::Internal || !variable.name.starts_with('$');
}

std::string numbers_of(const PerformanceBound& bound) {
  std::string text;
  for (const uint32_t number : bound.numbers) text += (text.empty() ? "" : ",") + std::to_string(number);
  return text;
}

}  // namespace

unsigned address_space(Space space) {
  switch (space) {
    case Space::Global:
    case Space::Tex:
      return 1;
    case Space::Shared:
      return 3;
    case Space::Const:
      return 4;
    case Space::Generic:
    case Space::Reg:
    case Space::Local:
    case Space::Param:
      return 0;
  }
  return 0;
}

llvm::Type* memory_type(const ModuleLowering& lowering, const Variable& variable) {
  llvm::Type* element = lowering.value_type(variable.type);
  if (variable.type == Type::Pred) element = llvm::Type::getInt8Ty(lowering.context());
  if (!variable.is_array && variable.vector == 1) return element;
  return llvm::ArrayType::get(element, variable.elements());
}

llvm::Type* ModuleLowering::value_type(Type type) const {
  llvm::LLVMContext& c = context();
  const auto pair = [](llvm::Type* of) { return llvm::FixedVectorType::get(of, 2); };
  switch (type) {
    case Type::Pred:
    case Type::B1:
      return llvm::Type::getInt1Ty(c);
    case Type::U4:
    case Type::S4:
    case Type::B8:
    case Type::U8:
    case Type::S8:
    case Type::E4M3:
    case Type::E5M2:
      return llvm::Type::getInt8Ty(c);
    case Type::B16:
    case Type::U16:
    case Type::S16:
    case Type::E4M3x2:
    case Type::E5M2x2:
    case Type::UE8M0x2:
      return llvm::Type::getInt16Ty(c);
    case Type::B32:
    case Type::U32:
    case Type::S32:
      return llvm::Type::getInt32Ty(c);
    case Type::B64:
    case Type::U64:
    case Type::S64:
    case Type::TexRef:
    case Type::SamplerRef:
    case Type::SurfRef:
      return llvm::Type::getInt64Ty(c);
    case Type::B128:
      return llvm::Type::getInt128Ty(c);
    case Type::F16:
      return llvm::Type::getHalfTy(c);
    case Type::BF16:
      return llvm::Type::getBFloatTy(c);
    case Type::TF32:
    case Type::F32:
      return llvm::Type::getFloatTy(c);
    case Type::F64:
      return llvm::Type::getDoubleTy(c);
    case Type::F16x2:
      return pair(llvm::Type::getHalfTy(c));
    case Type::BF16x2:
      return pair(llvm::Type::getBFloatTy(c));
    case Type::U16x2:
    case Type::S16x2:
      return pair(llvm::Type::getInt16Ty(c));
    case Type::F32x2:
      return pair(llvm::Type::getFloatTy(c));
  }
  return nullptr;
}

llvm::Type* ModuleLowering::scalar_type(const Variable& variable) const {
  return variable.is_array || variable.vector > 1 ? nullptr : value_type(variable.type);
}

llvm::FunctionType* ModuleLowering::signature(const std::vector<Variable>& results,
                                              const std::vector<Variable>& parameters) const {
  llvm::SmallVector<llvm::Type*, 8> types;
  for (const Variable& parameter : parameters) {
    llvm::Type* scalar = scalar_type(parameter);
    types.push_back(scalar ? scalar : llvm::PointerType::get(context(), 0));
  }
  llvm::SmallVector<llvm::Type*, 2> made;
  for (const Variable& result : results) {
    llvm::Type* scalar = scalar_type(result);
    if (!scalar) {  // words instead of bytes, as far as alignment and size allow: fewer values to pass
      const uint64_t word = std::gcd(result.bytes(), uint64_t{std::min(result.alignment(), 8u)});
      scalar = llvm::ArrayType::get(llvm::Type::getIntNTy(context(), word * 8), result.bytes() / word);
    }
    made.push_back(scalar);
  }
  llvm::Type* result = made.empty()       ? llvm::Type::getVoidTy(context())
                       : made.size() == 1 ? made[0]
                                          : static_cast<llvm::Type*>(llvm::StructType::get(context(), made));
  return llvm::FunctionType::get(result, types, false);
}

llvm::GlobalValue* ModuleLowering::symbol(std::string_view name) const {
  return symbols_.lookup(llvm::StringRef(name));
}

llvm::Function* ModuleLowering::declare_function(const Function& function) {
  llvm::FunctionType* type = signature(function.results, function.parameters);
  std::string name(function.name);
  const bool is_library = is_of_the_library(function, *type);
  if (is_library) {
    name = library_name(name);
    if (llvm::FunctionType* known = known_signature(context(), name); known && same_widths(*type, *known)) type = known;
    if (llvm::Function* declared = out.getFunction(name)) return declared;
  }
  auto* made = llvm::Function::Create(
      type, function.is_kernel || is_library ? GlobalValue::ExternalLinkage : linkage_of(function.linkage), name, out);
  if (type == signature(function.results, function.parameters)) mark_by_value(*made, function.parameters);
  made->addFnAttr(llvm::Attribute::Convergent);
  made->addFnAttr(llvm::Attribute::NoUnwind);
  if (function.noreturn) made->setDoesNotReturn();
  if (function.is_kernel) {
    made->setCallingConv(llvm::CallingConv::PTX_Kernel);
    if (function.linkage == Linkage::Weak && function.has_body) made->setLinkage(GlobalValue::WeakAnyLinkage);
    for (const PerformanceBound& bound : function.bounds) {
      const llvm::StringRef directive(bound.name);
      if (directive == "maxntid" || directive == "reqntid" || directive == "maxnreg")
        made->addFnAttr(("nvvm." + directive).str(), numbers_of(bound));
      if (directive == "minnctapersm") made->addFnAttr("nvvm.minctasm", numbers_of(bound));
    }
  }
  return made;
}

llvm::GlobalVariable* ModuleLowering::make_variable(const Variable& variable, const llvm::Twine& name) {
  const unsigned space = address_space(variable.space);
  llvm::Type* type = memory_type(*this, variable);
  const bool external = variable.linkage == Linkage::Extern;
  Constant* initial = external                          ? nullptr
                      : variable.space == Space::Shared ? static_cast<Constant*>(llvm::UndefValue::get(type))
                                                        : Constant::getNullValue(type);
  auto* made = new llvm::GlobalVariable(
      out, type, variable.space == Space::Const && variable.linkage == Linkage::Internal,
      external && variable.space == Space::Shared ? GlobalValue::ExternalLinkage : linkage_of(variable), initial, name,
      nullptr, GlobalValue::NotThreadLocal, space);
  made->setAlignment(llvm::Align(std::max(variable.alignment(), 1u)));
  // What the host can find by name it may write before any launch.
  if (!external && variable.space != Space::Shared && host_may_name(variable)) made->setExternallyInitialized(true);
  return made;
}

/// The address of a symbol as a pointer-sized number, or one byte of it.
Result<Constant*> ModuleLowering::address_constant(const Variable& variable, const Initial& value,
                                                   llvm::Type* type) const {
  const std::string_view name = m.names[value.symbol];
  llvm::GlobalValue* target = symbol(name);
  if (!target)
    return fail(ErrorCode::InvalidPtx, "ptx: line {}: the initial value of '{}' names '{}', which is not declared",
                variable.location.line, variable.name, name);
  llvm::Type* i64 = llvm::Type::getInt64Ty(context());
  Constant* pointer = target;
  if (value.generic && target->getAddressSpace() != 0)
    pointer = llvm::ConstantExpr::getAddrSpaceCast(target, llvm::PointerType::get(context(), 0));
  pointer = llvm::ConstantExpr::getGetElementPtr(llvm::Type::getInt8Ty(context()), pointer,
                                                 llvm::ConstantInt::get(i64, value.bits));
  if (value.mask_byte != 0xff || bits_of(variable.type) != 64)
    return fail(ErrorCode::NotSupported,
                "ptx: line {}: '{}' holds part of the address of '{}'; only whole 64-bit addresses are supported",
                variable.location.line, variable.name, name);
  return llvm::ConstantExpr::getPtrToInt(pointer, type);
}

Result<> ModuleLowering::initialise(const Variable& variable, llvm::GlobalVariable& global) {
  if (variable.initial.empty()) return {};
  llvm::Type* type = value_type(variable.type);
  const unsigned bits = type->getPrimitiveSizeInBits();
  const bool is_array = global.getValueType()->isArrayTy();
  if (is_array && type->isIntegerTy(8)) {  // strings and tables of bytes
    std::string bytes(variable.elements(), '\0');
    for (const Initial& value : variable.initial) {
      if (value.symbol != Initial::kNoSymbol) TRY(address_constant(variable, value, type));
      bytes[value.element] = static_cast<char>(value.bits);
    }
    global.setInitializer(llvm::ConstantDataArray::getString(context(), bytes, false));
    return {};
  }
  std::vector<Constant*> elements(is_array ? variable.elements() : 1, Constant::getNullValue(type));
  for (const Initial& value : variable.initial) {
    Constant*& element = elements[value.element];
    if (value.symbol != Initial::kNoSymbol) {
      TRY(element, address_constant(variable, value, type));
    } else {
      Constant* number = llvm::ConstantInt::get(context(), llvm::APInt(64, value.bits).zextOrTrunc(bits));
      element = llvm::ConstantExpr::getBitCast(number, type);
    }
  }
  global.setInitializer(
      is_array ? llvm::ConstantArray::get(llvm::cast<llvm::ArrayType>(global.getValueType()), elements) : elements[0]);
  return {};
}

/// Internal variables stay internal, so that units of separate compilation may each have one of a name, but are kept
/// and found by it: `static __device__` variables and those of unnamed namespaces are registered by the host like
/// others.
void ModuleLowering::keep_named_variables() {
  llvm::SmallVector<llvm::GlobalValue*, 8> kept;
  for (const Variable& variable : m.variables) {
    auto* global = llvm::dyn_cast_or_null<llvm::GlobalVariable>(symbol(variable.name));
    if (global && global->hasInternalLinkage() && global->isExternallyInitialized()) kept.push_back(global);
  }
  if (!kept.empty()) llvm::appendToUsed(out, kept);
}

/// PTX ISA, ".alias": the first name is declared only, the second defined; both are functions.
Result<> ModuleLowering::declare_alias(const Alias& alias) {
  auto* target = llvm::dyn_cast_or_null<llvm::Function>(symbol(alias.target));
  const Function* aliased = function_named(alias.target);
  auto* before = llvm::dyn_cast_or_null<llvm::Function>(symbol(alias.name));
  const Function* declared = function_named(alias.name);
  if (!target || !aliased || !aliased->has_body || aliased->is_kernel || !before || !declared || declared->has_body)
    return fail(ErrorCode::InvalidPtx,
                "ptx: line {}: .alias {}, {}: the first must be a function that is declared only, the second one that "
                "is defined and no kernel",
                line_of(alias.name), alias.name, alias.target);
  // Calls and addresses in this unit mean the target; other units do not see the alias.
  before->replaceAllUsesWith(target);
  before->eraseFromParent();
  symbols_[llvm::StringRef(alias.name)] = target;
  functions_[llvm::StringRef(alias.name)] = aliased;
  return {};
}

/// Of a name that the text spells.
size_t ModuleLowering::line_of(std::string_view name) const {
  const std::string_view before(m.text.data(), static_cast<size_t>(name.data() - m.text.data()));
  return 1 + static_cast<size_t>(std::ranges::count(before, '\n'));
}

Result<> ModuleLowering::declare() {
  for (const Variable& variable : m.variables) {
    if (kind_of(variable.type) == TypeKind::Handle)
      return fail(ErrorCode::NotSupported,
                  "ptx: line {}: '{}': texture, surface and sampler references are not supported; use texture objects",
                  variable.location.line, variable.name);
    // A declaration and a definition of the same name are one variable.
    llvm::GlobalValue*& known = symbols_[llvm::StringRef(variable.name)];
    if (known && variable.linkage == Linkage::Extern) continue;
    llvm::GlobalVariable* made = make_variable(variable, known ? "" : llvm::StringRef(variable.name));
    if (known) {
      made->takeName(known);
      known->replaceAllUsesWith(made);
      known->eraseFromParent();
    }
    known = made;
  }
  for (const Function& function : m.functions) {
    if (symbol(function.name))
      return fail(ErrorCode::InvalidPtx, "ptx: line {}: '{}' is a variable and a function", function.location.line,
                  function.name);
    const Function*& before = functions_[llvm::StringRef(function.name)];
    if (!before || function.has_body) before = &function;
  }
  for (const Function& function : m.functions)
    if (functions_.lookup(function.name) == &function)
      symbols_[llvm::StringRef(function.name)] = declare_function(function);
  for (const Variable& variable : m.variables)
    if (auto* global = llvm::dyn_cast_or_null<llvm::GlobalVariable>(symbol(variable.name)))
      TRY(initialise(variable, *global));
  keep_named_variables();
  for (const Alias& alias : m.aliases) TRY(declare_alias(alias));
  return {};
}

llvm::DIFile* ModuleLowering::file(uint32_t number) {
  if (!debug_) debug_ = std::make_unique<llvm::DIBuilder>(out);
  llvm::DIFile*& made = files_[number];
  if (made) return made;
  llvm::StringRef name = "ptx";
  for (const SourceFile& each : m.files)
    if (each.number == number) name = llvm::StringRef(each.name);
  const auto [folder, base] = name.rsplit('/');
  made = base.empty() ? debug_->createFile(name, "") : debug_->createFile(base, folder);
  return made;
}

llvm::DISubprogram* ModuleLowering::subprogram(const Function& function, llvm::Function& into) {
  const Source& first = function.sources[1];
  llvm::DIFile* where = file(first.file);
  if (!unit_) {
    unit_ = debug_->createCompileUnit(llvm::DISourceLanguageName(llvm::dwarf::DW_LANG_C_plus_plus), where, "cupola",
                                      true, "", 0);
    out.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  }
  llvm::DISubprogram* made =
      debug_->createFunction(unit_, llvm::StringRef(function.name), llvm::StringRef(function.name), where, first.line,
                             debug_->createSubroutineType(debug_->getOrCreateTypeArray({})), first.line,
                             llvm::DINode::FlagZero, llvm::DISubprogram::SPFlagDefinition);
  into.setSubprogram(made);
  return made;
}

Result<> ModuleLowering::lower_bodies() {
  const bool flushes = flushes_as_a_whole(m);
  for (const Function& function : m.functions) {
    auto* into = llvm::dyn_cast_or_null<llvm::Function>(symbol(function.name));
    if (!function.has_body || !into) continue;
    if (is_of_the_library(function, *signature(function.results, function.parameters))) continue;
    Builder b(llvm::BasicBlock::Create(context(), "", into));
    Emission emission(*this, function, *into, b);
    emission.flushes_as_a_whole = flushes;
    if (flushes) kir::say_flushing(*into);
    TRY(emission.run());
  }
  if (debug_) debug_->finalize();
  return {};
}

}  // namespace cupola::ptx
