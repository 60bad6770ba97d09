//! `slipring trace`: launches of handwritten C++ kernels, recorded with this machine's compiler.

use std::process::Output;

use crate::here::{self, Folder};

/// A kernel as people write them: a template, two alternating buffers, a macro; flags both ways.
const ADD: &str = r#"#include <pto/pto-inst.hpp>
using namespace pto;

#define ROWS 2
template <typename T, int R, int C>
AICORE inline void run_add(__gm__ T *z, __gm__ T *x, __gm__ T *y, uint32_t rows) {
    using View = GlobalTensor<T, Shape<1, 1, 1, R, C>, Stride<1, 1, 1, C, 1>>;
    using Part = Tile<TileType::Vec, T, R, C, BLayout::RowMajor, -1, -1>;
    Part a[2] = {Part(R, C), Part(R, C)}, b[2] = {Part(R, C), Part(R, C)};
    for (int n = 0; n < 2; ++n) {
        TASSIGN(a[n], n * R * C * sizeof(T));
        TASSIGN(b[n], (n + 2) * R * C * sizeof(T));
        set_flag(PIPE_MTE3, PIPE_MTE2, (event_t)n);
    }
    const uint32_t first = get_block_idx() * rows / R;
    for (uint32_t i = 0; i < rows / R; ++i) {
        const int n = i % 2;
        View from_x(x + (first + i) * R * C), from_y(y + (first + i) * R * C), to(z + (first + i) * R * C);
        wait_flag(PIPE_MTE3, PIPE_MTE2, (event_t)n);
        TLOAD(a[n], from_x);
        TLOAD(b[n], from_y);
        set_flag(PIPE_MTE2, PIPE_V, (event_t)n);
        wait_flag(PIPE_MTE2, PIPE_V, (event_t)n);
        TADD(b[n], a[n], b[n]);
        set_flag(PIPE_V, PIPE_MTE3, (event_t)n);
        wait_flag(PIPE_V, PIPE_MTE3, (event_t)n);
        TSTORE(to, b[n]);
        set_flag(PIPE_MTE3, PIPE_MTE2, (event_t)n);
    }
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID0);
    wait_flag(PIPE_MTE3, PIPE_MTE2, EVENT_ID1);
}

extern "C" __global__ AICORE void add(GM_ADDR x, GM_ADDR y, GM_ADDR z, uint32_t rows) {
    run_add<float, ROWS, 64>((__gm__ float *)z, (__gm__ float *)x, (__gm__ float *)y, rows);
}

void launch_add(uint32_t blocks, void *stream, uint8_t *x, uint8_t *y, uint8_t *z, uint32_t rows) {
    add<<<blocks, nullptr, stream>>>(x, y, z, rows);
}
"#;

/// The runtime's form: a Cube and a Vector part in one entry, and a pipe between them.
const MIXED: &str = r#"#include <pto/pto-inst.hpp>
#include "tensor.h"
#include "intrinsic.h"
using namespace pto;

using Sum = TileAcc<float, 64, 64>;
using Half = Tile<TileType::Vec, float, 32, 64>;
using Pipe = TPipe<0, Direction::DIR_C2V, 32 * 64 * sizeof(float), 2>;

template <class T>
static __aicore__ __gm__ T *memory(__gm__ int64_t *args, int n) {
    auto *tensor = reinterpret_cast<__gm__ ChipTensor *>(args[n]);
    return reinterpret_cast<__gm__ T *>(tensor->buffer.addr) + tensor->start_offset;
}

extern "C" __aicore__ void kernel_entry(__gm__ int64_t *args) {
    Half half;
    Pipe pipe(nullptr, 0, 0);
#if defined(__DAV_CUBE__)
    using View = GlobalTensor<float, Shape<1, 1, 1, 64, 64>, Stride<4096, 4096, 4096, 64, 1>>;
    Tile<TileType::Mat, float, 64, 64, BLayout::ColMajor, 64, 64, SLayout::RowMajor> a, b;
    TileLeft<float, 64, 64> left;
    TileRight<float, 64, 64> right;
    Sum sum;
    TASSIGN(a, 0x0);
    TASSIGN(b, 0x20000);
    TASSIGN(left, 0x0);
    TASSIGN(right, 0x0);
    TASSIGN(sum, 0x0);
    View of_a(memory<float>(args, 0)), of_b(memory<float>(args, 1));
    TLOAD(a, of_a);
    TLOAD(b, of_b);
    set_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_MTE1, EVENT_ID0);
    TMOV(left, a);
    TMOV(right, b);
    set_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    wait_flag(PIPE_MTE1, PIPE_M, EVENT_ID0);
    TMATMUL(sum, left, right);
    set_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    wait_flag(PIPE_M, PIPE_FIX, EVENT_ID0);
    TPUSH<Pipe, Sum, TileSplitAxis::TILE_UP_DOWN>(pipe, sum);
#else
    using View = GlobalTensor<float, Shape<1, 1, 1, 32, 64>, Stride<2048, 2048, 2048, 64, 1>>;
    View part(memory<float>(args, 2) + get_sub_block_id(args) * 32 * 64);
    Half c;
    TASSIGN(c, 0x4000);
    TLOAD(c, part);
    TPOP<Pipe, Half, TileSplitAxis::TILE_UP_DOWN>(pipe, half);
    set_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    wait_flag(PIPE_MTE2, PIPE_V, EVENT_ID0);
    TADD(c, c, half);
    TFREE<Pipe, TileSplitAxis::TILE_UP_DOWN>(pipe);
    set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
    TSTORE(part, c);
#endif
}
"#;

/// A folder with a kernel.
struct Traced(Folder);

impl Traced {
    fn new(name: &str, kernel: &str) -> Traced {
        let folder = Folder::empty(&format!("trace-{name}"));
        folder.write("kernel.cpp", kernel);
        Traced(folder)
    }

    fn call(&self, words: &str) -> Output {
        let mut command = here::slipring();
        command.current_dir(&self.0.0).args(words.split_whitespace()).output().unwrap()
    }

    /// Standard output of a successful command.
    fn well(&self, words: &str) -> String {
        let output = self.call(words);
        assert_eq!(output.status.code(), Some(0), "{words}\n{}{}", said(&output), told(&output));
        said(&output)
    }

    /// Standard error of a command that exits with this code.
    fn ends(&self, code: i32, words: &str) -> String {
        let output = self.call(words);
        assert_eq!(output.status.code(), Some(code), "{words}\n{}{}", said(&output), told(&output));
        told(&output)
    }
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The arguments of [`ADD`].
const ARGS: &str = "--arg x=full:f32[16x64]=1.5 --arg y=iota:f32[16x64] --arg z=zeros:f32[16x64]";

#[test]
fn a_template_with_two_buffers_is_recorded_and_clean() {
    let folder = Traced::new("add", ADD);
    for arch in ["a5", "a2a3"] {
        folder.well(&format!("trace kernel.cpp --entry add --arch {arch} --blocks 2 {ARGS} --arg 8 -o add.cpp"));
        let text = folder.well(&format!("run add.cpp --arch {arch} --verify"));
        // 0 + 1.5, 1 + 1.5, …, 1023 + 1.5.
        assert!(text.contains("1.50000 to 1024.50000") && text.contains("1.50000 2.50000 3.50000"), "{text}");
        assert!(text.contains("race    clean") && text.contains("verify  clean"), "{text}");
        assert!(text.contains("given that") && text.contains("the launch goes as it was recorded"), "{text}");
        assert!(folder.well(&format!("prove add.cpp --arch {arch}")).contains("the launch goes as it was recorded"));
    }
}

#[test]
fn a_host_function_launches_the_kernel() {
    let folder = Traced::new("host", ADD);
    let words = format!("trace kernel.cpp --entry launch_add --blocks 2 --arg 2 --arg 0 {ARGS} --arg 8 -o add.cpp");
    folder.well(&words);
    let text = folder.well("run add.cpp");
    assert!(text.contains("1.50000 to 1024.50000"), "{text}");
    let error = folder.ends(2, &words.replace("--blocks 2", "--blocks 3"));
    assert!(error.contains("the host launches 2 blocks"), "{error}");
    // A launch in a header, next to text that only resembles one.
    let (kernel, launch) = ADD.split_at(ADD.find("void launch_add").unwrap());
    folder.0.write("launch.h", launch);
    let more = "// add<<<1>>>(x)\nconst char *const HOW = \"add<<<1>>>(x)\";\n#include \"launch.h\"\n";
    folder.0.write("kernel.cpp", kernel.to_string() + more);
    folder.well(&words);
    assert!(folder.well("run add.cpp").contains("1.50000 to 1024.50000"));
}

#[test]
fn a_race_is_shown_on_the_lines_of_its_author() {
    let missing = "        wait_flag(PIPE_MTE2, PIPE_V, (event_t)n);\n";
    let folder = Traced::new("race", &ADD.replace(missing, ""));
    folder.well(&format!("trace kernel.cpp --entry add {ARGS} --arg 16 -o add.cpp"));
    let error = folder.ends(1, "run add.cpp");
    let line = |text: &str| ADD.replace(missing, "").lines().position(|own| own.contains(text)).unwrap() + 1;
    assert!(error.contains(&format!("--> kernel.cpp:{}:9", line("TADD("))), "{error}");
    assert!(error.contains("|         TADD(b[n], a[n], b[n]);") && error.contains("TLOAD(a[n], from_x);"), "{error}");
}

#[test]
fn a_kernel_of_both_kinds_of_cores_is_one_kernel() {
    let folder = Traced::new("mixed", MIXED);
    let args = "--arg a=full:f32[64x64]=0.5 --arg b=full:f32[64x64]=2 --arg c=full:f32[64x64]=1";
    folder.well(&format!("trace kernel.cpp --arch a5 {args} -o mixed.cpp"));
    // 64 × 0.5 × 2 + 1.
    folder.well("run mixed.cpp --arch a5 --verify --expect c=full:f32[64x64]=65");
}

#[test]
fn what_cannot_be_recorded_is_said_at_its_place() {
    let kernel = "#include <pto/pto-inst.hpp>\n\
        using namespace pto;\n\
        extern \"C\" __global__ AICORE void own(__gm__ float *x) {\n    \
            GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<64, 64, 64, 64, 1>> view(x);\n    \
            Tile<TileType::Vec, float, 1, 64> t;\n    \
            TASSIGN(t, 0);\n    \
            TLOAD(t, view);\n    \
            BODY\n\
        }\n";
    for (body, says) in [
        (
            "TSTORE(view, t); if (x[3] > 0) pipe_barrier(PIPE_ALL);",
            "the scalar unit reads the buffer `x`, which this launch writes",
        ),
        ("if (t.GetValue(0) > 0) pipe_barrier(PIPE_ALL);", "it reads an element of a tile"),
        ("*(float *)t.data() = 1;", "it reads or writes local memory by a pointer"),
        ("for (;;) {}", "it did not end in time"),
        ("Tile<TileType::Vec, float, 1, 64> u; TADD(t, t, u);", "a tile has no address"),
        ("vadd(t, t);", "does not compile for the Vector cores"),
        (
            "TLOAD(t, GlobalTensor<float, Shape<1, 1, 1, 1, 64>, Stride<1, 1, 1, 64, 1>>((float *)64));",
            "none of the buffers",
        ),
    ] {
        let folder = Traced::new("refused", &kernel.replace("BODY", body));
        let error = folder.ends(2, "trace kernel.cpp --core vector --seconds 5 --arg x=zeros:f32[64] -o out.cpp");
        assert!(error.contains("error[recording]") && error.contains(says), "{body}\n{error}");
        assert!(error.contains("kernel.cpp:8:") || error.contains("kernel.cpp:7:"), "{body}\n{error}");
        assert!(!folder.0.file("out.cpp").exists());
    }
}

#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
#[test]
fn stores_of_the_scalar_unit_are_recorded() {
    let kernel = "#include <pto/pto-inst.hpp>\n\
        extern \"C\" __global__ AICORE void own(__gm__ float *x, __gm__ int32_t *n, __gm__ half *h) {\n    \
            x[get_block_idx() * 16] = 0.0f;\n    \
            x[get_block_idx() * 16 + 1] = -2.5f;\n    \
            n[get_block_idx() * 16] = 7 + get_block_idx();\n    \
            h[get_block_idx() * 32 + 1] = (half)1.5f;\n    \
            dcci(x + get_block_idx() * 16, 0);\n    \
            dcci(n + get_block_idx() * 16, 0);\n    \
            dcci(h + get_block_idx() * 32, 0);\n\
        }\n";
    let folder = Traced::new("stores", kernel);
    folder.well(
        "trace kernel.cpp --arch a2a3 --core vector --blocks 2 --arg x=full:f32[32]=9 --arg n=zeros:i32[32] \
         --arg h=zeros:f16[64] -o own.cpp",
    );
    let error = folder.ends(2, "trace kernel.cpp --arg x=zeros:f32[32] --arg n=zeros:i32[32] --arg h=zeros:f16[64]");
    assert!(error.contains("nothing that tells which kind of core it is for"), "{error}");
    let text = folder.well("run own.cpp --arch a2a3");
    // A zero stored over a nine counts as a store, too.
    assert!(text.contains("0 -2.50000 9") && text.contains("7 0 0") && text.contains("0 1.50000 0"), "{text}");
}

#[test]
fn wrong_questions_have_answers() {
    let folder = Traced::new("wrong", ADD);
    let error = folder.ends(2, "trace none.cpp");
    assert!(error.contains("cannot read `none.cpp`"), "{error}");
    let error = folder.ends(2, &format!("trace kernel.cpp --entry add {ARGS}"));
    assert!(error.contains("the entry takes 4 arguments, and 3 are given"), "{error}");
    let error = folder.ends(2, "trace kernel.cpp --entry add --arg x=zeros:64");
    assert!(error.contains("needs the element type of a buffer"), "{error}");
    let error = folder.ends(2, &format!("trace kernel.cpp --entry add --cxx no/such/compiler {ARGS} --arg 8"));
    assert!(error.contains("needs a C++ compiler"), "{error}");
    let error = folder.ends(2, &format!("trace kernel.cpp --entry \"add;\" {ARGS} --arg 8"));
    assert!(error.contains("is not the name of a function"), "{error}");
    folder.0.write("two.cpp", "__global__ void a() {}\n__global__ void b() {}\n");
    let error = folder.ends(2, "trace two.cpp");
    assert!(error.contains("has several entries") && error.contains("a, b"), "{error}");
}

/// A kernel that is a template, and the host function that launches it.
const TEMPLATE: &str = r#"#include <pto/pto-inst.hpp>
#include <pto/common/utils.hpp>
using namespace pto;
template <int N, class T>
__global__ AICORE void fill(__gm__ T *out) {
    Tile<TileType::Vec, T, 1, 32> t;
    TASSIGN(t, 0);
    TEXPANDS(t, (T)-N);
    PtoSetWaitFlag<PIPE_V, PIPE_MTE3>();
    GlobalTensor<T, Shape<1, 1, 1, 1, 32>, Stride<32, 32, 32, 32, 1>> view(out);
    TSTORE(view, t);
}
template <int N>
void launch(aclFloat16 *out, void *stream) {
    fill<N, half><<<1, nullptr, stream>>>((half *)out);
}
template void launch<3>(aclFloat16 *out, void *stream);
"#;

#[test]
fn a_template_is_entered_with_its_arguments() {
    let folder = Traced::new("template", TEMPLATE);
    let arg = "--arg out=zeros:f16[32]";
    for (entry, name, stream) in [("fill<3,half>", "fill_3_half", ""), ("launch<3>", "launch_3", " --arg 0")] {
        let text = folder.well(&format!("trace kernel.cpp --entry {entry} {arg}{stream}"));
        assert!(text.contains(&format!("A launch of `{entry}`")) && text.contains(&format!("void {name}(")), "{text}");
        folder.0.write("out.cpp", text);
        folder.well("run out.cpp --expect out=full:f16[32]=-3");
    }
    let error = folder.ends(2, &format!("trace kernel.cpp {arg}"));
    let told = ["the entry `fill` is a template", "`<int N, class T>`", "kernel.cpp:5:", "--entry 'fill<…>'"];
    assert!(told.iter().all(|part| error.contains(part)), "{error}");
    // A template of a header is not seen until it is compiled; the user has no file of the launch.
    folder.0.write("own.h", TEMPLATE);
    folder.0.write("with.cpp", "#include \"own.h\"\n");
    folder.0.write("main.cpp", "int main() {}\n");
    for entry in ["fill", "fill<half>"] {
        let error = folder.ends(2, &format!("trace with.cpp --entry {entry} {arg}"));
        assert!(error.contains(&format!("`{entry}` cannot be entered on the Cube core")), "{error}");
        assert!(error.contains("with its arguments") && !error.contains("main.cpp"), "{error}");
    }
    for entry in ["fill<3", "fill<3>(out)", "<3>", "fill<3>;"] {
        let error = folder.ends(2, &format!("trace kernel.cpp --entry {entry} {arg}"));
        assert!(error.contains(&format!("`{entry}` is not the name of a function")), "{error}");
    }
}

#[test]
fn a_template_for_one_kind_of_core_is_no_entry_of_the_other() {
    let guarded = TEMPLATE.replace("template <int N, class T>", "#ifdef __DAV_VEC__\ntemplate <int N, class T>");
    let guarded = guarded.replace("template <int N>", "#endif\ntemplate <int N>");
    let folder = Traced::new("guarded", guarded.split("template <int N>\n").next().unwrap());
    for (entry, arg) in [("fill<2,half>", "f16"), ("fill<2,float>", "f32")] {
        folder.well(&format!("trace kernel.cpp --entry {entry} --arg out=zeros:{arg}[32] -o out.cpp"));
        folder.well(&format!("run out.cpp --expect out=full:{arg}[32]=-2"));
    }
}

/// A kernel with this body and two buffers.
fn with_body(types: &str, body: &str) -> String {
    format!(
        "#include <pto/pto-inst.hpp>\nusing namespace pto;\n\
         extern \"C\" __global__ AICORE void own({types}) {{\n{body}\n}}\n"
    )
}

#[test]
fn numbers_keep_their_values_in_a_recording() {
    let body = "
        Tile<TileType::Vec, uint32_t, 1, 32> a; TASSIGN(a, 0);
        Tile<TileType::Vec, uint8_t, 1, 32> b; TASSIGN(b, 128);
        Tile<TileType::Vec, float, 1, 32> c; TASSIGN(c, 256);
        Tile<TileType::Vec, half, 1, 32> d; TASSIGN(d, 512);
        TEXPANDS(a, n);
        TEXPANDS(b, (uint8_t)200);
        TEXPANDS(c, m == 18446744073709551615ull ? 1.5f : 0.0f);
        TEXPANDS(d, (half)-2.0f);
        set_flag(PIPE_V, PIPE_MTE3, EVENT_ID0); wait_flag(PIPE_V, PIPE_MTE3, EVENT_ID0);
        using S = Shape<1, 1, 1, 1, 32>; using D = Stride<32, 32, 32, 32, 1>;
        GlobalTensor<uint32_t, S, D> v(p); GlobalTensor<uint8_t, S, D> w(q);
        GlobalTensor<float, S, D> x(r); GlobalTensor<half, S, D> y(s);
        TSTORE(v, a); TSTORE(w, b); TSTORE(x, c); TSTORE(y, d);";
    let types = "__gm__ uint32_t *p, __gm__ uint8_t *q, __gm__ float *r, __gm__ half *s, uint32_t n, uint64_t m";
    let folder = Traced::new("numbers", &with_body(types, body));
    folder.well(
        "trace kernel.cpp --arg p=zeros:ui32[32] --arg q=zeros:ui8[32] --arg r=zeros:f32[32] --arg s=zeros:f16[32] \
         --arg 4000000000 --arg 18446744073709551615 -o out.cpp",
    );
    folder.well(
        "run out.cpp --expect p=full:ui32[32]=4000000000 --expect q=full:ui8[32]=200 --expect r=full:f32[32]=1.5 \
         --expect s=full:f16[32]=-2",
    );
}

#[test]
fn extents_without_a_template_argument_are_given_by_the_call() {
    let body = "
        using Rows = Shape<1, 1, 1>; using Pitch = Stride<128, 128, 128>;
        GlobalTensor<float, Shape<>, Stride<>> a(p, Shape<>(1, 1, 1, rows, 16), Stride<>(128, 128, 128, 16, 1));
        GlobalTensor<float, Rows, Pitch> b(q, Rows(rows, 16), Pitch(16, 1));
        GlobalTensor<float, Shape<-1, -1, -1, -1, -1>, Stride<-1, -1, -1, -1, -1>>
            c(r, pto::Shape(1, 1, 1, rows, 16), pto::Stride(128, 128, 128, 16, 1));
        Tile<TileType::Vec, float, 8, 16> t; TASSIGN(t, 0);
        TLOAD(t, a); pipe_barrier(PIPE_ALL); TSTORE(b, t); TSTORE(c, t);";
    let types = "__gm__ float *p, __gm__ float *q, __gm__ float *r, int rows";
    let folder = Traced::new("extents", &with_body(types, body));
    folder.well(
        "trace kernel.cpp --core vector --arg p=iota:f32[8x16] --arg q=zeros:f32[8x16] --arg r=zeros:f32[8x16] --arg 8 \
         -o out.cpp",
    );
    folder.well("run out.cpp --expect q=iota:f32[8x16] --expect r=iota:f32[8x16]");
}

#[test]
fn flags_and_addresses_among_the_arguments_are_recorded() {
    let body = "
        using I = Tile<TileType::Vec, int32_t, 1, 8>; using F = Tile<TileType::Vec, float, 1, 8>;
        using W = Tile<TileType::Vec, float, 1, 512>;
        I up, a, b; TASSIGN(up, 0); TASSIGN(a, 32); TASSIGN(b, 64); W w; TASSIGN(w, 2048);
        F c, d, t; TASSIGN(c, 96); TASSIGN(d, 128); TASSIGN(t, 160);
        TCI<I, int32_t, 0>(up, 0);
        TCI<I, int32_t, 1>(a, 7);
        TCI<I, W, int32_t, 1>(b, 7, w);
        TEXPANDS(c, 2.0f);
        pipe_barrier(PIPE_ALL);
        TADD(a, a, up); TADD(b, b, up); TCOLSUM(d, c, t, true);
        pipe_barrier(PIPE_ALL);
        using S = Shape<1, 1, 1, 1, 8>; using D = Stride<8, 8, 8, 8, 1>;
        GlobalTensor<int32_t, S, D> x(p), y(q); GlobalTensor<float, S, D> z(r);
        TSTORE(x, a); TSTORE(y, b); TSTORE(z, d);";
    let folder = Traced::new("flags", &with_body("__gm__ int32_t *p, __gm__ int32_t *q, __gm__ float *r", body));
    folder.well(
        "trace kernel.cpp --core vector --arg p=zeros:i32[8] --arg q=zeros:i32[8] --arg r=zeros:f32[8] -o out.cpp",
    );
    // What counts up and what counts down from 7 are 7 together.
    folder.well("run out.cpp --expect p=full:i32[8]=7 --expect q=full:i32[8]=7 --expect r=full:f32[8]=2");
}

#[test]
fn names_of_the_public_headers_mean_what_they_say() {
    let body = "
        using T = Tile<TileType::Vec, float, 1, 32, BLayout::RowMajor, 1, 32, SLayout::NoneBox, TileConfig::fractalABSize>;
        static_assert(CUBE_BLOCK_SIZE / C0_SIZE_BYTE == FRACTAL_NZ_ROW && TMP_UB_OFFSET == 184 * 1024);
        static_assert(GetTileLayoutCustom<T>() == TileLayoutCustom::ND && isSupportType<T::DType, half, float>);
        static_assert(std::is_same_v<aclFloat16, uint16_t> && CeilDivision(33, 16) == 3 && CeilAlignment(33, 16) == 48);
        uint64_t quant = NoQuant;
        T t, u; TASSIGN(t, quant); TASSIGN(u, 256);
        GlobalTensor<float, Shape<1, 1, 1, 1, 32>, Stride<32, 32, 32, 32, 1>> view(x);
        TLOAD(t, view);
        PtoSetWaitFlag<PIPE_MTE2, PIPE_V>();
        TEXPANDS(u, 3.0f);
        pipe_barrier(PIPE_V);
        TFMOD<FmodAlgorithm::DEFAULT>(t, t, u);
        PtoSetWaitFlag<PIPE_V, PIPE_MTE3>(EVENT_ID1, EVENT_ID1);
        TSTORE(view, t);";
    let folder = Traced::new("names", &with_body("__gm__ float *x", body));
    folder.well("trace kernel.cpp --core vector --arg x=full:f32[32]=5 -o out.cpp");
    folder.well("run out.cpp --expect x=full:f32[32]=2");
}

#[test]
fn what_the_public_headers_do_and_nobody_models_is_refused_by_name() {
    let tile = "Tile<TileType::Vec, float, 1, 32, BLayout::RowMajor, 1, 32, SLayout::NoneBox, 512,";
    let left = "TileLeft<float, 16, 16> a; TASSIGN(a, 0); a.SetKAligned(true);";
    for (arch, body, says) in [
        ("a5", format!("{tile} PadValueCustom(-1.0f)> t; TASSIGN(t, 0); TEXPANDS(t, 1.0f);"), "`PadValueCustom`"),
        ("a5", format!("{tile} PadCustom<2>> t; TASSIGN(t, 0); TEXPANDS(t, 1.0f);"), "`PadValueCustom`"),
        (
            "a5",
            format!("{tile} PadValue::Null, CompactMode::RowAlignedPadding> t; TASSIGN(t, 0); TEXPANDS(t, 1.0f);"),
            "`CompactMode::RowAlignedPadding`",
        ),
        ("a2a3", left.to_string(), "`SetKAligned`"),
        (
            "a5",
            "using P = TPipe<0, Direction::DIR_C2V, 4096, 2>; P p(nullptr, 0, 0); \
             TFREE<P, TileSplitAxis::TILE_UP_DOWN_ODD>(p);"
                .to_string(),
            "`TileSplitAxis::TILE_UP_DOWN_ODD`",
        ),
    ] {
        let folder = Traced::new("unmodelled", &with_body("__gm__ float *x", &body));
        let error = folder.ends(2, &format!("trace kernel.cpp --arch {arch} --core vector --arg x=zeros:f32[32]"));
        assert!(error.contains(says) && error.contains("not modelled"), "{body}\n{error}");
    }
}
