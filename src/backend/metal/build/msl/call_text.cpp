// Expressions of calls: of the module's functions, of what the launch knows, of LLVM's intrinsics.

#include <llvm/IR/Instructions.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "backend/metal/build/msl/function_printer.h"
#include "backend/metal/build/raise/metal_intrinsics.h"
#include "base/format.h"
#include "image/metal_abi.h"
#include "image/thread_operations.h"
#include "kir/intrinsics.h"
#include "kir/refusal.h"

namespace cupola::metal::build {
namespace {

bool is_zero(const llvm::Value& value) {
  const auto* number = llvm::dyn_cast<llvm::ConstantInt>(&value);
  return number && number->isZero();
}

}  // namespace

Result<std::string> FunctionPrinter::arguments(const llvm::CallInst& call, size_t first) {
  std::string text;
  for (size_t i = first; i < call.arg_size(); ++i) {
    TRY(const std::string argument, operand(*call.getArgOperand(static_cast<unsigned>(i))));
    text += (i > first ? ", " : "") + argument;
  }
  return text;
}

Result<std::string> FunctionPrinter::call(const llvm::CallInst& call) {
  if (metal_intrinsic_of(call)) return metal_call(call);
  if (kir::intrinsic_of(call)) return kir_call(call);
  const llvm::Function* callee = call.getCalledFunction();
  if (!callee) return refuse(call, "a call of what is no function");
  if (callee->isIntrinsic()) return core_call(call);
  const auto known = module_.names.find(callee);
  if (known == module_.names.end())
    return refuse(call, formatted("'{}' is not supported yet", kir::demangled(callee->getName())));
  TRY(const std::string list, arguments(call));
  return formatted("{}(t{}{})", known->second, list.empty() ? "" : ", ", list);
}

Result<std::string> FunctionPrinter::metal_call(const llvm::CallInst& call) {
  TRY(const std::string a, arguments(call));
  switch (*metal_intrinsic_of(call)) {
    case MetalIntrinsic::Parameters:
      return std::string("t.parameters");
    case MetalIntrinsic::ModuleData:
      return std::string("t.module_data");
    case MetalIntrinsic::Shared:
      return std::string("t.shared");
    case MetalIntrinsic::DynamicShared:
      return std::string("(t.shared + t.launch->dynamic_shared)");
    case MetalIntrinsic::Stack:
      return std::string("t.stack");
    case MetalIntrinsic::ToHost:
      return formatted("host_address(t, {})", a);
    case MetalIntrinsic::FromHost:
      return formatted("at(t, {})", a);
    case MetalIntrinsic::SharedOffset:
      return formatted("uint({} - t.shared)", a);
    case MetalIntrinsic::SharedAt:
      return formatted("(t.shared + {})", a);
    case MetalIntrinsic::StackOffset:
      return formatted("uint({} - t.stack)", a);
    case MetalIntrinsic::StackAt:
      return formatted("(t.stack + {})", a);
    case MetalIntrinsic::AssertFailed:
      return formatted("{}(t, {})", module_.helpers.use("assert_failed"), a);
    case MetalIntrinsic::Fail:
      return formatted("{}(t, {})", module_.helpers.use("fail"), a);
    case MetalIntrinsic::Print:
      return formatted("{}(t, {})", module_.helpers.use("print"), a);
    case MetalIntrinsic::Publish:
      return formatted("{}({})", module_.helpers.use("publish"), a);
    case MetalIntrinsic::BeginMeetings:
      return formatted("{}(t)", module_.helpers.use("begin_meetings"));
    case MetalIntrinsic::LeaveMeetings:
      return formatted("{}(t)", module_.helpers.use("leave_meetings"));
    case MetalIntrinsic::AddToMeeting:
      return formatted("{}(t, {})", module_.helpers.use("add_to_meeting"), a);
    case MetalIntrinsic::Meet:
      return formatted("{}(t, {})", module_.helpers.use("meet"), a);
    case MetalIntrinsic::BeginBarriers:
      return formatted("{}(t, {})", module_.helpers.use("begin_barriers"), a);
    case MetalIntrinsic::ArriveAt:
      return formatted("{}(t, {})", module_.helpers.use("arrive_at"), a);
    case MetalIntrinsic::MeetAt:
      return formatted("{}(t, {})", module_.helpers.use("meet_at"), a);
    case MetalIntrinsic::Turn:
      return std::string("t.launch->turn");
    case MetalIntrinsic::Saved:
      return formatted("{}(t, {})", module_.helpers.use("saved"), a);
    case MetalIntrinsic::TakeShared:
      return formatted("{}(t)", module_.helpers.use("take_shared"));
    case MetalIntrinsic::KeepShared:
      return formatted("{}(t)", module_.helpers.use("keep_shared"));
  }
}

Result<std::string> FunctionPrinter::kir_call(const llvm::CallInst& call) {
  using kir::Intrinsic;
  const Intrinsic which = *kir::intrinsic_of(call);
  TRY(const std::string a, arguments(call));
  const auto helper = [&](std::string_view name, size_t first) -> Result<std::string> {
    TRY(const std::string list, arguments(call, first));
    return formatted("{}({})", module_.helpers.use(name), list);
  };
  const auto helper_of_thread = [&](std::string_view name) {
    return formatted("{}(t, {})", module_.helpers.use(name), a);
  };
  const auto ends_with_fault = [&](image::metal::Fault fault) -> Result<std::string> {
    return formatted("{}(t, {}, 0)", module_.helpers.use("claims_fault"), static_cast<uint32_t>(fault));
  };
  switch (which) {
    case Intrinsic::TidX:
      return std::string("t.tid.x");
    case Intrinsic::TidY:
      return std::string("t.tid.y");
    case Intrinsic::TidZ:
      return std::string("t.tid.z");
    case Intrinsic::NtidX:
      return std::string("t.ntid.x");
    case Intrinsic::NtidY:
      return std::string("t.ntid.y");
    case Intrinsic::NtidZ:
      return std::string("t.ntid.z");
    case Intrinsic::CtaidX:
      return std::string("t.ctaid.x");
    case Intrinsic::CtaidY:
      return std::string("t.ctaid.y");
    case Intrinsic::CtaidZ:
      return std::string("t.ctaid.z");
    case Intrinsic::NctaidX:
      return std::string("t.nctaid.x");
    case Intrinsic::NctaidY:
      return std::string("t.nctaid.y");
    case Intrinsic::NctaidZ:
      return std::string("t.nctaid.z");
    case Intrinsic::LaneId:
      return std::string("t.lane");
    case Intrinsic::WarpId:
      return std::string("t.warp");
    case Intrinsic::NwarpId:
      return std::string("t.warps");
    case Intrinsic::SmId:
      return std::string("0u");
    case Intrinsic::NsmId:
      return std::string("1u");
    case Intrinsic::GridId:
      return std::string("t.launch->grid");
    case Intrinsic::DynamicSharedBytes:
      return std::string("t.launch->dynamic_shared_bytes");
    case Intrinsic::TotalSharedBytes:
      return std::string("t.launch->total_shared_bytes");
    case Intrinsic::GridIsCooperative:
      return std::string("t.launch->cooperative");
    case Intrinsic::Dot4:
      return helper("dot4", 0);
    case Intrinsic::Dot2:
      return helper("dot2", 0);
    case Intrinsic::Barrier:
      if (!is_zero(*call.getArgOperand(0)) || !is_zero(*call.getArgOperand(1)))
        return refuse(call, "barriers other than __syncthreads() are not supported yet");
      return formatted("{}()", module_.helpers.use("block_barrier"));
    case Intrinsic::BarrierReduce: {
      if (!is_zero(*call.getArgOperand(0)) || !is_zero(*call.getArgOperand(1)))
        return refuse(call, "barriers other than those of all of the block's threads are not supported yet");
      TRY(const std::string list, arguments(call, 2));
      return formatted("{}(t, {})", module_.helpers.use("barrier_reduce"), list);
    }
    case Intrinsic::WarpSync:
      return std::string("simdgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup)");
    case Intrinsic::Shuffle: {
      TRY(const std::string list, arguments(call, 1));
      return formatted("{}(t, {})", module_.helpers.use("shuffle"), list);
    }
    case Intrinsic::Vote: {
      TRY(const std::string mask, operand(*call.getArgOperand(0)));
      TRY(const std::string predicate, operand(*call.getArgOperand(2)));
      if (kir::does(call, image::VoteOp::Ballot))
        return formatted("({}({} != 0) & {})", module_.helpers.use("ballot"), predicate, mask);
      const char* helper = kir::does(call, image::VoteOp::All)   ? "vote_all"
                           : kir::does(call, image::VoteOp::Any) ? "vote_any"
                                                                 : "vote_uni";
      return formatted("{}({}, {} != 0)", module_.helpers.use(helper), mask, predicate);
    }
    case Intrinsic::Match: {
      TRY(const std::string mask, operand(*call.getArgOperand(0)));
      TRY(const std::string value, operand(*call.getArgOperand(2)));
      return formatted("{}({}, {})",
                       module_.helpers.use(kir::does(call, image::MatchOp::Any) ? "match_any" : "match_all"), mask,
                       value);
    }
    case Intrinsic::Redux:
      return helper_of_thread("redux");
    case Intrinsic::ActiveMask:
      return formatted("{}()", module_.helpers.use("active_lanes"));
    case Intrinsic::Nanosleep:
      return std::string();
    case Intrinsic::Trap:
      return ends_with_fault(image::metal::Fault::Trap);
    case Intrinsic::Exit:
      return std::string();
    case Intrinsic::Clock:
    case Intrinsic::GlobalTimer:
      return refuse(call, "Metal has no clock that a kernel can read");
    case Intrinsic::IsShared:
    case Intrinsic::IsLocal:
    case Intrinsic::IsConstant:
    case Intrinsic::AssertFail:
    case Intrinsic::BarrierArrive:
    case Intrinsic::WarpPublish:
    case Intrinsic::GridSync:
    case Intrinsic::Vprintf:
    case Intrinsic::Malloc:
    case Intrinsic::Free:
    case Intrinsic::DeviceCall:
    case Intrinsic::DeviceFacts:
    case Intrinsic::LastError:
      break;
  }
  return refuse(call, formatted("'{}' is not supported yet", kir::name_of(which).str()));
}

namespace {

/// LLVM's intrinsics that MSL has a function of the same meaning for, or one of helpers.def.
struct CoreRow {
  llvm::Intrinsic::ID intrinsic;
  const char* function;
  bool is_helper;
};
constexpr CoreRow kCore[] = {
    {llvm::Intrinsic::fma, "fma", false},
    {llvm::Intrinsic::sqrt, "precise::sqrt", false},
    {llvm::Intrinsic::floor, "floor", false},
    {llvm::Intrinsic::ceil, "ceil", false},
    {llvm::Intrinsic::trunc, "trunc", false},
    {llvm::Intrinsic::rint, "rint", false},
    {llvm::Intrinsic::nearbyint, "rint", false},
    {llvm::Intrinsic::roundeven, "rint", false},
    {llvm::Intrinsic::round, "round", false},
    {llvm::Intrinsic::fabs, "fabs", false},
    {llvm::Intrinsic::copysign, "copysign", false},
    {llvm::Intrinsic::minnum, "minimum_number", true},
    {llvm::Intrinsic::maxnum, "maximum_number", true},
    {llvm::Intrinsic::minimum, "minimum", true},
    {llvm::Intrinsic::maximum, "maximum", true},
    {llvm::Intrinsic::minimumnum, "minimum_number", true},
    {llvm::Intrinsic::maximumnum, "maximum_number", true},
    {llvm::Intrinsic::ctpop, "popcount", false},
    {llvm::Intrinsic::bitreverse, "reverse_bits", false},
    {llvm::Intrinsic::bswap, "byte_swap", true},
    {llvm::Intrinsic::fshl, "shift_left_joined", true},
    {llvm::Intrinsic::fshr, "shift_right_joined", true},
    {llvm::Intrinsic::umin, "min", false},
    {llvm::Intrinsic::umax, "max", false},
    {llvm::Intrinsic::uadd_sat, "addsat", false},
    {llvm::Intrinsic::usub_sat, "subsat", false},
};

/// Those that take signed numbers in MSL.
constexpr CoreRow kSignedCore[] = {
    {llvm::Intrinsic::smin, "min", false},
    {llvm::Intrinsic::smax, "max", false},
    {llvm::Intrinsic::sadd_sat, "addsat", false},
    {llvm::Intrinsic::ssub_sat, "subsat", false},
};

}  // namespace

Result<std::string> FunctionPrinter::core_call(const llvm::CallInst& call) {
  const llvm::Intrinsic::ID intrinsic = call.getIntrinsicID();
  llvm::Type* type = call.getType();
  for (const CoreRow& row : kCore) {
    if (row.intrinsic != intrinsic) continue;
    if (row.is_helper) module_.helpers.use(row.function);
    TRY(const std::string list, arguments(call));
    return formatted("{}({})", row.function, list);
  }
  const unsigned bits = type->isIntegerTy() ? type->getIntegerBitWidth() : 0;
  for (const CoreRow& row : kSignedCore) {
    if (row.intrinsic != intrinsic || !signed_name(bits)) continue;
    TRY(const std::string a, operand(*call.getArgOperand(0)));
    TRY(const std::string b, operand(*call.getArgOperand(1)));
    return formatted("{}({}({}({}), {}({})))", unsigned_name(bits), row.function, signed_name(bits), a,
                     signed_name(bits), b);
  }
  TRY(const std::string a, operand(*call.getArgOperand(0)));
  switch (intrinsic) {
    case llvm::Intrinsic::is_fpclass: {
      llvm::Type* number = call.getArgOperand(0)->getType();
      const bool is_half = number->isHalfTy();
      if (!is_half && !number->isFloatTy()) break;
      TRY(const std::string classes, operand(*call.getArgOperand(1)));
      return formatted("{}({}, {}, {}, {}, {})", module_.helpers.use("has_class"),
                       is_half ? formatted("uint(as_type<ushort>({}))", a) : formatted("as_type<uint>({})", a),
                       is_half ? "0x8000u" : "0x80000000u", is_half ? "0x7c00u" : "0x7f800000u",
                       is_half ? "0x200u" : "0x400000u", classes);
    }
    case llvm::Intrinsic::ldexp: {
      TRY(const std::string power, operand(*call.getArgOperand(1)));
      return formatted("ldexp({}, int({}))", a, power);
    }
    case llvm::Intrinsic::ctlz:
      return formatted("clz({})", a);
    case llvm::Intrinsic::cttz:
      return formatted("ctz({})", a);
    case llvm::Intrinsic::abs:
      return formatted("{}({}({}) < 0 ? -{} : {})", unsigned_name(bits), signed_name(bits), a, a, a);
    default:
      break;
  }
  return refuse(call, formatted("'{}' is not supported yet", call.getCalledFunction()->getName().str()));
}

}  // namespace cupola::metal::build
