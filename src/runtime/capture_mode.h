#pragma once

namespace cupola::runtime {

/// By CUDA's numbers (CUstreamCaptureMode).
enum class CaptureMode { Global = 0, ThreadLocal = 1, Relaxed = 2 };

}  // namespace cupola::runtime
