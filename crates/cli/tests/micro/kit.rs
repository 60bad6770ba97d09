//! A program around one vector instruction.

use std::fmt::Write;

use slipring::Bound;
use slipring_machine::built_in;

use crate::dice::Dice;
use crate::ready::Ready;

/// Bytes of a register.
pub const BYTES: usize = 256;

/// A lane type: its name and its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ty(pub &'static str, pub usize);

impl Ty {
    pub fn lanes(self) -> usize {
        BYTES / self.1
    }

    pub fn vreg(self) -> String {
        format!("!pto.vreg<{}x{}>", self.lanes(), self.0)
    }

    /// Width of its predicates.
    pub fn mask(self) -> usize {
        (8 * self.1).min(32)
    }
}

/// A program around `text`, lines of a vector function. Its parameters have 8 registers' bytes for results and the same
/// size for each input. The text refers to `%a`, `%b`, … (the inputs, as byte pointers), `%out` (a byte pointer), `%c0`
/// and numbers that `more` defines.
pub fn program(more: &str, text: &str, inputs: usize) -> String {
    let mut program =
        String::from("module attributes {pto.target_arch = \"a5\"} {\n  func.func @one(%dst: !pto.ptr<i8>");
    for i in 0..inputs {
        write!(program, ", %src{i}: !pto.ptr<i8>").unwrap();
    }
    program += ") {\n  %c0 = arith.constant 0 : index\n  %c1 = arith.constant 1 : index\n  %whole = arith.constant 2048 : index\n";
    let window = "!pto.partition_tensor_view<1x2048xi8>";
    let tile = "!pto.tile_buf<vec, 1x2048xi8>";
    let mut bring = |buffer: &str, at: usize, name: &str| {
        writeln!(
            program,
            "  %{name}_at = arith.constant {at} : i64
  %{name} = pto.castptr %{name}_at : i64 -> !pto.ptr<i8, ub>
  %{name}_tile = pto.alloc_tile addr = %{name}_at : {tile}
  %{name}_all = pto.make_tensor_view %{buffer}, shape = [%c1, %whole], strides = [%whole, %c1] : !pto.tensor_view<1x2048xi8>
  %{name}_view = pto.partition_view %{name}_all, offsets = [%c0, %c0], sizes = [%c1, %whole] : !pto.tensor_view<1x2048xi8> -> {window}
  pto.tload ins(%{name}_view : {window}) outs(%{name}_tile : {tile})"
        )
        .unwrap();
    };
    bring("dst", 0, "out");
    for i in 0..inputs {
        bring(&format!("src{i}"), 4096 * (i + 1), ["a", "b", "c", "d"][i]);
    }
    write!(
        program,
        "{more}
  pto.set_flag[\"PIPE_MTE2\", \"PIPE_V\", \"EVENT_ID0\"]
  pto.wait_flag[\"PIPE_MTE2\", \"PIPE_V\", \"EVENT_ID0\"]
  pto.vecscope {{
{text}
  }}
  pto.set_flag[\"PIPE_V\", \"PIPE_MTE3\", \"EVENT_ID0\"]
  pto.wait_flag[\"PIPE_V\", \"PIPE_MTE3\", \"EVENT_ID0\"]
  pto.tstore ins(%out_tile : {tile}) outs(%out_view : {window})
  pto.barrier #pto.pipe<PIPE_ALL>
  return
  }}
}}
"
    )
    .unwrap();
    program
}

/// Runs `text`, lines of a vector function, on `inputs`, and returns the contents of its output.
pub fn run(more: &str, text: &str, inputs: &[&[u8]]) -> Vec<u8> {
    let program = program(more, text, inputs.len());
    let padded = |bytes: &[u8]| {
        let mut bytes = bytes.to_vec();
        bytes.resize(2048, 0);
        Bound::buffer(bytes)
    };
    let values: Vec<_> = std::iter::once(padded(&[])).chain(inputs.iter().map(|input| padded(input))).collect();
    let ready = Ready::of("micro", &program, &built_in("a5").unwrap());
    let ran = ready.unwrap_or_else(|said| panic!("{}\n{program}", said.join("\n"))).run(&values);
    assert!(ran.result.findings.is_empty(), "{:?}\n{program}", ran.result.findings);
    ran.buffer(&values, 0).unwrap().to_vec()
}

/// Lines that load register `%name` from byte pointer `%name`, for lanes of a type.
pub fn load_reg(name: &str, ty: Ty) -> String {
    format!(
        "    %{name}_p = pto.castptr %{name} : !pto.ptr<i8, ub> -> !pto.ptr<{0}, ub>
    %v{name} = pto.vlds %{name}_p[%c0] : !pto.ptr<{0}, ub> -> {1}\n",
        ty.0,
        ty.vreg()
    )
}

/// Lines that store register `%name` as output `at`.
pub fn store_reg(name: &str, ty: Ty, at: usize) -> String {
    format!(
        "    %at{at} = arith.constant {} : index
    %out{at} = pto.castptr %out : !pto.ptr<i8, ub> -> !pto.ptr<{2}, ub>
    pto.vsts %{name}, %out{at}[%at{at}] : {1}, !pto.ptr<{2}, ub>\n",
        at * ty.lanes(),
        ty.vreg(),
        ty.0,
    )
}

/// Lines that make `%m`, active in the first `count` lanes.
pub fn mask(ty: Ty, count: usize) -> String {
    let bits = ty.mask();
    format!(
        "    %count = arith.constant {count} : i32
    %m, %rest = pto.plt_b{bits} %count : i32 -> !pto.mask<b{bits}>, i32\n"
    )
}

/// Bytes of lanes.
pub fn bytes<const N: usize, T>(lanes: impl IntoIterator<Item = T>, f: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    lanes.into_iter().flat_map(f).collect()
}

/// Numbers for lanes: special values first, then spread values.
pub fn noise(seed: u64, count: usize) -> Vec<u64> {
    let mut dice = Dice::new(seed);
    (0..count).map(|_| dice.word()).collect()
}
