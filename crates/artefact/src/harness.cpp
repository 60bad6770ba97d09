// Runs a kernel on the CPU back end of the public headers: a thread for the Cube core of each block, one for each of its Vector
// cores. Arguments are the files `arg0`, `arg1`, …; what is left of them is written to `left0`, `left1`, ….
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#if defined(__clang__)
// What older runtime libraries of the compiler do not have: rounding to 16 bits.
extern "C" __bf16 __truncsfbf2(float number)
{
    uint32_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    bool nan = (bits & 0x7fffffffu) > 0x7f800000u;
    bits = nan ? bits | 0x400000u : bits + 0x7fffu + ((bits >> 16) & 1u);
    uint16_t half_bits = static_cast<uint16_t>(bits >> 16);
    __bf16 result;
    std::memcpy(&result, &half_bits, sizeof result);
    return result;
}
extern "C" __bf16 __truncdfbf2(double number) { return __truncsfbf2(static_cast<float>(number)); }
#endif

#include <pto/pto-inst.hpp>

// The file is compiled for both kinds of core.
#undef __DAV_CUBE__
#undef __DAV_VEC__
namespace on_vector {
#define __DAV_VEC__ 1
#include "kernel.cpp"
#undef __DAV_VEC__
} // namespace on_vector
namespace on_cube {
#define __DAV_CUBE__ 1
#include "kernel.cpp"
#undef __DAV_CUBE__
} // namespace on_cube

namespace {
std::vector<std::vector<char>> arguments;
std::map<std::string, void *> shared;
std::mutex guard;

template <typename T>
T argument(std::size_t n)
{
    if constexpr (std::is_pointer_v<T>) {
        return reinterpret_cast<T>(arguments[n].data());
    } else {
        T value{};
        std::memcpy(&value, arguments[n].data(), std::min(sizeof value, arguments[n].size()));
        return value;
    }
}

template <typename... P, std::size_t... N>
void call(void (*kernel)(P...), std::index_sequence<N...>)
{
    kernel(argument<P>(N)...);
}

template <typename... P>
void call(void (*kernel)(P...))
{
    call(kernel, std::index_sequence_for<P...>{});
}
} // namespace

// What the cores of a block share of a pipe.
extern "C" void *pto_cpu_sim_get_shared_storage(std::string key, std::size_t size)
{
    std::lock_guard<std::mutex> lock(guard);
    void *&place = shared[key];
    if (place == nullptr) {
        std::size_t whole = (size + 63) / 64 * 64;
        place = std::aligned_alloc(64, whole);
        std::memset(place, 0, whole);
    }
    return place;
}

int main(int, char **words)
{
    int blocks = std::atoi(words[1]), count = std::atoi(words[2]);
    for (int n = 0; n < count; n++) {
        std::ifstream file("arg" + std::to_string(n), std::ios::binary);
        arguments.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    std::vector<std::thread> cores;
    for (int block = 0; block < blocks; block++) {
        cores.emplace_back([block] {
            pto::cpu_sim::set_execution_context(block, 0, 1);
            call(on_cube::SLIPRING_KERNEL);
        });
        for (int lane = 0; lane < 2; lane++) {
            cores.emplace_back([block, lane] {
                pto::cpu_sim::set_execution_context(block, lane, 2);
                call(on_vector::SLIPRING_KERNEL);
            });
        }
    }
    for (auto &core : cores) {
        core.join();
    }
    for (int n = 0; n < count; n++) {
        std::ofstream file("left" + std::to_string(n), std::ios::binary);
        file.write(arguments[n].data(), static_cast<std::streamsize>(arguments[n].size()));
    }
    return 0;
}
