// Stores of the scalar unit. Buffers cannot be written: a store faults, is done alone, and what it changed is recorded.
#pragma once

#include <csignal>
#include <sys/mman.h>
#include <ucontext.h>

#include "library.hpp"

namespace slipring {

/// The number that these bytes are, for an element of the recording.
inline std::string store(const Buffer &buffer, uint64_t at, uint64_t size) {
    uint64_t bits = 0;
    std::memcpy(&bits, buffer.bytes + at, size);
    float real;
    std::memcpy(&real, &bits, sizeof real);
    if (buffer.elem == "float" && size == 4 && at % 4 == 0 && std::isfinite(real)) {
        return std::string(buffer.name) + "[" + std::to_string(at / 4) + "] = " + number(real) + ";";
    }
    if (at % size != 0) refuse("the scalar unit stores to an address between two elements");
    const std::string type = "uint" + std::to_string(8 * size) + "_t";
    const std::string from = buffer.elem == type ? buffer.name : "((__gm__ " + type + " *)" + buffer.name + ")";
    return from + "[" + std::to_string(at / size) + "] = (" + type + ")" + std::to_string(bits) + "u;";
}

#if defined(__x86_64__) && defined(__linux__)

/// A store that is done alone: once on other bytes, so that what it writes is known even where it changes nothing.
struct Stepping {
    static constexpr uint64_t PAGE = 4096;
    const Buffer *buffer = nullptr;
    int phase = 0, protection = PROT_READ;
    uint8_t *first = nullptr;
    uint64_t size = 0;
    std::vector<uint8_t> before, other;
    gregset_t registers;

    /// True if a fault was a store, which is then done.
    bool begin(const Buffer &own, void *address, void *context) {
        auto &registers_now = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
        if ((registers_now[REG_ERR] & 2) == 0) return false;
        buffer = &own;
        first = reinterpret_cast<uint8_t *>(reinterpret_cast<uint64_t>(address) / PAGE * PAGE);
        const uint8_t *end = own.bytes + (own.size / PAGE + 1) * PAGE;
        size = first + 2 * PAGE <= end ? 2 * PAGE : PAGE;
        mprotect(first, size, PROT_READ | PROT_WRITE);
        before.assign(first, first + size);
        for (uint64_t n = 0; n < size; ++n) first[n] = static_cast<uint8_t>(~before[n]);
        std::memcpy(&registers, &registers_now, sizeof registers);
        phase = 1;
        registers_now[REG_EFL] |= 0x100;
        return true;
    }

    void step(void *context) {
        auto &registers_now = static_cast<ucontext_t *>(context)->uc_mcontext.gregs;
        if (phase == 1) {
            other.assign(first, first + size);
            std::memcpy(first, before.data(), size);
            std::memcpy(&registers_now, &registers, sizeof registers);
            registers_now[REG_EFL] |= 0x100;
            phase = 2;
            return;
        }
        registers_now[REG_EFL] &= ~0x100LL;
        phase = 0;
        std::vector<std::string> stores;
        for (uint64_t n = 0; n < size;) {
            auto written = [&](uint64_t n) { return n < size && (first[n] != before[n] || other[n] != static_cast<uint8_t>(~before[n])); };
            uint64_t count = 0;
            while (written(n + count)) {
                if (first[n + count] != other[n + count]) refuse("one instruction of the scalar unit reads and writes memory");
                count += 1;
            }
            const uint64_t at = first + n - buffer->bytes;
            if (count > 0 && at + count > buffer->size) refuse(std::string("the scalar unit stores behind the end of the buffer `") + buffer->name + "`");
            for (uint64_t done = 0; done < count;) {
                uint64_t part = 8;
                while (part > count - done || (at + done) % part != 0 || (part > buffer->elem_size && part != count)) part /= 2;
                stores.push_back(store(*buffer, at + done, part));
                done += part;
            }
            n += count + 1;
        }
        mprotect(first, size, protection);
        recording.written[buffer - recording.buffers->data()] = 1;
        for (const std::string &own : stores) recording.say(own);
    }
};

#else

struct Stepping {
    int protection = PROT_READ;
    bool begin(const Buffer &, void *, void *) { return false; }
    void step(void *) {}
};

#endif

inline Stepping stepping;

}  // namespace slipring
