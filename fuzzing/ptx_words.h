#pragma once

#include <cstddef>
#include <cstdint>

/// Changes a text of PTX by whole words and lines, so that more of what comes out is PTX still: a word becomes another
/// of the text or of the tables of types, modifiers, spaces and special registers; a line goes, comes twice, or changes
/// places. For LLVMFuzzerCustomMutator, whose arguments and result these are.
size_t change_words(uint8_t* data, size_t size, size_t most, unsigned seed);
