#include "backend/metal/air/bitcode.h"

#include <llvm/Bitcode/LLVMBitCodes.h>
#include <llvm/IR/InlineAsm.h>
#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/raw_ostream.h>

#include <regex>
#include <span>

#include "backend/metal/air/function_writer.h"
#include "backend/metal/air/left_out.h"
#include "backend/metal/air/metadata.h"

namespace cupola::air {
namespace {

using namespace llvm::bitc;

uint64_t linkage_number(llvm::GlobalValue::LinkageTypes linkage) {
  switch (linkage) {
    case llvm::GlobalValue::ExternalLinkage:
      return 0;
    case llvm::GlobalValue::AppendingLinkage:
      return 2;
    case llvm::GlobalValue::InternalLinkage:
      return 3;
    case llvm::GlobalValue::ExternalWeakLinkage:
      return 7;
    case llvm::GlobalValue::CommonLinkage:
      return 8;
    case llvm::GlobalValue::PrivateLinkage:
      return 9;
    case llvm::GlobalValue::AvailableExternallyLinkage:
      return 12;
    case llvm::GlobalValue::WeakAnyLinkage:
      return 16;
    case llvm::GlobalValue::WeakODRLinkage:
      return 17;
    case llvm::GlobalValue::LinkOnceAnyLinkage:
      return 18;
    case llvm::GlobalValue::LinkOnceODRLinkage:
      return 19;
  }
  return 0;
}

uint64_t unnamed_number(llvm::GlobalValue::UnnamedAddr unnamed) {
  switch (unnamed) {
    case llvm::GlobalValue::UnnamedAddr::None:
      return 0;
    case llvm::GlobalValue::UnnamedAddr::Local:
      return 2;
    case llvm::GlobalValue::UnnamedAddr::Global:
      return 1;
  }
  return 0;
}

/// LLVM's own functions have the types of their pointers in their names: p1 was p1i8.
std::string name_of(const llvm::GlobalValue& value) {
  const std::string name = value.getName().str();
  if (!name.starts_with("llvm.") || !llvm::isa<llvm::Function>(value)) return name;
  static const std::regex pointer("\\.(p[0-9]+)(?=\\.|$)");
  return std::regex_replace(name, pointer, ".$1i8");
}

class ModuleWriter {
 public:
  explicit ModuleWriter(const llvm::Module& module)
      : module_(module),
        pointees_(module, types_),
        constants_(module, types_, pointees_),
        metadata_(module, constants_, pointees_) {}

  Result<std::vector<std::byte>> write() {
    TRY(check());
    // Twice: types, constants and attributes are known, and have their numbers, when all code was written once.
    llvm::SmallVector<char, 0> bytes;
    {
      llvm::BitstreamWriter unused(bytes);
      TRY(write_module(unused));
    }
    TRY(check_tables());
    bytes.clear();
    {
      llvm::BitstreamWriter out(bytes);
      TRY(write_file(out));
    }
    const auto all = std::as_bytes(std::span(bytes.data(), bytes.size()));
    return std::vector<std::byte>(all.begin(), all.end());
  }

 private:
  static std::unexpected<Error> unsupported(const std::string& what) {
    return fail(ErrorCode::NotSupported, "air: {}", what);
  }

  template <typename T>
  static std::string printed(const T& thing) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    thing.print(stream);
    return text;
  }

  Result<> check() {
    if (!module_.alias_empty())
      return unsupported("alias '" + module_.aliases().begin()->getName().str() + "'; AIR has none");
    if (!module_.ifunc_empty())
      return unsupported("ifunc '" + module_.ifuncs().begin()->getName().str() + "'; AIR has none");
    if (!module_.getModuleInlineAsm().empty()) return unsupported("assembly; AIR has none");
    for (const llvm::GlobalVariable& variable : module_.globals())
      if (variable.isThreadLocal())
        return unsupported(formatted("variable '{}' is of a thread; AIR has none such", variable.getName().str()));
    for (const llvm::Function& function : module_)
      for (const llvm::Argument& parameter : function.args())
        if (parameter.hasPassPointeeByValueCopyAttr())
          return unsupported(formatted("function '{}': parameter {} is a copy that the call makes; AIR has none such",
                                       function.getName().str(), parameter.getArgNo()));
    for (const llvm::Function& function : module_)
      for (const llvm::BasicBlock& block : function)
        for (const llvm::Instruction& instruction : block)
          if (!is_left_out(instruction)) TRY(check(function, instruction));
    return {};
  }

  static Result<> check(const llvm::Function& function, const llvm::Instruction& instruction) {
    const auto no = [&](std::string_view what) {
      return unsupported(formatted("function '{}': {}:{}", function.getName().str(), what, printed(instruction)));
    };
    if (instruction.getType()->isVectorTy() && instruction.getType()->getScalarType()->isPointerTy())
      return no("vector of pointers");
    for (const llvm::Use& operand : instruction.operands()) {
      if (llvm::isa<llvm::InlineAsm>(operand)) return no("AIR has no assembly");
      if (llvm::isa<llvm::MetadataAsValue>(operand)) return no("metadata as an operand");
    }
    return {};
  }

  Result<> check_tables() {
    if (!types_.unknown().empty()) return unsupported("type '" + types_.unknown() + "'");
    if (constants_.unknown()) return unsupported("constant '" + printed(*constants_.unknown()) + "'");
    if (metadata_.unknown()) return unsupported("metadata '" + printed(*metadata_.unknown()) + "'");
    return {};
  }

  Result<> write_file(llvm::BitstreamWriter& out) {
    out.Emit('B', 8), out.Emit('C', 8), out.Emit(0xC0, 8), out.Emit(0xDE, 8);
    out.EnterSubblock(IDENTIFICATION_BLOCK_ID, 5);
    emit_text(out, IDENTIFICATION_CODE_STRING, "");
    out.EmitRecord(IDENTIFICATION_CODE_EPOCH, llvm::ArrayRef<uint64_t>{0});
    out.ExitBlock();
    TRY(write_module(out));
    out.EnterSubblock(STRTAB_BLOCK_ID, 3);
    auto form = std::make_shared<llvm::BitCodeAbbrev>();
    form->Add(llvm::BitCodeAbbrevOp(STRTAB_BLOB));
    form->Add(llvm::BitCodeAbbrevOp(llvm::BitCodeAbbrevOp::Blob));
    const unsigned abbreviation = out.EmitAbbrev(std::move(form));
    out.EmitRecordWithBlob(abbreviation, llvm::ArrayRef<uint64_t>{STRTAB_BLOB}, names_);
    out.ExitBlock();
    return {};
  }

  Result<> write_module(llvm::BitstreamWriter& out) {
    names_.clear();
    sections_.clear();
    out.EnterSubblock(MODULE_BLOCK_ID, 3);
    out.EmitRecord(MODULE_CODE_VERSION, llvm::ArrayRef<uint64_t>{2});
    write_types(out);
    attributes_.write(out);
    emit_text(out, MODULE_CODE_TRIPLE, module_.getTargetTriple().str());
    if (!module_.getDataLayoutStr().empty()) emit_text(out, MODULE_CODE_DATALAYOUT, module_.getDataLayoutStr());
    emit_text(out, MODULE_CODE_SOURCE_FILENAME, module_.getSourceFileName());
    for (const llvm::GlobalObject& object : module_.global_objects()) write_section(out, object);
    for (const llvm::GlobalVariable& variable : module_.globals()) write_variable(out, variable);
    for (const llvm::Function& function : module_)
      if (!is_left_out(function)) write_function(out, function);
    constants_.write(out);
    metadata_.write(out);
    Result<> written;
    for (const llvm::Function& function : module_)
      if (written && !function.isDeclaration())
        written = FunctionWriter(function, types_, pointees_, constants_, attributes_).write(out);
    out.ExitBlock();
    return written;
  }

  void write_types(llvm::BitstreamWriter& out) {
    out.EnterSubblock(TYPE_BLOCK_ID_NEW, 4);
    out.EmitRecord(TYPE_CODE_NUMENTRY, llvm::ArrayRef<uint64_t>{types_.rows().size()});
    for (const TypeTable::Row& row : types_.rows()) {
      if (!row.name.empty()) emit_text(out, TYPE_CODE_STRUCT_NAME, row.name);
      out.EmitRecord(row.code, row.operands);
    }
    out.ExitBlock();
  }

  void write_section(llvm::BitstreamWriter& out, const llvm::GlobalObject& object) {
    if (!object.hasSection() || !sections_.emplace(object.getSection(), sections_.size() + 1).second) return;
    emit_text(out, MODULE_CODE_SECTIONNAME, object.getSection());
  }

  uint64_t section_of(const llvm::GlobalObject& object) const {
    return object.hasSection() ? sections_.at(object.getSection()) : 0;
  }

  void push_name(Values& record, const llvm::GlobalValue& value) {
    const std::string name = name_of(value);
    record.append({names_.size(), name.size()});
    names_ += name;
  }

  void write_variable(llvm::BitstreamWriter& out, const llvm::GlobalVariable& variable) {
    Values record;
    push_name(record, variable);
    const TypeId type = pointees_.contents_of(variable);
    constexpr uint64_t kExplicitType = 2;
    record.append({type, uint64_t{variable.getAddressSpace()} << 2 | kExplicitType | variable.isConstant(),
                   variable.hasInitializer() ? constants_.id(*variable.getInitializer(), type) + uint64_t{1} : 0,
                   linkage_number(variable.getLinkage()),
                   variable.getAlign() ? llvm::Log2(*variable.getAlign()) + uint64_t{1} : 0, section_of(variable),
                   uint64_t{variable.getVisibility()}, 0, unnamed_number(variable.getUnnamedAddr()),
                   variable.isExternallyInitialized(), 0, 0});
    out.EmitRecord(MODULE_CODE_GLOBALVAR, record);
  }

  void write_function(llvm::BitstreamWriter& out, const llvm::Function& function) {
    Values record;
    push_name(record, function);
    record.append({pointees_.signature_of(function).type, uint64_t{function.getCallingConv()}, function.isDeclaration(),
                   linkage_number(function.getLinkage()), attributes_.id(function.getAttributes()),
                   function.getAlign() ? llvm::Log2(*function.getAlign()) + uint64_t{1} : 0, section_of(function),
                   uint64_t{function.getVisibility()}, 0, unnamed_number(function.getUnnamedAddr()), 0, 0, 0, 0, 0,
                   function.isDSOLocal(), function.getAddressSpace()});
    out.EmitRecord(MODULE_CODE_FUNCTION, record);
  }

  const llvm::Module& module_;
  TypeTable types_;
  Pointees pointees_;
  ConstantTable constants_;
  AttributeTable attributes_;
  MetadataTable metadata_;
  std::string names_;
  std::map<llvm::StringRef, uint64_t> sections_;
};

}  // namespace

Result<std::vector<std::byte>> write_bitcode(const llvm::Module& module) {
  return ModuleWriter(module).write();
}

}  // namespace cupola::air
