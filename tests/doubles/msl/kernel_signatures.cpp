#include "doubles/msl/kernel_signatures.h"

#include <map>
#include <regex>

#include "base/format.h"

namespace cupola::doubles {
namespace {

/// How each built-in is made of a ThreadPlace called p.
const std::map<std::string, std::string>& built_ins() {
  static const auto* const table = new std::map<std::string, std::string>{
      {"thread_position_in_threadgroup", "uint3{p->thread[0], p->thread[1], p->thread[2]}"},
      {"threads_per_threadgroup", "uint3{p->threads[0], p->threads[1], p->threads[2]}"},
      {"threadgroup_position_in_grid", "uint3{p->group[0], p->group[1], p->group[2]}"},
      {"threadgroups_per_grid", "uint3{p->groups[0], p->groups[1], p->groups[2]}"},
      {"thread_index_in_simdgroup", "p->lane"},
      {"simdgroup_index_in_threadgroup", "p->simdgroup"},
      {"simdgroups_per_threadgroup", "p->simdgroups"},
  };
  return *table;
}

Result<MslArgument> argument_of(const std::string& attribute) {
  static const std::regex with_index(R"((buffer|threadgroup)\((\d+)\))");
  std::smatch parts;
  if (std::regex_match(attribute, parts, with_index))
    return MslArgument{parts[1] == "buffer" ? MslArgument::Kind::Buffer : MslArgument::Kind::Threadgroup,
                       static_cast<uint32_t>(std::stoul(parts[2])),
                       {}};
  if (built_ins().contains(attribute)) return MslArgument{MslArgument::Kind::BuiltIn, 0, attribute};
  return fail(ErrorCode::InvalidSource, "software Metal: no argument of a kernel has the attribute '{}' here",
              attribute);
}

}  // namespace

Result<std::vector<KernelSignature>> kernel_signatures(const std::string& source) {
  static const std::regex head(R"(\bkernel\s+void\s+(\w+)\s*\()");
  static const std::regex argument(R"(\s*(.+?)\s*(\w+)\s*\[\[(.+?)\]\]\s*,?)");
  std::vector<KernelSignature> kernels;
  for (std::sregex_iterator at(source.begin(), source.end(), head), end; at != end; ++at) {
    KernelSignature kernel;
    kernel.function.name = (*at)[1];
    const size_t begin = static_cast<size_t>(at->position() + at->length());
    const std::string list = source.substr(begin, source.find(") {", begin) - begin);
    for (std::sregex_iterator each(list.begin(), list.end(), argument); each != end; ++each) {
      TRY(MslArgument made, argument_of((*each)[3]));
      kernel.function.arguments.push_back(std::move(made));
      kernel.types.push_back((*each)[1]);
    }
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

std::string callers(const std::vector<KernelSignature>& kernels) {
  std::string text = R"(
#undef thread
struct ThreadPlace {
  uint thread[3], threads[3], group[3], groups[3], lane, simdgroup, simdgroups;
};
extern "C" {
)";
  for (const KernelSignature& kernel : kernels) {
    std::string list;
    for (size_t i = 0; i < kernel.types.size(); ++i) {
      const MslArgument& argument = kernel.function.arguments[i];
      std::string type = kernel.types[i];
      if (i) list += ", ";
      if (argument.kind == MslArgument::Kind::BuiltIn) {
        list += built_ins().at(argument.name);
        continue;
      }
      const bool is_reference = type.ends_with('&');
      if (is_reference) type.back() = '*';
      list += formatted("{}({}){}[{}]", is_reference ? "*" : "", type,
                        argument.kind == MslArgument::Kind::Buffer ? "buffers" : "threadgroups", argument.index);
    }
    text +=
        formatted("void call_{}(const ulong* buffers, const ulong* threadgroups, const ThreadPlace* p) {{ {}({}); }}\n",
                  kernel.function.name, kernel.function.name, list);
  }
  return text + "}\n";
}

}  // namespace cupola::doubles
