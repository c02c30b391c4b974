#include "backend/metal/build/air/kernel_metadata.h"

#include <llvm/IR/Constants.h>
#include <llvm/IR/DerivedTypes.h>
#include <llvm/IR/Metadata.h>
#include <llvm/IR/Module.h>

#include "backend/metal/build/raise/spaces.h"
#include "base/format.h"
#include "image/metal_abi.h"

namespace cupola::metal::build {
namespace {

using namespace image::metal;

struct BufferRow {
  unsigned place, space;
  const char *access, *type, *name;
  unsigned bytes, alignment;
};
constexpr BufferRow kBuffers[] = {
    {kParameterBuffer, kConstant, "air.read", "uchar", "parameters", 1, 1},
    {kLaunchBuffer, kConstant, "air.read", "Launch", "launch", sizeof(Launch), alignof(Launch)},
    {kSharedArgument, kThreadgroup, "air.read_write", "uchar", "shared", 1, 1},
    {kWordsArgument, kThreadgroup, "air.read_write", "uint", "words", 4, 4},
};

struct BuiltInRow {
  const char *what, *type, *name;
};
constexpr BuiltInRow kBuiltIns[] = {
    {"air.thread_position_in_threadgroup", "uint3", "tid"}, {"air.threads_per_threadgroup", "uint3", "ntid"},
    {"air.threadgroup_position_in_grid", "uint3", "ctaid"}, {"air.threadgroups_per_grid", "uint3", "nctaid"},
    {"air.thread_index_in_simdgroup", "uint", "lane"},      {"air.simdgroup_index_in_threadgroup", "uint", "warp"},
    {"air.simdgroups_per_threadgroup", "uint", "warps"},
};

constexpr std::pair<const char*, unsigned> kLimits[] = {
    {"air.max_device_buffers", 31}, {"air.max_constant_buffers", 31},   {"air.max_threadgroup_buffers", 31},
    {"air.max_textures", 128},      {"air.max_read_write_textures", 8}, {"air.max_samplers", 16},
};

// As Metal compiles with -fno-fast-math, for whatever version of the system.
constexpr const char* kOptions[] = {"air.compile.denorms_disable", "air.compile.fast_math_disable",
                                    "air.compile.framebuffer_fetch_enable"};

/// A node, word by word.
class Node {
 public:
  explicit Node(llvm::LLVMContext& context) : context_(context) {}
  Node& text(llvm::StringRef word) { return add(llvm::MDString::get(context_, word)); }
  Node& number(unsigned value) {
    return add(llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), value)));
  }
  Node& add(llvm::Metadata* metadata) {
    parts_.push_back(metadata);
    return *this;
  }
  llvm::MDNode* made() { return llvm::MDNode::get(context_, parts_); }

 private:
  llvm::LLVMContext& context_;
  llvm::SmallVector<llvm::Metadata*, 20> parts_;
};

llvm::MDNode* arguments(llvm::LLVMContext& context) {
  Node all(context);
  unsigned place = 0;
  for (const BufferRow& row : kBuffers)
    all.add(Node(context)
                .number(place++)
                .text("air.buffer")
                .text("air.location_index")
                .number(row.place)
                .number(1)
                .text(row.access)
                .text("air.address_space")
                .number(row.space)
                .text("air.arg_type_size")
                .number(row.bytes)
                .text("air.arg_type_align_size")
                .number(row.alignment)
                .text("air.arg_type_name")
                .text(row.type)
                .text("air.arg_name")
                .text(row.name)
                .made());
  for (const BuiltInRow& row : kBuiltIns)
    all.add(Node(context)
                .number(place++)
                .text(row.what)
                .text("air.arg_type_name")
                .text(row.type)
                .text("air.arg_name")
                .text(row.name)
                .made());
  return all.made();
}

}  // namespace

llvm::FunctionType* kernel_type(llvm::LLVMContext& context) {
  llvm::Type* number = llvm::Type::getInt32Ty(context);
  llvm::Type* numbers = llvm::FixedVectorType::get(number, 3);
  llvm::SmallVector<llvm::Type*, 11> types;
  for (const BufferRow& row : kBuffers) types.push_back(llvm::PointerType::get(context, row.space));
  for (const BuiltInRow& row : kBuiltIns) types.push_back(llvm::StringRef(row.type) == "uint3" ? numbers : number);
  return llvm::FunctionType::get(llvm::Type::getVoidTy(context), types, false);
}

void describe(llvm::Module& module, llvm::Function& kernel, const AirVersion& version) {
  llvm::LLVMContext& context = module.getContext();
  for (llvm::NamedMDNode& named : llvm::make_early_inc_range(module.named_metadata())) named.eraseFromParent();
  const auto add = [&](const char* name, llvm::MDNode* node) {
    module.getOrInsertNamedMetadata(name)->addOperand(node);
  };
  module.addModuleFlag(llvm::Module::Error, "wchar_size", 4);
  for (const auto& [name, limit] : kLimits) module.addModuleFlag(llvm::Module::Max, name, limit);
  add("llvm.ident", Node(context).text("Cupola").made());
  add("air.version", Node(context).number(version.air[0]).number(version.air[1]).number(0).made());
  add("air.language_version",
      Node(context).text("Metal").number(version.language[0]).number(version.language[1]).number(0).made());
  for (const char* option : kOptions) add("air.compile_options", Node(context).text(option).made());
  add("air.source_file_name", Node(context).text(module.getSourceFileName()).made());
  add("air.kernel",
      Node(context).add(llvm::ValueAsMetadata::get(&kernel)).add(Node(context).made()).add(arguments(context)).made());
  module.setTargetTriple(llvm::Triple(formatted("air64-apple-macosx{}.0.0", version.macos)));
}

}  // namespace cupola::metal::build
