// A launch: the kernel's entry is called once for each core of each block, each in a process of its own.
#pragma once

#include <csignal>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "runtime.hpp"
#include "stores.hpp"

namespace slipring {

/// An argument of the launch.
struct Given {
    bool is_buffer;
    Buffer buffer;
    std::vector<uint32_t> dims;
    long long whole;
    double real;
    bool is_real;
    /// True for a number of 64 bits that only a type without a sign has.
    bool is_large;
};

inline std::vector<Given> given;
inline std::vector<Buffer> buffers;
/// Buffers that this launch writes: nobody may look at them.
inline std::vector<bool> hidden;
/// Where a core writes what it recorded, or why it did not.
inline FILE *answer = nullptr;
/// The runtime's list of arguments, of which it fills the last for each core.
inline int64_t list[64];

inline void put(const char *kind, const std::string &text) {
    std::fprintf(answer, "%s %s:%u\n%s", kind, recording.at.line ? recording.at.file : "", recording.at.line, text.c_str());
    std::fclose(answer);
}

[[noreturn]] inline void refuse(const std::string &why) {
    put("refused", why + "\n");
    _exit(0);
}

/// Memory was touched that a recording cannot follow.
inline void fault(int, siginfo_t *info, void *context) {
    const auto *at = static_cast<const uint8_t *>(info->si_addr);
    for (size_t n = 0; n < buffers.size(); ++n) {
        const Buffer &buffer = buffers[n];
        if (at >= buffer.bytes && at < buffer.bytes + buffer.size) {
            stepping.protection = hidden[n] ? PROT_NONE : PROT_READ;
            if (stepping.begin(buffer, info->si_addr, context)) return;
            refuse(std::string("the scalar unit reads the buffer `") + buffer.name +
                   "`, which this launch writes: a recording holds no number that is known only when it runs");
        }
    }
    if (info->si_addr < reinterpret_cast<void *>(1 << 16)) refuse("it follows a null pointer: does the launch have all arguments?");
    refuse("it reads or writes memory that is no buffer of this launch");
}
inline void stepped(int, siginfo_t *, void *context) { stepping.step(context); }
inline void late(int) { refuse("it did not end in time: does it wait for what another core writes to memory?"); }

template <class P>
P converted(const Given &own) {
    if constexpr (std::is_pointer_v<P>) {
        if (!own.is_buffer && !own.is_real && own.whole == 0) return nullptr;
        if (!own.is_buffer) refuse("a pointer parameter is given a number");
        return reinterpret_cast<P>(own.buffer.bytes);
    } else {
        if (own.is_buffer) refuse("a number is expected where a buffer is given");
        if (own.is_large) return static_cast<P>(static_cast<unsigned long long>(own.whole));
        return own.is_real ? static_cast<P>(own.real) : static_cast<P>(own.whole);
    }
}

template <class T>
constexpr bool is_defined = requires { sizeof(T); };

/// The runtime's form: all arguments in one list.
template <class Tensor, class Local, class Global>
void fill_list() {
    static std::vector<std::vector<uint8_t>> kept;
    if (given.size() > 48) refuse("the runtime's list has room for 48 arguments");
    for (size_t n = 0; n < given.size(); ++n) {
        const Given &own = given[n];
        if (!own.is_buffer) {
            const float real = static_cast<float>(own.real);
            list[n] = own.whole;
            if (own.is_real) std::memcpy(&list[n], &real, sizeof real);
            continue;
        }
        list[n] = reinterpret_cast<int64_t>(own.buffer.bytes);
        if constexpr (is_defined<Tensor>) {
            auto *tensor = static_cast<Tensor *>(std::aligned_alloc(64, (sizeof(Tensor) + 63) / 64 * 64));
            std::memset(static_cast<void *>(tensor), 0, sizeof(Tensor));
            tensor->buffer.addr = list[n];
            tensor->buffer.size = own.buffer.size;
            tensor->ndims = own.dims.size();
            uint32_t stride = 1;
            for (size_t d = own.dims.size(); d-- > 0; stride *= own.dims[d]) {
                tensor->shapes[d] = own.dims[d];
                tensor->strides[d] = stride;
            }
            if constexpr (requires { tensor->is_contiguous; }) tensor->is_contiguous = true;
            list[n] = reinterpret_cast<int64_t>(tensor);
        }
    }
    if constexpr (is_defined<Local>) {
        auto *local = static_cast<Local *>(std::calloc(1, sizeof(Local)));
        if constexpr (requires { local->block_idx; }) local->block_idx = recording.block;
        if constexpr (requires { local->block_num; }) local->block_num = recording.blocks;
        list[48] = reinterpret_cast<int64_t>(local);
    }
    if constexpr (is_defined<Global>) {
        auto *global = static_cast<Global *>(std::calloc(1, sizeof(Global)));
        if constexpr (requires { global->sub_block_id; }) global->sub_block_id = recording.lane;
        list[49] = reinterpret_cast<int64_t>(global);
    }
}

template <class Tensor, class Local, class Global, class... P, size_t... N>
void enter(void (*entry)(P...), std::index_sequence<N...>) {
    constexpr bool runtime = std::is_same_v<std::tuple<P...>, std::tuple<int64_t *>>;
    if constexpr (runtime) {
        fill_list<Tensor, Local, Global>();
        entry(list);
    } else {
        if (given.size() != sizeof...(P)) {
            refuse("the entry takes " + std::to_string(sizeof...(P)) + " arguments, and " + std::to_string(given.size()) + " are given");
        }
        entry(converted<P>(given[N])...);
    }
}
template <class Tensor, class Local, class Global, class... P>
void enter(void (*entry)(P...)) {
    enter<Tensor, Local, Global>(entry, std::index_sequence_for<P...>{});
}
template <class Tensor, class Local, class Global>
void enter(const Absent &) {}
/// A template that is not compiled for this kind of core.
template <class Tensor, class Local, class Global>
void enter(void (*)(Absent)) {}

/// `launch FOLDER SECONDS MOST-BYTES BLOCKS LANES HIDDEN ARGUMENT…`: `HIDDEN` has a digit for each buffer, 1 where the kernel may not look at it;
/// an argument is `b:NAME:FILE:ELEM:ELEM-SIZE:DIM:DIM…`, `i:NUMBER`, `u:NUMBER` (beyond 63 bits) or `f:NUMBER`.
template <class Tensor, class Local, class Global, class E>
int launch(int count, char **words, E &&entry) {
    if (count < 7) return 2;
    const std::string folder = words[1];
    const int seconds = std::atoi(words[2]), blocks = std::atoi(words[4]), lanes = std::atoi(words[5]);
    const std::string digits = words[6];
    for (int n = 7; n < count; ++n) {
        std::vector<std::string> parts(1);
        for (const char *c = words[n]; *c; ++c) {
            if (*c == ':') parts.emplace_back();
            else parts.back() += *c;
        }
        Given own{};
        if (parts[0] == "b") {
            const int file = open((folder + "/" + parts[2]).c_str(), O_RDONLY);
            struct stat facts;
            if (file < 0 || fstat(file, &facts) != 0) return 2;
            const size_t page = 4096, size = facts.st_size, room = (size / page + 1) * page;
            // The pages around a buffer are nobody's.
            auto *memory = static_cast<uint8_t *>(mmap(nullptr, room + 2 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
            if (memory == MAP_FAILED) return 2;
            mprotect(memory + page, room, PROT_READ | PROT_WRITE);
            for (size_t done = 0; done < size;) {
                const ssize_t got = read(file, memory + page + done, size - done);
                if (got <= 0) return 2;
                done += got;
            }
            close(file);
            hidden.push_back(digits.at(buffers.size()) == '1');
            mprotect(memory + page, room, hidden.back() ? PROT_NONE : PROT_READ);
            own.is_buffer = true;
            own.buffer = {strdup(parts[1].c_str()), memory + page, size, parts[3], std::strtoull(parts[4].c_str(), nullptr, 10)};
            for (size_t d = 5; d < parts.size(); ++d) own.dims.push_back(std::atoi(parts[d].c_str()));
            buffers.push_back(own.buffer);
        } else if (parts[0] == "f") {
            own.is_real = true;
            own.real = std::strtod(parts[1].c_str(), nullptr);
        } else if (parts[0] == "u") {
            own.is_large = true;
            own.whole = static_cast<long long>(std::strtoull(parts[1].c_str(), nullptr, 10));
        } else {
            own.whole = std::strtoll(parts[1].c_str(), nullptr, 10);
        }
        given.push_back(own);
    }
    auto *written = static_cast<uint8_t *>(
        mmap(nullptr, buffers.size() + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    if (written == MAP_FAILED) return 2;
    for (int core = 0; core < blocks * lanes; ++core) {
        const std::string file = folder + "/core" + std::to_string(core);
        const pid_t child = fork();
        if (child < 0) return 2;
        if (child == 0) {
            answer = std::fopen(file.c_str(), "w");
            if (answer == nullptr) _exit(2);
            recording.block = core / lanes, recording.blocks = blocks;
            recording.lane = core % lanes, recording.lanes = lanes;
            recording.buffers = &buffers, recording.written = written;
            recording.most = std::strtoull(words[3], nullptr, 10);
            struct sigaction on_fault {};
            on_fault.sa_sigaction = fault;
            on_fault.sa_flags = SA_SIGINFO;
            sigaction(SIGSEGV, &on_fault, nullptr);
            sigaction(SIGBUS, &on_fault, nullptr);
            struct sigaction on_step {};
            on_step.sa_sigaction = stepped;
            on_step.sa_flags = SA_SIGINFO;
            sigaction(SIGTRAP, &on_step, nullptr);
            std::signal(SIGALRM, late);
            alarm(seconds);
            enter<Tensor, Local, Global>(entry);
            recording.at = {"", 0};
            put("recorded", recording.pipes + "\n" + recording.text);
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            FILE *said = std::fopen(file.c_str(), "w");
            if (said == nullptr) return 2;
            std::fprintf(said, "refused :0\nits process ended before the kernel did (%d)\n", status);
            std::fclose(said);
        }
    }
    FILE *facts = std::fopen((folder + "/written").c_str(), "w");
    if (facts == nullptr) return 2;
    for (size_t n = 0; n < buffers.size(); ++n) std::fputc(written[n] ? '1' : '0', facts);
    std::fclose(facts);
    return 0;
}

}  // namespace slipring
