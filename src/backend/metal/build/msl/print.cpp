#include "backend/metal/build/msl/print.h"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/ADT/SetVector.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "backend/metal/build/msl/function_printer.h"
#include "backend/metal/build/raise/metal_names.h"
#include "backend/metal/build/raise/refusals.h"
#include "base/format.h"
#include "image/metal_abi.h"

namespace cupola::metal::build {
namespace {

// image/metal_abi.h has the Launch, which stands between the two, and says what the arguments are.
constexpr std::string_view kHead = R"(#include <metal_stdlib>
using namespace metal;

)";
constexpr std::string_view kPrelude = R"(
struct Thread {
  uint3 tid, ntid, ctaid, nctaid;
  uint lane, warp, warps;
  constant uchar* parameters;
  constant Launch* launch;
  device uchar* module_data;
  threadgroup uchar* shared;
  threadgroup uint* words;
  thread uchar* stack;
};

// Programs know memory by the addresses that the host has for it.
device uchar* at(thread const Thread& t, ulong address) { return (device uchar*)(address + t.launch->arena); }
ulong host_address(thread const Thread& t, device uchar* p) { return (ulong)p - t.launch->arena; }

)";

constexpr std::string_view kKernelArguments =
    R"((constant uchar* parameters [[buffer(0)]], constant Launch& launch [[buffer(1)]],
                 threadgroup uchar* shared [[threadgroup(0)]], threadgroup uint* words [[threadgroup(1)]],
                 uint3 tid [[thread_position_in_threadgroup]],
                 uint3 ntid [[threads_per_threadgroup]], uint3 ctaid [[threadgroup_position_in_grid]],
                 uint3 nctaid [[threadgroups_per_grid]], uint lane [[thread_index_in_simdgroup]],
                 uint warp [[simdgroup_index_in_threadgroup]], uint warps [[simdgroups_per_threadgroup]]) {
)";

constexpr std::string_view kThreadOfKernel =
    R"(  const Thread t = {tid, ntid, ctaid, nctaid, lane, warp, warps, parameters, &launch,
                    (device uchar*)launch.module_data, shared, words, )";

/// The head of a kernel's body.
std::string thread_of(const RaisedKernel& kernel) {
  if (kernel.stack_bytes == 0) return std::string(kThreadOfKernel) + "nullptr};\n";
  return formatted("  uint4 stack[{}];\n{}(thread uchar*)stack}};\n", (kernel.stack_bytes + 15) / 16, kThreadOfKernel);
}

/// Defined functions, callees in front of callers.
llvm::SetVector<llvm::Function*> in_order(llvm::Module& module) {
  llvm::SetVector<llvm::Function*> order;
  const auto visit = [&](auto& self, llvm::Function& function) -> void {
    if (function.isDeclaration() || order.contains(&function)) return;
    for (llvm::Instruction& instruction : llvm::instructions(function))
      if (auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction); call && call->getCalledFunction())
        self(self, *call->getCalledFunction());
    order.insert(&function);
  };
  for (llvm::Function& function : module) visit(visit, function);
  return order;
}

/// The kernel's text, or a function's.
Result<std::string> text_of(MslModule& module, llvm::Function& function, const RaisedKernel* kernel) {
  FunctionPrinter printer(module, function);
  if (kernel) {
    TRY(const std::string body, printer.body());
    return formatted("\nkernel void {}{}{}{}}}\n", module.names[&function], kKernelArguments, thread_of(*kernel), body);
  }
  TRY(const std::string head, printer.signature());
  TRY(const std::string body, printer.body());
  return formatted("\n{} {{\n{}}}\n", head, body);
}

/// All functions; those without a form in versions up to `newest` are in `refusals`.
MslSource print_all(Raised& raised, uint32_t newest, Refusals& refusals) {
  MslModule module;
  llvm::DenseMap<const llvm::Function*, const RaisedKernel*> kernels;
  for (const RaisedKernel& kernel : raised.kernels) {
    if (!kernel.code) continue;
    kernels[kernel.code] = &kernel;
    module.names[kernel.code] = kernel.entry;
  }
  const llvm::SetVector<llvm::Function*> order = in_order(*raised.module);
  MetalNames names;
  for (llvm::Function* function : order)
    if (std::string& name = module.names[function]; name.empty()) name = names.add("function_", function->getName());
  MslSource source;
  std::string text;
  for (llvm::Function* function : order) {
    module.version = kMsl30;
    const Result<std::string> printed = text_of(module, *function, kernels.lookup(function));
    if (!printed)
      refusals[function] = printed.error();
    else if (module.version > newest)
      refusals[function] = needs_newer(module.version, newest);
    else
      text += *printed;
    source.version = std::max(source.version, module.version);
  }
  source.text = formatted("{}{}{}", kHead, image::metal::kLaunchInMsl, kPrelude);
  for (const std::string& declaration : module.types.declarations()) source.text += declaration;
  source.text += module.helpers.text();
  source.text += text;
  return source;
}

}  // namespace

MslSource print_msl(Raised& raised, uint32_t newest) {
  Refusals refusals;
  MslSource source = print_all(raised, newest, refusals);
  if (refusals.empty()) return source;
  refuse(raised, refusals);
  refusals.clear();
  return print_all(raised, newest, refusals);  // without what only the refused ones need
}

}  // namespace cupola::metal::build
