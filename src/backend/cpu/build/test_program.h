#pragma once

#include <gtest/gtest.h>
#include <llvm/AsmParser/Parser.h>
#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <llvm/Support/SourceMgr.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "backend/cpu/build/build.h"
#include "image/cpu_abi.h"
#include "image/loader.h"

// For the tests of this folder: compiles prepared kir text, loads the image and runs its kernels one thread
// after the other, each on a local window of its own, with services that record their calls.

namespace cupola::cpu::build::testing {

using image::cpu::kLocalWindow;
using image::cpu::kSharedWindow;
using image::cpu::Services;
using image::cpu::ThreadContext;

/// The layout and triple that clang gives device code, then `text`.
inline std::unique_ptr<llvm::Module> parse(llvm::LLVMContext& context, const std::string& text) {
  const std::string header =
      "target datalayout = \"e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64\"\n"
      "target triple = \"nvptx64-nvidia-cuda\"\n";
  llvm::SMDiagnostic error;
  auto module = llvm::parseAssemblyString(header + text, error, context);
  EXPECT_TRUE(module) << "line " << error.getLineNo() - 2 << ": " << error.getMessage().str();
  return module;
}

/// Text of a thread of blocks of 16 x N: %t is threadIdx.x, %y threadIdx.y, whose row of 64 numbers behind %p begins at
/// %row and has the thread's at %cell.
inline const std::string kRowOfBlock = R"(
      %t = call i32 @cupola.tid.x()
      %y = call i32 @cupola.tid.y()
      %far = zext i32 %y to i64
      %row = getelementptr [64 x i32], ptr %p, i64 %far
      %x = zext i32 %t to i64
      %cell = getelementptr i32, ptr %row, i64 %x
      )";

inline Result<image::KernelImage> build_text(const std::string& text) {
  llvm::LLVMContext context;
  return build(parse(context, text), {.target = "cpu:test", .keep = getenv("KEEP") ? getenv("KEEP") : ""});
}

/// LLVM's text of what was built with `path` as BuildOptions::keep, whose files are gone then.
inline std::string take_kept_code(const std::string& path) {
  std::ifstream file(path + ".host.ll");
  const std::string all{std::istreambuf_iterator<char>(file), {}};
  for (const char* kept : {".host.ll", ".s"}) std::remove((path + kept).c_str());
  return all;
}

/// What `text`'s kernel becomes, as LLVM's text: of the entry's function, from its name on. `entry`:
/// "kernel.block.warp.k" is that of @k for blocks of rows of 32. For one level of processors, whatever this one is.
inline std::string host_code(const std::string& text, const std::string& entry = "kernel.block.warp.k",
                             const std::string& level = "x86-64-v4") {
  const std::string path = ::testing::TempDir() + "host_code-" + std::to_string(getpid());
  llvm::LLVMContext context;
  const auto built = build(parse(context, text), {.target = "cpu:x86_64:" + level, .keep = path});
  EXPECT_TRUE(built) << built.error().message;
  const std::string all = take_kept_code(path);
  const size_t begin = all.find("@" + entry + "(");
  EXPECT_NE(begin, std::string::npos) << entry;
  return begin == std::string::npos ? "" : all.substr(begin, all.find("\n}", begin) - begin);
}

/// What the services saw.
struct Record {
  std::map<std::string, int> calls;
  std::string format;
  std::vector<int32_t> arguments;  ///< of vprintf: the first two, as ints
  std::map<uint64_t, int> sites;
};
inline Record record;

inline const Services* services() {
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-parameter"
  static Services table = {
#define CUPOLA_SERVICE(name, result, parameters, flags) \
  [] parameters -> result {                             \
    ++record.calls[#name];                              \
    using R = result;                                   \
    return R();                                         \
  },
#include "image/cpu_services.def"
#undef CUPOLA_SERVICE
  };
#pragma clang diagnostic pop
  table.vprintf = [](ThreadContext*, const char* format, const void* arguments) -> int32_t {
    record.format = format;
    const auto* words = static_cast<const int32_t*>(arguments);
    record.arguments = {words[0], words[1]};
    return 2;
  };
  table.poll = [](ThreadContext* context) {
    ++record.calls["poll"];
    context->fuel = 10;
  };
  table.active_mask = [](ThreadContext*, uint64_t site) -> uint32_t {
    ++record.sites[site];
    return 1;
  };
  return &table;
}

class TestProgram {
 public:
  explicit TestProgram(const std::string& text) {
    auto built = build_text(text);
    if (!built) {
      ADD_FAILURE() << built.error().message;
      return;
    }
    image = std::move(*built);
    load();
    record = {};
  }

  const image::Kernel& kernel(const std::string& name) const {
    for (const image::Kernel& one : image.kernels)
      if (one.info.name == name) return one;
    ADD_FAILURE() << "no kernel " << name;
    static const image::Kernel none;
    return none;
  }

  /// The variable's place in memory.
  template <typename T>
  T* symbol(const std::string& name) {
    for (const image::DataSymbol& one : image.symbols)
      if (one.name == name) return reinterpret_cast<T*>(data + one.offset);
    ADD_FAILURE() << "no symbol " << name;
    return nullptr;
  }

  /// Runs every thread; `arguments` have exactly the parameters' sizes.
  template <typename... A>
  void launch(const std::string& name, Dim3 grid, Dim3 block, const A&... arguments) {
    const image::Kernel& what = kernel(name);
    ASSERT_EQ(what.info.parameters.size(), sizeof...(A));
    std::vector<std::byte> parameters(what.info.parameter_bytes);
    size_t index = 0;
    (place(parameters, what.info.parameters[index++], arguments), ...);
    const std::vector<std::byte> before(parameters.begin(), parameters.end());  // kernels get its address
    for (uint32_t b = 0; b < grid.count(); ++b) {
      std::memset(shared, 0xcd, kSharedWindow);
      for (uint32_t t = 0; t < block.count(); ++t) run_thread(what, grid, block, b, t, parameters);
    }
    EXPECT_EQ(parameters, before);
  }

  /// Calls the code for blocks of such a shape once, for the first `count`. Code with no services and small frames.
  template <typename... A>
  void call_for_blocks(const std::string& name, Dim3 grid, Dim3 block, uint32_t count, const A&... arguments) {
    const image::Kernel& what = kernel(name);
    std::vector<std::byte> parameters(what.info.parameter_bytes);
    size_t index = 0;
    (place(parameters, what.info.parameters[index++], arguments), ...);
    std::vector<uint32_t> places[3];
    for (uint32_t t = 0; t < block.count(); ++t) {
      uint32_t at[3];
      split(t, block, at);
      for (unsigned d = 0; d < 3; ++d) places[d].push_back(at[d]);
    }
    ThreadContext context{};
    context.services = services();
    context.module_data = data;
    context.shared_window = shared;
    fill(block, context.ntid);
    fill(grid, context.nctaid);
    context.lanes = ~0u;
    context.total_shared_bytes = what.info.static_shared_bytes;
    context.blocks = count;
    for (unsigned d = 0; d < 3; ++d) context.places[d] = places[d].data();
    const uint64_t entry = what.wide_entries[image::class_of(block)].place;
    reinterpret_cast<image::cpu::KernelEntry>(const_cast<void*>(segment_->at(entry)))(&context, parameters.data());
  }

  image::KernelImage image;
  std::byte* data = nullptr;
  std::byte* shared = window(kSharedWindow);
  uint32_t dynamic_shared_bytes = 0;
  int32_t fuel = 10;

 private:
  static std::byte* map(size_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(memory, MAP_FAILED);
    return static_cast<std::byte*>(memory);
  }
  static std::byte* window(uint64_t size) {
    const auto raw = reinterpret_cast<uint64_t>(map(2 * size));
    return reinterpret_cast<std::byte*>((raw + size - 1) & ~(size - 1));
  }

  template <typename T>
  static void place(std::vector<std::byte>& parameters, const KernelInfo::Parameter& where, const T& value) {
    ASSERT_EQ(where.size, sizeof(T));
    std::memcpy(&parameters[where.offset], &value, sizeof(T));
  }

  /// By way of bytes, as an image that comes from the cache.
  void load() {
    auto read = image::deserialize(image::serialize(image));
    ASSERT_TRUE(read) << read.error().message;
    auto loaded = image::LoadedSegment::load(*read);
    ASSERT_TRUE(loaded) << loaded.error().message;
    segment_ = std::move(*loaded);
    data = map(read->data.size() + 1);
    image::initialise_data(data, *read, *segment_);
  }

  struct Job {
    image::cpu::KernelEntry entry;
    ThreadContext* context;
    const std::byte* parameters;
    ucontext_t here, there;
  };
  static inline Job job;

  void run_thread(const image::Kernel& what, Dim3 grid, Dim3 block, uint32_t b, uint32_t t,
                  const std::vector<std::byte>& parameters) {
    auto* context = reinterpret_cast<ThreadContext*>(local_ + kLocalWindow) - 1;
    *context = {};
    context->services = services();
    context->module_data = data;
    context->shared_window = shared;
    split(t, block, context->tid);
    split(b, grid, context->ctaid);
    fill(block, context->ntid);
    fill(grid, context->nctaid);
    context->lane = t % 32;
    context->warp = t / 32;
    context->dynamic_shared_offset = (what.info.static_shared_bytes + image::cpu::kDynamicSharedAlignment - 1) &
                                     ~(image::cpu::kDynamicSharedAlignment - 1);
    context->dynamic_shared_bytes = dynamic_shared_bytes;
    context->total_shared_bytes = context->dynamic_shared_offset + dynamic_shared_bytes;
    context->fuel = fuel;
    job = {reinterpret_cast<image::cpu::KernelEntry>(const_cast<void*>(segment_->at(what.entry))),
           context,
           parameters.data(),
           {},
           {}};
    getcontext(&job.there);
    job.there.uc_stack.ss_sp = local_;
    job.there.uc_stack.ss_size = kLocalWindow - 256;
    job.there.uc_link = &job.here;
    makecontext(&job.there, [] { job.entry(job.context, job.parameters); }, 0);
    swapcontext(&job.here, &job.there);
  }

  static void split(uint32_t index, Dim3 shape, uint32_t (&out)[3]) {
    out[0] = index % shape.x;
    out[1] = index / shape.x % shape.y;
    out[2] = index / shape.x / shape.y;
  }
  static void fill(Dim3 shape, uint32_t (&out)[3]) { out[0] = shape.x, out[1] = shape.y, out[2] = shape.z; }

  std::unique_ptr<image::LoadedSegment> segment_;
  std::byte* local_ = window(kLocalWindow);
};

}  // namespace cupola::cpu::build::testing
