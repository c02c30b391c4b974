#include "backend/metal/host/launcher.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>

#include "backend/metal/host/launch_limits.h"
#include "base/demangled.h"
#include "image/metal_abi.h"

namespace cupola::metal {
namespace {

namespace abi = image::metal;

struct Ending {
  Integer number;
  ErrorCode code;
  const char* meaning;
};

constexpr Ending kEndings[] = {
#define COMMAND_BUFFER_ERROR(number, code, meaning) {number, ErrorCode::code, meaning},
#include "backend/metal/host/command_buffer_errors.def"
#undef COMMAND_BUFFER_ERROR
};

Ending ending_of(Integer number) {
  const auto* const known = std::ranges::find(kEndings, number, &Ending::number);
  return known == std::end(kEndings) ? Ending{number, ErrorCode::LaunchFailed, "it failed"} : *known;
}

const char* text_at(uint64_t host_address) {
  return host_address ? reinterpret_cast<const char*>(host_address) : "?";
}

/// Prints CUDA's own message, and says the same in short.
std::string assertion_of(const abi::FaultRecord& fault) {
  const char *message = text_at(fault.texts[0]), *file = text_at(fault.texts[1]), *function = text_at(fault.texts[2]);
  const auto& [bx, by, bz] = fault.block;
  const auto& [tx, ty, tz] = fault.thread;
  const std::string text = formatted("{}:{}: {}: block: [{},{},{}], thread: [{},{},{}] Assertion `{}` failed.\n", file,
                                     fault.detail, function, bx, by, bz, tx, ty, tz, message);
  std::fwrite(text.data(), 1, text.size(), stderr);
  return formatted(": {}:{}: assertion `{}` failed", file, fault.detail, message);
}

Error error_of(const std::string& kernel, const abi::FaultRecord& fault) {
  const auto& [bx, by, bz] = fault.block;
  const auto& [tx, ty, tz] = fault.thread;
  const std::string where = formatted("kernel {}, block ({},{},{}), thread ({},{},{})", kernel, bx, by, bz, tx, ty, tz);
  switch (static_cast<abi::Fault>(fault.kind)) {
    case abi::Fault::Assert:
      return {ErrorCode::Assert, where + assertion_of(fault)};
    case abi::Fault::Call:
      return {ErrorCode::InvalidPc,
              formatted("{}: a call through {:#x}, which is no function that it could call", where, fault.texts[0])};
    case abi::Fault::Grid:
      return {ErrorCode::LaunchFailed, where + ": a grid-wide barrier needs a cooperative launch"};
    case abi::Fault::Deadlock:
      return {ErrorCode::LaunchFailed,
              formatted("kernel {}, block ({},{},{}): deadlock: every thread waits at a barrier for others", kernel, bx,
                        by, bz)};
    case abi::Fault::None:
    case abi::Fault::Trap:
      break;
  }
  return {ErrorCode::LaunchFailed, where + ": trap"};
}

const MetalExecutable& executable_of(const hal::Launch& launch) {
  return static_cast<const MetalExecutable&>(*launch.executable);
}

/// For messages.
std::string name_of(const hal::Launch& launch) {
  return demangled(launch.executable->kernels()[launch.kernel].name);
}

/// A grid that Metal is to launch anew behind each grid-wide barrier.
bool takes_turns(const hal::Launch& launch) {
  return launch.cooperative && executable_of(launch).saved_bytes(launch.kernel) != 0;
}

Size size_of(const hal::Dim3& shape) {
  return {shape.x, shape.y, shape.z};
}

}  // namespace

Result<std::unique_ptr<Launcher>> Launcher::make(const MetalServices& services) {
  Object queue(services.metal, services.metal.new_queue(services.device));
  if (!queue) return fail(ErrorCode::DevicesUnavailable, "metal: there are no more command queues");
  std::unique_ptr<Launcher> launcher(new Launcher(services, std::move(queue)));
  TRY(Room room, launcher->take_room());  // a queue that cannot launch is none
  launcher->rooms_.push_back(std::move(room));
  return launcher;
}

Result<Launcher::Room> Launcher::take_room() {
  if (!rooms_.empty()) {
    Room room = std::move(rooms_.back());
    rooms_.pop_back();
    return room;
  }
  TRY(ArenaPart faults, services_.arena.take(sizeof(abi::FaultRecord), alignof(uint64_t)));
  TRY(KernelOutput output, KernelOutput::make(services_.arena));
  return Room{std::move(faults), std::move(output), {}};
}

/// For one more grid. Where memory is short grids wait for those before them.
bool Launcher::has_room() {
  if (!rooms_.empty()) return true;
  Result<Room> room = take_room();
  if (room) rooms_.push_back(std::move(*room));
  return room.has_value();
}

bool Launcher::may_follow(const hal::Launch& launch) {
  const hal::Launch& last = in_flight_.back().launch;
  return in_flight_.size() < kMostInFlight && !executable_of(last).may_fail(last.kernel) && !takes_turns(launch) &&
         has_room();
}

Result<> Launcher::begin(hal::Launch& launch) {
  TRY(check_limits(launch, services_.properties));
  TRY(const Id pipeline,
      static_cast<MetalExecutable&>(*launch.executable).pipeline(launch.kernel, launch.block.count()));
  TRY(Room room, take_room());
  InFlight& grid = in_flight_.emplace_back(std::move(launch), std::move(room), Object());
  const uint64_t number = ++services_.state.launches;
  const Result<> begun =
      takes_turns(grid.launch) ? run_turns(grid, pipeline, number) : commit(grid, pipeline, {number, 0, nullptr});
  if (begun) return {};
  rooms_.push_back(std::move(grid.room));
  in_flight_.pop_back();
  return begun;
}

Result<> Launcher::end() {
  InFlight grid = std::move(in_flight_.front());
  in_flight_.pop_front();
  const Result<> ended = grid.command_buffer ? outcome(grid) : Result<>();
  rooms_.push_back(std::move(grid.room));
  return ended;
}

Result<> Launcher::run_turns(InFlight& grid, Id pipeline, uint64_t number) {
  const hal::Launch& launch = grid.launch;
  const uint64_t thread_bytes = executable_of(launch).saved_bytes(launch.kernel);
  const uint64_t block_bytes = shared_bytes_of(launch) + launch.block.count() * thread_bytes;
  TRY(const ArenaPart saved,
      services_.arena.take(sizeof(abi::SavedHeader) + launch.grid.count() * block_bytes, sizeof(abi::SavedHeader)));
  auto* const header = reinterpret_cast<abi::SavedHeader*>(saved.address());
  Turn turn{.grid = number, .number = 0, .saved = saved.address()};
  do {
    header->again = 0;
    TRY(commit(grid, pipeline, turn));
    TRY(outcome(grid));
    ++turn.number;
  } while (header->again != 0);
  grid.command_buffer = Object();
  return {};
}

Result<> Launcher::commit(InFlight& grid, Id pipeline, const Turn& turn) {
  const Metal& metal = services_.metal;
  const Metal::Pool pool(metal);
  const Id command_buffer = metal.command_buffer(queue_.id());
  if (!command_buffer)
    return fail(ErrorCode::DevicesUnavailable, "kernel {}: Metal gives no command buffer", name_of(grid.launch));
  TRY(encode(grid, command_buffer, pipeline, turn));
  metal.commit(command_buffer);
  grid.command_buffer = Object(metal, metal.retain(command_buffer));
  return {};
}

Result<> Launcher::encode(InFlight& grid, Id command_buffer, Id pipeline, const Turn& turn) {
  const hal::Launch& launch = grid.launch;
  const Metal& metal = services_.metal;
  const Arena& arena = services_.arena;
  const hal::KernelInfo& info = launch.executable->kernels()[launch.kernel];
  const uint64_t begin = dynamic_shared_at(info.static_shared_bytes), shared = shared_bytes_of(launch);
  const abi::Launch facts{.arena = arena.to_gpu(),
                          .module_data = arena.gpu_address(executable_of(launch).data()),
                          .faults = arena.gpu_address(grid.room.faults.address()),
                          .locks = arena.gpu_address(services_.locks),
                          .output = arena.gpu_address(grid.room.output.header()),
                          .grid = turn.grid,
                          .dynamic_shared = static_cast<uint32_t>(begin),
                          .dynamic_shared_bytes = launch.dynamic_shared_bytes,
                          .total_shared_bytes = static_cast<uint32_t>(shared),
                          .cooperative = launch.cooperative ? 1u : 0u,
                          .saved = turn.saved ? arena.gpu_address(turn.saved) : 0,
                          .turn = turn.number,
                          .unused = 0};
  const Id encoder = metal.compute_encoder(command_buffer);
  metal.set_pipeline(encoder, pipeline);
  const Result<> set = set_parameters(encoder, grid);
  metal.set_bytes(encoder, &facts, sizeof facts, abi::kLaunchBuffer);
  metal.use_resource(encoder, arena.buffer(), kUsageReadWrite);
  metal.set_threadgroup_memory(encoder, std::max<uint64_t>(shared, abi::kSharedAlignment), abi::kSharedArgument);
  metal.set_threadgroup_memory(encoder, abi::kWordsBytes, abi::kWordsArgument);
  if (set) metal.dispatch(encoder, size_of(launch.grid), size_of(launch.block));
  metal.end_encoding(encoder);
  return set;
}

Result<> Launcher::set_parameters(Id encoder, InFlight& grid) {
  const Metal& metal = services_.metal;
  const hal::ParameterBlock& parameters = grid.launch.parameters;
  ArenaPart& place = grid.room.parameters;
  if (parameters.size() <= kMostInlineBytes) {
    static constexpr std::array<std::byte, 16> kNone{};  // an argument has a byte at least
    const bool none = parameters.size() == 0;
    metal.set_bytes(encoder, none ? kNone.data() : parameters.data(), none ? kNone.size() : parameters.size(),
                    abi::kParameterBuffer);
    return {};
  }
  constexpr uint64_t kAlignment = 256;  // of constant buffers, on every GPU that has Metal
  if (place.size() < parameters.size()) {
    TRY(place, services_.arena.take(parameters.size(), kAlignment));
  }
  std::memcpy(place.address(), parameters.data(), parameters.size());
  metal.set_buffer(encoder, services_.arena.buffer(), services_.arena.offset(place.address()), abi::kParameterBuffer);
  return {};
}

Result<> Launcher::outcome(InFlight& grid) {
  const Metal& metal = services_.metal;
  const Metal::Pool pool(metal);
  const Id command_buffer = grid.command_buffer.id();
  metal.wait(command_buffer);
  grid.room.output.read(services_.output);
  abi::FaultRecord fault;
  std::memcpy(&fault, grid.room.faults.address(), sizeof fault);
  if (fault.kind != 0) {
    std::memset(grid.room.faults.address(), 0, sizeof fault);
    return fail(error_of(name_of(grid.launch), fault));
  }
  if (metal.status(command_buffer) == kStatusCompleted) return {};
  const Id error = metal.error(command_buffer);
  const Ending ending = ending_of(error ? metal.code(error) : 0);
  return fail(ending.code, "kernel {}: {} (Metal: {})", name_of(grid.launch), ending.meaning, metal.words(error));
}

}  // namespace cupola::metal
