// Launches `@KERNEL@` once: reads `inputs`, writes `outputs`. Made by slipring; the identity ties outputs to this project.
#include <acl/acl.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <vector>

extern "C" void slipring_launch(uint32_t blocks, void *stream, void *const *arguments);
@DECLARATIONS@
namespace {
enum class Passed { Buffer, Scratch, Scalar, Flags };

struct Argument {
    const char *name;
    Passed passed;
    std::size_t bytes;
};

const char *const IDENTITY = "@IDENTITY@";
const uint32_t BLOCKS = @BLOCKS@;
const std::vector<Argument> ARGUMENTS = {
@ARGUMENTS@};

[[noreturn]] void fail(const std::string &what)
{
    std::fprintf(stderr, "error: %s\n", what.c_str());
    std::exit(2);
}

void check(aclError code, const std::string &what)
{
    if (code != ACL_SUCCESS) {
        fail(what + " failed with " + std::to_string(static_cast<int>(code)));
    }
}

std::vector<char> read(std::size_t n, std::size_t bytes)
{
    std::string name = "inputs/" + std::to_string(n) + ".bin";
    std::ifstream file(name, std::ios::binary);
    std::vector<char> all(bytes);
    if (!file.read(all.data(), static_cast<std::streamsize>(bytes)) || file.peek() != EOF) {
        fail(name + " is missing or does not have " + std::to_string(bytes) + " bytes");
    }
    return all;
}

void write(const std::string &name, const char *from, std::size_t bytes)
{
    std::ofstream file(name, std::ios::binary | std::ios::trunc);
    file.write(from, static_cast<std::streamsize>(bytes));
    file.close();
    if (!file) {
        fail("cannot write " + name);
    }
}
} // namespace

int main()
{
    mkdir("outputs", 0777);
    // Outputs of an earlier launch are none of this one.
    std::remove("outputs/identity");
    const char *device = std::getenv("ACL_DEVICE_ID");
    int id = device == nullptr ? 0 : std::atoi(device);
    aclrtStream stream = nullptr;
    check(aclInit(nullptr), "aclInit");
    check(aclrtSetDevice(id), "aclrtSetDevice");
    check(aclrtCreateStream(&stream), "aclrtCreateStream");
    std::vector<std::vector<char>> held(ARGUMENTS.size());
    std::vector<void *> places(ARGUMENTS.size(), nullptr);
    for (std::size_t n = 0; n < ARGUMENTS.size(); n++) {
        const Argument &argument = ARGUMENTS[n];
        switch (argument.passed) {
        case Passed::Scalar:
            held[n] = read(n, argument.bytes);
            places[n] = held[n].data();
            continue;
        case Passed::Flags:
@FLAGS@            continue;
        case Passed::Buffer:
            held[n] = read(n, argument.bytes);
            break;
        case Passed::Scratch:
            held[n].assign(argument.bytes, 0);
            break;
        }
        if (argument.bytes == 0) {
            continue;
        }
        check(aclrtMalloc(&places[n], argument.bytes, ACL_MEM_MALLOC_HUGE_FIRST),
              std::string("aclrtMalloc for ") + argument.name);
        check(aclrtMemcpy(places[n], argument.bytes, held[n].data(), argument.bytes, ACL_MEMCPY_HOST_TO_DEVICE),
              std::string("aclrtMemcpy of ") + argument.name);
    }
    slipring_launch(BLOCKS, stream, places.data());
    check(aclrtSynchronizeStream(stream), "the kernel (aclrtSynchronizeStream)");
    for (std::size_t n = 0; n < ARGUMENTS.size(); n++) {
        const Argument &argument = ARGUMENTS[n];
        if (argument.passed != Passed::Buffer) {
            continue;
        }
        if (argument.bytes != 0) {
            check(aclrtMemcpy(held[n].data(), argument.bytes, places[n], argument.bytes, ACL_MEMCPY_DEVICE_TO_HOST),
                  std::string("aclrtMemcpy of ") + argument.name);
        }
        write("outputs/" + std::to_string(n) + ".bin", held[n].data(), argument.bytes);
    }
    for (std::size_t n = 0; n < ARGUMENTS.size(); n++) {
        bool own = ARGUMENTS[n].passed == Passed::Buffer || ARGUMENTS[n].passed == Passed::Scratch;
        if (own && places[n] != nullptr) {
            check(aclrtFree(places[n]), "aclrtFree");
        }
    }
    check(aclrtDestroyStream(stream), "aclrtDestroyStream");
    check(aclrtResetDevice(id), "aclrtResetDevice");
    check(aclFinalize(), "aclFinalize");
    // Last of all: who finds it has everything.
    write("outputs/identity", IDENTITY, std::string(IDENTITY).size());
    std::printf("outputs are written: python3 compare.py\n");
    return 0;
}
