// What the public runtime passes to a kernel: descriptions of tensors in memory, and where a core is.
#pragma once

#include "library.hpp"

// What host functions name.
using aclrtStream = void *;
using aclFloat16 = uint16_t;

// The author's own headers may define these; then they are as those say.
struct ChipTensor;
struct LocalContext;
struct GlobalContext;

namespace slipring {
/// What stands for an entry that is not compiled for this kind of core.
struct Absent {};
}  // namespace slipring
