"""`python3 -m unittest discover scripts/conformance`: reading host programs."""

import tempfile
import unittest
from pathlib import Path

import host

MAIN = """
bool readAll(const char *path, void *dst, size_t size) {
  return ReadFile(path, n, dst, size);
}
void LaunchScale(float *a, int16_t *b, int64_t n, void *stream);
int main() {
  constexpr size_t kRows = 4;
  size_t bytes = kRows * 8 * sizeof(float);   // 128
  size_t half = 2 * (kRows + 4) * sizeof(int16_t);
  CHECK(aclrtMalloc((void **)&inDevice, bytes, HUGE));
  CHECK(aclrtMalloc((void **)(&outDevice), half, HUGE));
  ReadFile("./v2.bin", fileSize, outHost, half);
  FILE_CHECK(readAll("./v1.bin", inHost, bytes), "./v1.bin");
  CHECK(aclrtMemcpy(inDevice, bytes, inHost, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
  CHECK(aclrtMemcpy(outDevice, half, outHost, half,
                    ACL_MEMCPY_HOST_TO_DEVICE));
  LaunchScale(reinterpret_cast<float *>(inDevice), outDevice, 3, stream);
  CHECK(aclrtMemcpy(outHost, half, outDevice, half, ACL_MEMCPY_DEVICE_TO_HOST));
  WriteFile("./v2.bin", outHost, half);
}
"""
LAUNCH = """
extern "C" __global__ [aicore] void scale(__gm__ int16_t *out, __gm__ float *in, int64_t n);
void LaunchScale(float *a, int16_t *b, int64_t n, void *stream) {
  scale<<<2, nullptr, stream>>>((__gm__ int16_t *)b,
                                (__gm__ float *)a, n);
}
"""


class HostProgram(unittest.TestCase):
    def read(self, main: str, launch: str = LAUNCH) -> host.Program:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "main.cpp").write_text(main)
            (Path(folder) / "launch.cpp").write_text(launch)
            return host.read_program(Path(folder))

    def test_files_follow_the_launch_and_not_their_numbers(self):
        program = self.read(MAIN)
        self.assertEqual(program.buffers, {"inDevice": 128, "outDevice": 32})
        self.assertEqual(program.steps, [
            host.Read("inDevice", "v1.bin", 128),
            host.Read("outDevice", "v2.bin", 32, "fileSize"),
            host.Launch("scale", 2, [("buffer", "outDevice"), ("buffer", "inDevice"), ("scalar", "3:i64")]),
            host.Write("outDevice", "v2.bin", 32, "half"),
        ])

    def test_what_is_not_understood_is_an_error(self):
        for broken, message in [
            (MAIN.replace("sizeof(float)", "sizeof(complex)"), "`bytes` is not a number"),
            (MAIN.replace("outDevice, 3,", "somewhere, 3,"), "neither a buffer nor a number"),
            (MAIN.replace("  LaunchScale(reinterpret", "  Other(reinterpret"), "launches nothing"),
            (MAIN.replace("&inDevice, bytes", "&inDevice, lengthOf(x)"), "is not a number"),
        ]:
            with self.subTest(message), self.assertRaisesRegex(host.HostError, message):
                self.read(broken)


if __name__ == "__main__":
    unittest.main()
