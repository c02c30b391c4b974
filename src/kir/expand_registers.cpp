#include <llvm/ADT/StringExtras.h>
#include <llvm/ADT/StringSwitch.h>

#include "kir/expansion.h"

namespace cupola::kir {
namespace {

using llvm::Value;

std::optional<Intrinsic> register_named(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<Intrinsic>>(name)
      .Case("tid.x", Intrinsic::TidX)
      .Case("tid.y", Intrinsic::TidY)
      .Case("tid.z", Intrinsic::TidZ)
      .Case("ntid.x", Intrinsic::NtidX)
      .Case("ntid.y", Intrinsic::NtidY)
      .Case("ntid.z", Intrinsic::NtidZ)
      .Cases({"ctaid.x", "clusterid.x"}, Intrinsic::CtaidX)  // every block is a cluster of its own
      .Cases({"ctaid.y", "clusterid.y"}, Intrinsic::CtaidY)
      .Cases({"ctaid.z", "clusterid.z"}, Intrinsic::CtaidZ)
      .Cases({"nctaid.x", "nclusterid.x"}, Intrinsic::NctaidX)
      .Cases({"nctaid.y", "nclusterid.y"}, Intrinsic::NctaidY)
      .Cases({"nctaid.z", "nclusterid.z"}, Intrinsic::NctaidZ)
      .Case("laneid", Intrinsic::LaneId)
      .Case("warpid", Intrinsic::WarpId)
      .Case("nwarpid", Intrinsic::NwarpId)
      .Case("smid", Intrinsic::SmId)
      .Case("nsmid", Intrinsic::NsmId)
      .Case("gridid", Intrinsic::GridId)
      .Cases({"clock", "clock64"}, Intrinsic::Clock)
      .Cases({"globaltimer", "globaltimer.lo"}, Intrinsic::GlobalTimer)
      .Case("dynamic_smem_size", Intrinsic::DynamicSharedBytes)
      .Cases({"total_smem_size", "aggr_smem_size"}, Intrinsic::TotalSharedBytes)
      .Default(std::nullopt);
}

std::optional<uint32_t> constant_named(llvm::StringRef name) {
  return llvm::StringSwitch<std::optional<uint32_t>>(name)
      .Case("warpsize", 32)
      .Cases({"tid.w", "ctaid.w", "clusterid.w", "cluster.ctarank"}, 0)
      .Cases({"ntid.w", "nctaid.w", "nclusterid.w", "cluster.nctarank"}, 1)
      .Cases({"cluster.ctaid.x", "cluster.ctaid.y", "cluster.ctaid.z", "cluster.ctaid.w"}, 0)
      .Cases({"cluster.nctaid.x", "cluster.nctaid.y", "cluster.nctaid.z", "cluster.nctaid.w"}, 1)
      .Default(std::nullopt);
}

/// %lanemask_eq and its kin.
Expanded lane_mask(const Expansion& e, llvm::StringRef relation) {
  Value* eq = e.b.CreateShl(e.b.getInt32(1), e.intrinsic(Intrinsic::LaneId, {}));
  Value* lt = e.b.CreateSub(eq, e.b.getInt32(1));
  if (relation == "eq") return eq;
  if (relation == "lt") return lt;
  if (relation == "le") return e.b.CreateOr(lt, eq);
  if (relation == "ge") return e.b.CreateNot(lt);
  if (relation == "gt") return e.b.CreateNot(e.b.CreateOr(lt, eq));
  return {};
}

/// read.ptx.sreg.NAME
Expanded read_register(const Expansion& e) {
  if (e.words.size() < 4) return {};
  const std::string name = llvm::join(e.words.drop_front(3), ".");
  if (const auto constant = constant_named(name)) return e.b.getIntN(e.type()->getIntegerBitWidth(), *constant);
  if (e.words[3] == "lanemask" && e.words.size() == 5) return lane_mask(e, e.words[4]);
  if (const auto which = register_named(name)) return e.b.CreateZExtOrTrunc(e.intrinsic(*which, {}), e.type());
  return {};
}

Expanded never(const Expansion& e) {
  return llvm::ConstantInt::getFalse(e.type());
}
Expanded zero(const Expansion& e) {
  return llvm::Constant::getNullValue(e.type());
}

constexpr ExpansionRow kRows[] = {
    {"read", read_register},
    {"is_explicit_cluster", never},
    {"getctarank", zero},
};

}  // namespace

llvm::ArrayRef<ExpansionRow> register_expansions() {
  return kRows;
}

}  // namespace cupola::kir
