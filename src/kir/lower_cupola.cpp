// Each row of intrinsics.def as PTX. A text's $0 is the result, $1 and on are the arguments; constants that select a
// form are no operands: %a|b|c% stands for the word that the row's constant argument numbers.

#include "kir/lower_cupola.h"

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>

#include "kir/intrinsics.h"
#include "kir/refusal.h"

namespace cupola::kir {
namespace {

struct Form {
  /// What the row becomes: inline PTX; inline PTX whose words the constant argument `selector` picks; a call of the
  /// function `text`; nothing that PTX has.
  enum class Kind { Text, Call, None } kind;
  const char* text = "";
  int selector = -1;
};

constexpr Form text(const char* ptx, int selector = -1) {
  return {Form::Kind::Text, ptx, selector};
}
constexpr Form call(const char* function) {
  return {Form::Kind::Call, function};
}

constexpr const char* kShuffle =
    "{ .reg .pred p; .reg .b32 v, q; shfl.sync.%up|down|bfly|idx%.b32 v|p, $3, $4, $5, $1; selp.u32 q, 1, 0, p; "
    "mov.b64 $0, {v, q}; }";
constexpr const char* kVote =
    "{ .reg .pred p, r; setp.ne.u32 p, $3, 0; %vote.sync.all.pred r|vote.sync.any.pred r|vote.sync.uni.pred r"
    "|vote.sync.ballot.b32 $0%, p, $1; %selp.u32 $0, 1, 0, r;|selp.u32 $0, 1, 0, r;|selp.u32 $0, 1, 0, r;|% }";
constexpr const char* kMatch =
    "{ .reg .pred p; .reg .b32 m, q; %match.any.sync.b64 m, $3, $1; mov.u32 q, 0;"
    "|match.all.sync.b64 m!p, $3, $1; selp.u32 q, 1, 0, p;% mov.b64 $0, {m, q}; }";
constexpr const char* kRedux =
    "redux.sync.%add.s32|min.s32|max.s32|min.u32|max.u32|and.b32|or.b32|xor.b32% $0, $3, $1;";
constexpr const char* kReduce =
    "{ .reg .pred p, r; setp.ne.u32 p, $4, 0; %barrier.red.popc.u32 $0|barrier.red.and.pred r|barrier.red.or.pred r%, "
    "$1, $2, p; %|selp.u32 $0, 1, 0, r;|selp.u32 $0, 1, 0, r;% }";

constexpr const char* kDot4 = "dp4a.%u32.u32|s32.u32|u32.s32|s32.s32% $0, $2, $3, $4;";
constexpr const char* kDot2 = "dp2a.lo.%u32.u32|s32.u32|u32.s32|s32.s32% $0, $2, $3, $4;";

Form form_of(Intrinsic intrinsic) {
  switch (intrinsic) {
    case Intrinsic::TidX:
      return text("mov.u32 $0, %tid.x;");
    case Intrinsic::TidY:
      return text("mov.u32 $0, %tid.y;");
    case Intrinsic::TidZ:
      return text("mov.u32 $0, %tid.z;");
    case Intrinsic::NtidX:
      return text("mov.u32 $0, %ntid.x;");
    case Intrinsic::NtidY:
      return text("mov.u32 $0, %ntid.y;");
    case Intrinsic::NtidZ:
      return text("mov.u32 $0, %ntid.z;");
    case Intrinsic::CtaidX:
      return text("mov.u32 $0, %ctaid.x;");
    case Intrinsic::CtaidY:
      return text("mov.u32 $0, %ctaid.y;");
    case Intrinsic::CtaidZ:
      return text("mov.u32 $0, %ctaid.z;");
    case Intrinsic::NctaidX:
      return text("mov.u32 $0, %nctaid.x;");
    case Intrinsic::NctaidY:
      return text("mov.u32 $0, %nctaid.y;");
    case Intrinsic::NctaidZ:
      return text("mov.u32 $0, %nctaid.z;");
    case Intrinsic::LaneId:
      return text("mov.u32 $0, %laneid;");
    case Intrinsic::WarpId:
      return text("mov.u32 $0, %warpid;");
    case Intrinsic::NwarpId:
      return text("mov.u32 $0, %nwarpid;");
    case Intrinsic::SmId:
      return text("mov.u32 $0, %smid;");
    case Intrinsic::NsmId:
      return text("mov.u32 $0, %nsmid;");
    case Intrinsic::GridId:
      return text("mov.u64 $0, %gridid;");
    case Intrinsic::DynamicSharedBytes:
      return text("mov.u32 $0, %dynamic_smem_size;");
    case Intrinsic::TotalSharedBytes:
      return text("mov.u32 $0, %total_smem_size;");
    case Intrinsic::Clock:
      return text("mov.u64 $0, %clock64;");
    case Intrinsic::GlobalTimer:
      return text("mov.u64 $0, %globaltimer;");
    case Intrinsic::IsShared:
      return text("{ .reg .pred p; isspacep.shared p, $1; selp.u16 $0, 1, 0, p; }");
    case Intrinsic::IsLocal:
      return text("{ .reg .pred p; isspacep.local p, $1; selp.u16 $0, 1, 0, p; }");
    case Intrinsic::IsConstant:
      return text("{ .reg .pred p; isspacep.const p, $1; selp.u16 $0, 1, 0, p; }");
    case Intrinsic::Dot4:
      return text(kDot4, 0);
    case Intrinsic::Dot2:
      return text(kDot2, 0);
    case Intrinsic::Barrier:
      return text("barrier.sync $0, $1;");
    case Intrinsic::BarrierArrive:
      return text("barrier.arrive $0, $1;");
    case Intrinsic::BarrierReduce:
      return text(kReduce, 2);
    case Intrinsic::WarpSync:
      return text("bar.warp.sync $0;");
    case Intrinsic::Shuffle:
      return text(kShuffle, 1);
    case Intrinsic::Vote:
      return text(kVote, 1);
    case Intrinsic::Match:
      return text(kMatch, 1);
    case Intrinsic::Redux:
      return text(kRedux, 1);
    case Intrinsic::ActiveMask:
      return text("activemask.b32 $0;");
    case Intrinsic::Nanosleep:
      return text("nanosleep.u32 $0;");
    case Intrinsic::WarpPublish:
    case Intrinsic::GridSync:
    case Intrinsic::GridIsCooperative:
    case Intrinsic::DeviceCall:
    case Intrinsic::DeviceFacts:
    case Intrinsic::LastError:
      return {Form::Kind::None};
    case Intrinsic::Exit:
      return text("exit;");
    case Intrinsic::Trap:
      return text("trap;");
    case Intrinsic::AssertFail:
      return call("__assertfail");
    case Intrinsic::Vprintf:
      return call("vprintf");
    case Intrinsic::Malloc:
      return call("malloc");
    case Intrinsic::Free:
      return call("free");
  }
  return {Form::Kind::None};
}

/// The text with each %a|b|c% replaced by alternative `choice`. Register names (%tid) are in texts without a selector.
std::string chosen(llvm::StringRef from, uint64_t choice) {
  llvm::SmallVector<llvm::StringRef, 8> parts;
  from.split(parts, '%');
  std::string made;
  for (size_t i = 0; i < parts.size(); ++i) {
    llvm::SmallVector<llvm::StringRef, 8> words;
    parts[i].split(words, '|');
    made += i % 2 == 0 ? parts[i] : choice < words.size() ? words[choice] : "";
  }
  for (char& c : made)
    if (c == '!') c = '|';
  return made;
}

/// The constraint letter of a type: "r" for 32 bits.
const char* letter(llvm::Type* type) {
  if (type->isPointerTy() || type->isIntegerTy(64)) return "l";
  return type->isIntegerTy(32) ? "r" : "h";
}

/// A barrier of all threads names no count. False where the count is not known here.
bool without_count(std::string& ptx, const llvm::CallInst& from, Intrinsic intrinsic) {
  if (intrinsic != Intrinsic::Barrier && intrinsic != Intrinsic::BarrierArrive && intrinsic != Intrinsic::BarrierReduce)
    return true;
  auto* count = llvm::dyn_cast<llvm::ConstantInt>(from.getArgOperand(1));
  const llvm::StringRef operand = from.getType()->isVoidTy() ? ", $1" : ", $2";
  if (count && count->isZero()) ptx.erase(ptx.find(operand), operand.size());
  return count != nullptr;
}

llvm::Value* as_text(llvm::CallInst& from, const Form& form) {
  llvm::IRBuilder<> b(&from);
  std::string ptx = form.text;
  if (form.selector >= 0) {
    auto* constant = llvm::dyn_cast<llvm::ConstantInt>(from.getArgOperand(form.selector));
    if (!constant) return nullptr;
    ptx = chosen(ptx, constant->getZExtValue());
  }
  const Intrinsic intrinsic = *intrinsic_of(from);
  if (!without_count(ptx, from, intrinsic)) return nullptr;
  std::string constraints;
  llvm::Type* result = from.getType();
  const bool predicate = result->isIntegerTy(1);
  if (predicate) result = b.getInt16Ty();
  if (!result->isVoidTy()) constraints = std::string("=") + letter(result);
  llvm::SmallVector<llvm::Value*, 5> arguments;
  llvm::SmallVector<llvm::Type*, 5> types;
  for (llvm::Value* argument : from.args()) {
    arguments.push_back(argument);
    types.push_back(argument->getType());
    constraints += (constraints.empty() ? "" : ",") + std::string(letter(argument->getType()));
  }
  const bool pure = effect_of(intrinsic) == Effect::kPure;
  if (!pure) constraints += constraints.empty() ? "~{memory}" : ",~{memory}";
  auto* type = llvm::FunctionType::get(result, types, false);
  llvm::CallInst* made = b.CreateCall(llvm::InlineAsm::get(type, ptx, constraints, !pure), arguments);
  if (pure) made->setDoesNotAccessMemory();
  if (!pure) made->setConvergent();
  made->setDoesNotThrow();
  return predicate ? b.CreateIsNotNull(made) : made;
}

/// A function that the driver provides. A body of that name (define_c_functions) is another function from now on.
llvm::Function* provided_function(llvm::Module& module, llvm::StringRef name, llvm::FunctionType* type) {
  llvm::Function* function = module.getFunction(name);
  if (function && !function->isDeclaration()) {
    function->setName(name + "_of_module");
    function = nullptr;
  }
  if (function) return function;
  return llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, name, module);
}

llvm::Value* as_call(llvm::CallInst& from, llvm::StringRef name) {
  llvm::IRBuilder<> b(&from);
  llvm::SmallVector<llvm::Value*, 5> arguments(from.args());
  if (name == "__assertfail") arguments.push_back(b.getInt64(1));  // bytes of a character
  llvm::SmallVector<llvm::Type*, 5> types;
  for (llvm::Value* argument : arguments) types.push_back(argument->getType());
  auto* type = llvm::FunctionType::get(from.getType(), types, false);
  return b.CreateCall(type, provided_function(*from.getModule(), name, type), arguments);
}

Result<> lower(llvm::CallInst& from, Intrinsic intrinsic) {
  const Form form = form_of(intrinsic);
  llvm::Value* value = nullptr;
  if (form.kind == Form::Kind::Text) value = as_text(from, form);
  if (form.kind == Form::Kind::Call) value = as_call(from, form.text);
  if (!value)
    return fail(ErrorCode::NotSupported, "kir: {}: {} is Cupola's own; PTX has nothing for it", place_of(from),
                name_of(intrinsic).str());
  if (!from.getType()->isVoidTy()) from.replaceAllUsesWith(value);
  from.eraseFromParent();
  return {};
}

}  // namespace

Result<> lower_cupola(llvm::Module& module) {
  llvm::SmallVector<std::pair<llvm::Function*, Intrinsic>, 8> rows;
  for (llvm::Function& function : module)
    if (const auto intrinsic = intrinsic_of(function)) rows.push_back({&function, *intrinsic});
  for (const auto& [function, intrinsic] : rows) {
    llvm::SmallVector<llvm::CallInst*, 8> calls;
    for (llvm::User* user : function->users())
      if (auto* from = llvm::dyn_cast<llvm::CallInst>(user); from && from->getCalledFunction() == function)
        calls.push_back(from);
    for (llvm::CallInst* from : calls) TRY(lower(*from, intrinsic));
    if (function->use_empty()) function->eraseFromParent();
  }
  return {};
}

}  // namespace cupola::kir
