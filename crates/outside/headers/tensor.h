#pragma once
#include "runtime.hpp"

struct PTOBufferHandle {
    uint64_t addr, size;
};

/// A tensor of the public runtime, as far as kernels read it.
struct ChipTensor {
    PTOBufferHandle buffer;
    uint64_t start_offset;
    uint32_t ndims;
    uint32_t shapes[5];
    uint32_t strides[5];
};
using Tensor = ChipTensor;
