#include "backend/cpu/run/machine.h"

#include <unistd.h>

#include <cctype>
#include <cstdlib>
#include <fstream>
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#if defined(__APPLE__)
#include <sys/sysctl.h>
#endif
#if defined(__linux__) && defined(__aarch64__)
#include <sys/auxv.h>
#endif

#include "base/log.h"

namespace cupola::cpu {
namespace {

/// A value of /proc/cpuinfo, of the first processor; empty when there is none.
[[maybe_unused]] std::string cpuinfo(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const size_t colon = line.find(':');
    if (colon == std::string::npos || !line.starts_with(key)) continue;
    const size_t begin = line.find_first_not_of(" \t", colon + 1);
    return begin == std::string::npos ? "" : line.substr(begin);
  }
  return {};
}

/// FNV-1a over 64 bits: for telling apart, not for safety.
class Digest {
 public:
  void add(uint64_t value) {
    for (int i = 0; i < 8; ++i) hash_ = (hash_ ^ (value >> 8 * i & 0xFF)) * 0x100000001b3;
  }
  std::string text() const { return formatted("{:016x}", hash_); }

 private:
  uint64_t hash_ = 0xcbf29ce484222325;
};

#if defined(__x86_64__)
void add_features(Digest& digest) {
  unsigned a = 0, b = 0, c = 0, d = 0;
  // Family and model decide tuning; the rest are feature words (Intel SDM, CPUID). Leaf 1's ebx names the running core:
  // left out.
  if (__get_cpuid(1, &a, &b, &c, &d)) digest.add(a), digest.add(c), digest.add(d);
  for (unsigned part = 0; part < 2; ++part)
    if (__get_cpuid_count(7, part, &a, &b, &c, &d)) digest.add(a), digest.add(b), digest.add(c), digest.add(d);
  if (__get_cpuid_count(13, 1, &a, &b, &c, &d)) digest.add(a);
  if (__get_cpuid(0x80000001, &a, &b, &c, &d)) digest.add(c), digest.add(d);
  // What the system saves of the vector registers.
  if (__get_cpuid(1, &a, &b, &c, &d) && c & bit_OSXSAVE) {
    unsigned low = 0, high = 0;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    digest.add(low);
  }
}
#elif defined(__linux__) && defined(__aarch64__)
void add_features(Digest& digest) {
  digest.add(getauxval(AT_HWCAP));
  digest.add(getauxval(AT_HWCAP2));
}
#else
void add_features(Digest& digest) {
  for (char letter : processor_name()) digest.add(static_cast<unsigned char>(letter));
}
#endif

bool has_level([[maybe_unused]] const std::string& level) {
#if defined(__x86_64__)
  if (level == "x86-64") return true;
  if (level == "x86-64-v2") return __builtin_cpu_supports("x86-64-v2");
  if (level == "x86-64-v3") return __builtin_cpu_supports("x86-64-v3");
  if (level == "x86-64-v4") return __builtin_cpu_supports("x86-64-v4");
#endif
  return false;
}

}  // namespace

std::string processor_name() {
#if defined(__APPLE__)
  char name[256] = "";
  size_t size = sizeof name;
  if (sysctlbyname("machdep.cpu.brand_string", name, &size, nullptr, 0) == 0) return name;
  return "unknown processor";
#else
  const std::string name = cpuinfo("model name");
  return name.empty() ? "unknown processor" : name;
#endif
}

std::string instruction_set() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
#error "the cpu device knows x86-64 and AArch64"
#endif
}

std::string processor_to_compile_for(const std::string& wanted) {
  if (has_level(wanted)) return wanted;
  if (!wanted.empty())
    log::line(log::Topic::Error,
              "CUPOLA_PROCESSOR is '{}', which is ignored: it must be a level of x86-64 that this processor has",
              wanted);
  Digest digest;
  add_features(digest);
  return digest.text();
}

uint64_t memory_bytes() {
  return static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

uint32_t clock_khz() {
#if defined(__APPLE__)
  return 0;
#else
  return static_cast<uint32_t>(std::strtod(cpuinfo("cpu MHz").c_str(), nullptr) * 1000);
#endif
}

}  // namespace cupola::cpu
