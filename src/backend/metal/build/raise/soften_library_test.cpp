// Every function of the device library that takes or gives doubles, in a kernel of its own: all can be computed in
// integers. Where no function of the C library takes part the results are those of the host's doubles to the last bit;
// else libclc's function stands beside the host's, and they differ in the last few.

#include <gtest/gtest.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include <bit>
#include <cmath>
#include <random>
#include <set>

#include "backend/metal/build/raise/double_types.h"
#include "backend/metal/build/raise/soften_doubles.h"
#include "base/file.h"
#include "kir/c_functions.h"
#include "kir/kir.h"
#include "kir/math_calls.h"
#include "kir/test_module.h"

namespace cupola::metal::build {
namespace {

std::string library(const char* name) {
  return read_file(std::string(CUPOLA_LIBRARIES "/") + name).value_or("");
}
std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

constexpr unsigned kWords = 8;
using Words = std::array<uint64_t, kWords>;
using Kernel = void(const uint64_t* in, uint64_t* out);

/// Calls `callee` with the words at %in. Pointers are places behind the result at %out. A whole number beside others is
/// small: how many numbers there are (norm), how many steps to take (jn).
void add_kernel(llvm::Module& module, llvm::Function& callee) {
  llvm::LLVMContext& context = module.getContext();
  llvm::Type* pointer = llvm::PointerType::get(context, 0);
  auto* kernel =
      llvm::Function::Create(llvm::FunctionType::get(llvm::Type::getVoidTy(context), {pointer, pointer}, false),
                             llvm::GlobalValue::ExternalLinkage, "kernel" + callee.getName(), module);
  kernel->setCallingConv(llvm::CallingConv::PTX_Kernel);
  llvm::IRBuilder<> b(llvm::BasicBlock::Create(context, "", kernel));
  llvm::SmallVector<llvm::Value*, 4> arguments;
  unsigned in = 0, out = 1;
  const bool pointers = llvm::any_of(callee.args(), [](llvm::Argument& one) { return one.getType()->isPointerTy(); });
  const unsigned most = pointers ? 3 : 31;
  for (llvm::Argument& argument : callee.args()) {
    const bool result = argument.getType()->isPointerTy();
    llvm::Value* place = b.CreateConstGEP1_32(b.getInt64Ty(), kernel->getArg(result), result ? out++ : in++);
    arguments.push_back(result ? place : b.CreateLoad(argument.getType(), place));
    if (callee.arg_size() > 1 && argument.getType()->isIntegerTy())
      arguments.back() = b.CreateAnd(arguments.back(), most);
  }
  llvm::Value* value = b.CreateCall(&callee, arguments);
  if (!value->getType()->isVoidTy()) b.CreateStore(value, kernel->getArg(1));
  b.CreateRetVoid();
}

/// The library's functions of doubles, and pointers to what they leave.
bool is_chosen(const llvm::Function& function) {
  return !function.isDeclaration() && function.getName().starts_with("__nv_") &&
         (holds_double(function.getFunctionType()) || function.getName() == "__nv_sincos");
}

/// The kernels whose code calls the C library.
class Reach {
 public:
  bool c_library(const llvm::Function& function) {
    if (const auto known = known_.find(&function); known != known_.end()) return known->second;
    known_[&function] = false;
    bool found = false;
    for (const llvm::Instruction& instruction : llvm::instructions(function)) {
      const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
      const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
      if (!callee) continue;
      found |= callee->isIntrinsic()     ? kir::c_name(callee->getIntrinsicID()) != nullptr
               : callee->isDeclaration() ? kir::is_library_call(callee->getName())
                                         : c_library(*callee);
    }
    return known_[&function] = found;
  }

 private:
  std::map<const llvm::Function*, bool> known_;
};

struct Texts {
  std::string hard, soft;
  std::vector<std::string> exact, others;  ///< kernels without and with the C library
};

Texts prepared() {
  Texts texts;
  llvm::LLVMContext context;
  const std::string device = library("device.bc"), metal = library("metal.bc");
  auto all = kir::read(context, bytes_of(device));
  EXPECT_TRUE(all) << all.error().message;
  llvm::Module module("kernels", context);
  module.setDataLayout(kir::kDataLayout);
  module.setTargetTriple(llvm::Triple(kir::kTriple));
  for (const llvm::Function& function : **all)
    if (is_chosen(function))
      add_kernel(module, *llvm::Function::Create(function.getFunctionType(), llvm::GlobalValue::ExternalLinkage,
                                                 function.getName(), module));
  const Result<> done = kir::prepare(module, {.device_library = bytes_of(device)});
  EXPECT_TRUE(done) << done.error().message;
  Reach reach;
  for (const llvm::Function* kernel : kir::kernels(module))
    (reach.c_library(*kernel) ? texts.others : texts.exact).push_back(kernel->getName().str());
  texts.hard = kir::print(module);
  const Result<> softened = soften_doubles(module, bytes_of(metal));
  EXPECT_TRUE(softened) << softened.error().message;
  texts.soft = kir::print(module);
  return texts;
}

/// Numbers of many sizes, whole ones and special ones.
Words operands(std::mt19937_64& random) {
  static constexpr double kSpecial[] = {0.0,      -0.0,      1,   -1,        0.5,      2,
                                        HUGE_VAL, -HUGE_VAL, NAN, 0x1p-1074, 0x1p1023, 0x1p-1022};
  Words words;
  for (uint64_t& word : words) {
    const double size = std::ldexp(1.0, static_cast<int>(random() % 8 == 0 ? random() % 2000 : random() % 40) - 20);
    double number = std::uniform_real_distribution<double>(-size, size)(random);
    if (random() % 8 == 0) number = std::rint(number);
    if (random() % 16 == 0) number = kSpecial[random() % std::size(kSpecial)];
    word = std::bit_cast<uint64_t>(number);
  }
  return words;
}

/// The same bits, or NaNs of double or of float.
bool same(uint64_t hard, uint64_t soft) {
  const auto is_nan = [](uint64_t word) { return (word << 1) > uint64_t{0x7ff} << 53; };
  const auto is_float_nan = [](uint64_t word) { return (word << 33 >> 33) > 0x7f800000; };
  if (is_nan(hard) && is_nan(soft)) return true;
  return hard == soft || (hard >> 32 == soft >> 32 && is_float_nan(hard) && is_float_nan(soft));
}

bool near(uint64_t hard, uint64_t soft) {
  const auto expected = std::bit_cast<double>(hard), got = std::bit_cast<double>(soft);
  return same(hard, soft) || std::fabs(got - expected) <= 0x1p-44 * std::fabs(expected);
}

class SoftenedLibrary : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    if (library("c_library.bc").empty()) GTEST_SKIP() << "the build found no libclc";
    texts = prepared();
    hard = new kir::TestModule(texts.hard);
    soft = new kir::TestModule(texts.soft);
  }
  static void TearDownTestSuite() {
    delete std::exchange(hard, nullptr);
    delete std::exchange(soft, nullptr);
  }

  static void expect(bool (*agree)(uint64_t, uint64_t), const std::string& name) {
    auto *of_hard = hard->function<Kernel>(name), *of_soft = soft->function<Kernel>(name);
    std::mt19937_64 random(1);
    for (int row = 0; row < 1000; ++row) {
      const Words in = operands(random);
      Words left{}, right{};
      of_hard(in.data(), left.data());
      of_soft(in.data(), right.data());
      for (unsigned i = 0; i < kWords; ++i)
        ASSERT_TRUE(agree(left[i], right[i]))
            << name
            << formatted(" of {:016x} {:016x} {:016x}: {:016x}, not {:016x}", in[0], in[1], in[2], right[i], left[i]);
    }
  }

  static inline Texts texts;
  static inline kir::TestModule *hard = nullptr, *soft = nullptr;
};

TEST_F(SoftenedLibrary, GivesTheBitsOfTheProcessorsDoubles) {
  ASSERT_GE(texts.exact.size(), 100u);
  for (const std::string& name : texts.exact) expect(same, name);
}

TEST_F(SoftenedLibrary, GivesNearlyWhatTheCLibraryGives) {
  ASSERT_GE(texts.others.size(), 40u);
  for (const std::string& name : texts.others) expect(near, name);
}

}  // namespace
}  // namespace cupola::metal::build
