#pragma once

// Kernels whose order shows in what they leave behind.

static __global__ void put(int* at, int value) {
  *at = value;
}

/// Each call appends a decimal digit.
static __global__ void digit(int* at, int value) {
  *at = *at * 10 + value;
}
