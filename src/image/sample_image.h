#pragma once

#include <string>

#include "image/kernel_image.h"
#include "image/metal_image.h"

namespace cupola::image {

/// For tests: a small image with every kind of thing in it. Its code is one byte per kernel and cannot run.
inline KernelImage sample_image() {
  KernelImage image;
  image.target = "cpu:x86-64-v3:1";
  Kernel kernel;
  kernel.info = {.name = "_Z3addPfi",
                 .parameters = {{0, 8}, {8, 4}},
                 .parameter_bytes = 16,
                 .static_shared_bytes = 1024,
                 .local_bytes = 64,
                 .max_threads_per_block = 256,
                 .required_block = {16, 16, 1},
                 .registers = 20};
  kernel.entry = 8;
  kernel.wide_entries[BlockClass::Rows] = {4, true};
  kernel.wide_entries[BlockClass::Rows8] = {12, false};
  kernel.rung = Rung::ThreadLoop;
  kernel.polls = true;
  kernel.most_instructions = 12;
  image.kernels = {kernel,
                   Kernel{.info = {.name = "k"}, .unit = {std::byte{1}, std::byte{2}}, .flush_denormals = true}};
  image.symbols = {{"table", 0, 24, true}, {"end", 32, 0, false}};
  image.data.resize(32, std::byte{7});
  image.relocations = {{8, DataRelocation::Kind::DataAddress, 24}, {16, DataRelocation::Kind::CodeAddress, 9}};
  image.segment.resize(4096 + 16);
  image.segment[0] = std::byte{0xc3};
  image.slots_offset = 4096;
  image.imports = {{4096, 3}, {4104, 0}};
  image.lines = {{"a.cu", "b.h"}, {{0, 0, 7}, {4, 1, 3}, {6, 0, 0}, {8, 0, 9}}};
  return image;
}

/// The same for the metal device.
inline MetalImage sample_metal_image() {
  MetalImage image;
  image.target = "metal:msl30";
  image.kernels = {{{.name = "_Z3addPfi",
                     .parameters = {{0, 8}, {8, 4}},
                     .parameter_bytes = 16,
                     .static_shared_bytes = 1024,
                     .max_threads_per_block = 256,
                     .required_block = {16, 16, 1}},
                    "kernel__Z3addPfi",
                    ""},
                   {{.name = "_Z4walkPf"}, "", "metal: function 'walk(float*)' calls itself"}};
  image.symbols = {{"table", 0, 24, true}};
  image.data.resize(32, std::byte{7});
  image.relocations = {{8, DataRelocation::Kind::DataAddress, 24}};
  image.msl_version = 31;
  image.source = "kernel void kernel__Z3addPfi() {}\n";
  return image;
}

}  // namespace cupola::image
