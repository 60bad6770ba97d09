#pragma once
#include "runtime.hpp"

/// The end of a kernel: what its last pipe stores is in memory.
inline void pipe_sync(slipring::Place at = slipring::here()) {
    const pipe_t last = SLIPRING_CUBE ? PIPE_FIX : PIPE_MTE3;
    set_flag(last, PIPE_S, EVENT_ID7, at);
    wait_flag(last, PIPE_S, EVENT_ID7, at);
}
