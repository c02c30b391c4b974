#include "image/module_variables.h"

#include <bit>

namespace cupola::image {
namespace {

constexpr uint64_t kMaxDataAlignment = 2 * 1024 * 1024;

// The least that one item of each list takes, in bytes.
constexpr size_t kParameterBytes = 8, kSymbolBytes = 25, kRelocationBytes = 20;

Result<DataSymbol> read_symbol(wire::Reader& in) {
  DataSymbol symbol;
  TRY(symbol.name, in.text("symbol name"));
  TRY(symbol.offset, in.number<uint64_t>("symbol offset"));
  TRY(symbol.size, in.number<uint64_t>("symbol size"));
  TRY(symbol.constant, in.flag("symbol constant"));
  return symbol;
}

Result<DataRelocation> read_relocation(wire::Reader& in) {
  DataRelocation relocation;
  TRY(relocation.offset, in.number<uint64_t>("relocation offset"));
  TRY(uint32_t kind, in.number<uint32_t>("relocation kind"));
  if (kind > static_cast<uint32_t>(DataRelocation::Kind::CodeAddress))
    return fail(ErrorCode::InvalidImage, "image: relocation kind {} is unknown", kind);
  relocation.kind = static_cast<DataRelocation::Kind>(kind);
  TRY(relocation.addend, in.number<uint64_t>("relocation addend"));
  return relocation;
}

}  // namespace

void write_info(wire::Writer& out, const KernelInfo& info) {
  out.text(info.name);
  out.count(info.parameters.size());
  for (const KernelInfo::Parameter& parameter : info.parameters) {
    out.number(parameter.offset);
    out.number(parameter.size);
  }
  out.number(info.parameter_bytes);
  out.number(info.static_shared_bytes);
  out.number(info.local_bytes);
  out.number(info.max_threads_per_block);
  out.number(info.required_block.x);
  out.number(info.required_block.y);
  out.number(info.required_block.z);
  out.number(info.registers);
  out.number(info.constant_bytes);
}

Result<KernelInfo> read_info(wire::Reader& in) {
  KernelInfo info;
  TRY(info.name, in.text("kernel name"));
  TRY(uint32_t parameters, in.count("kernel parameters", kParameterBytes));
  info.parameters.resize(parameters);
  for (KernelInfo::Parameter& parameter : info.parameters) {
    TRY(parameter.offset, in.number<uint32_t>("parameter offset"));
    TRY(parameter.size, in.number<uint32_t>("parameter size"));
  }
  TRY(info.parameter_bytes, in.number<uint32_t>("parameter bytes"));
  TRY(info.static_shared_bytes, in.number<uint32_t>("static shared bytes"));
  TRY(info.local_bytes, in.number<uint32_t>("local bytes"));
  TRY(info.max_threads_per_block, in.number<uint32_t>("max threads per block"));
  TRY(info.required_block.x, in.number<uint32_t>("required block x"));
  TRY(info.required_block.y, in.number<uint32_t>("required block y"));
  TRY(info.required_block.z, in.number<uint32_t>("required block z"));
  TRY(info.registers, in.number<uint32_t>("registers"));
  TRY(info.constant_bytes, in.number<uint32_t>("constant bytes"));
  return info;
}

void write_variables(wire::Writer& out, const ModuleVariables& variables) {
  out.count(variables.symbols.size());
  for (const DataSymbol& symbol : variables.symbols) {
    out.text(symbol.name);
    out.number(symbol.offset);
    out.number(symbol.size);
    out.flag(symbol.constant);
  }
  out.blob(variables.data);
  out.number(variables.data_alignment);
  out.count(variables.relocations.size());
  for (const DataRelocation& relocation : variables.relocations) {
    out.number(relocation.offset);
    out.number(static_cast<uint32_t>(relocation.kind));
    out.number(relocation.addend);
  }
}

Result<> read_variables(wire::Reader& in, ModuleVariables& variables) {
  TRY(uint32_t symbols, in.count("symbols", kSymbolBytes));
  for (uint32_t i = 0; i < symbols; ++i) {
    TRY(DataSymbol symbol, read_symbol(in));
    variables.symbols.push_back(std::move(symbol));
  }
  TRY(variables.data, in.bytes("data"));
  TRY(variables.data_alignment, in.number<uint64_t>("data alignment"));
  TRY(uint32_t relocations, in.count("relocations", kRelocationBytes));
  for (uint32_t i = 0; i < relocations; ++i) {
    TRY(DataRelocation relocation, read_relocation(in));
    variables.relocations.push_back(relocation);
  }
  return {};
}

Result<> check_info(const KernelInfo& info) {
  for (const KernelInfo::Parameter& parameter : info.parameters)
    if (!fits(parameter.offset, parameter.size, info.parameter_bytes))
      return fail(ErrorCode::InvalidImage, "image: kernel '{}' has a parameter of {} bytes at {} in a block of {}",
                  info.name, parameter.size, parameter.offset, info.parameter_bytes);
  return {};
}

Result<> check_variables(const ModuleVariables& variables, uint64_t code_bytes) {
  const uint64_t size = variables.data.size();
  if (!std::has_single_bit(variables.data_alignment) || variables.data_alignment > kMaxDataAlignment)
    return fail(ErrorCode::InvalidImage, "image: data alignment {} is not a power of two up to {}",
                variables.data_alignment, kMaxDataAlignment);
  for (const DataSymbol& symbol : variables.symbols)
    if (!fits(symbol.offset, symbol.size, size))
      return fail(ErrorCode::InvalidImage, "image: symbol '{}' has {} bytes at {} in {} bytes of data", symbol.name,
                  symbol.size, symbol.offset, size);
  for (const DataRelocation& relocation : variables.relocations) {
    const bool in_data = relocation.kind == DataRelocation::Kind::DataAddress;
    const bool target_fits = in_data ? relocation.addend <= size : relocation.addend < code_bytes;
    if (!fits(relocation.offset, 8, size) || !target_fits)
      return fail(ErrorCode::InvalidImage, "image: relocation at {} to {} {} leaves {} bytes of data or {} of code",
                  relocation.offset, in_data ? "data" : "code", relocation.addend, size, code_bytes);
  }
  return {};
}

}  // namespace cupola::image
