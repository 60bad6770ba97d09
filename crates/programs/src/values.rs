//! Tensor contents before the first task, and predicates on them.

use slipring_lang::Direction;
use slipring_lang::tasks::Predicate;
use slipring_program::zeroed;
use slipring_tile::Elem;

use super::Program;
use super::lost::Meaningless;
use slipring_session::args::{Defaults, read_arg};
use slipring_session::places::Places;
use slipring_session::{Args, Error, Tensor};

/// The value of an integer element.
fn element(elem: Elem, bytes: &[u8], at: u64) -> i64 {
    let mut wide = [0u8; 8];
    let size = elem.bytes();
    let Some(own) = bytes.get(at as usize..at as usize + size) else { return 0 };
    wide[..size].copy_from_slice(own);
    let raw = i64::from_le_bytes(wide);
    let signed = matches!(elem, Elem::I8 | Elem::I16 | Elem::I32 | Elem::I64);
    let unused = 64 - 8 * size as u32;
    if signed { raw << unused >> unused } else { raw }
}

/// True if a predicate holds for the bytes of its tensor.
pub(super) fn holds(predicate: &Predicate, elem: Elem, bytes: &[u8]) -> bool {
    let value = element(elem, bytes, predicate.offset);
    match predicate.op {
        "==" => value == predicate.number,
        "!=" => value != predicate.number,
        "<" => value < predicate.number,
        "<=" => value <= predicate.number,
        ">" => value > predicate.number,
        _ => value >= predicate.number,
    }
}

/// The initial bytes of a tensor that the program creates.
pub(super) fn first_value(own: &slipring_tasks::Tensor, filled: Option<&str>) -> Result<Vec<u8>, Error> {
    match filled {
        None => zeroed(own.bytes() as usize)
            .map_err(|_| Error::Unsupported(format!("there is no memory for `{}`", own.name))),
        Some(text) => {
            let read = read_arg(text, &Defaults::default()).ok().and_then(Tensor::into_contents);
            read.ok_or_else(|| Error::Arguments(format!("`{text}` is not a first value of `{}`", own.name)))
        }
    }
}

impl Program {
    /// The tensors of the program before its first task; `windows` are the contents of those that devices share.
    pub(super) fn tensors(&self, args: &[Option<Vec<u8>>], windows: Option<&[Vec<u8>]>) -> Result<Vec<Vec<u8>>, Error> {
        let graph = self.graph();
        let mut tensors: Vec<Vec<u8>> = vec![Vec::new(); graph.tensors.len()];
        for (tensor, arg) in self.orchestration.tensor_of.iter().zip(args) {
            if let (Some(tensor), Some(data)) = (tensor, arg) {
                tensors[*tensor].clone_from(data);
            }
        }
        let passed: Vec<usize> = self.orchestration.tensor_of.iter().flatten().copied().collect();
        for (at, own) in graph.tensors.iter().enumerate().filter(|(at, _)| !passed.contains(at)) {
            tensors[at] = first_value(own, self.orchestration.filled[at].as_deref())?;
        }
        if let Some(windows) = windows {
            let own: Vec<usize> = self.windows().collect();
            if own.len() != windows.len() {
                let (n, given) = (own.len(), windows.len());
                return Err(Error::Arguments(format!(
                    "the program has {n} windows, and contents of {given} are given"
                )));
            }
            for (at, contents) in own.into_iter().zip(windows) {
                let (name, n, given) = (&graph.tensors[at].name, tensors[at].len(), contents.len());
                if n != given {
                    return Err(Error::Arguments(format!(
                        "`{name}` has {n} bytes on all devices, and {given} are given"
                    )));
                }
                tensors[at].clone_from(contents);
            }
        }
        Ok(tensors)
    }

    /// The tensors that devices share, in order of creation.
    pub(super) fn windows(&self) -> impl Iterator<Item = usize> {
        let each = self.graph().tensors.iter().enumerate();
        each.filter(|(_, own)| own.is_shared()).map(|(at, _)| at)
    }

    /// The uninitialised parts of the tensors before the first task.
    pub(super) fn nothing_at_first(&self) -> Meaningless {
        let own = &self.orchestration;
        let outputs = own.params.iter().zip(&own.tensor_of).filter(|(param, _)| param.direction == Direction::Out);
        let outputs: Vec<usize> = outputs.filter_map(|(_, tensor)| *tensor).collect();
        let returned: Vec<usize> = own.returned.iter().map(|piece| piece.tensor).collect();
        Meaningless::of(&own.graph, &outputs, &returned)
    }

    /// The bytes of the arguments; `None` for scalars.
    #[doc(hidden)]
    pub fn contents(&self, args: Args<'_>) -> Result<Vec<Option<Vec<u8>>>, Error> {
        let bound = self.bind(args)?;
        let names: Vec<&str> = self.orchestration.params.iter().map(|param| param.name.as_str()).collect();
        Places::new(&bound).refuse_shared(&names, "the tasks of a whole program are ordered by tensors")?;
        Ok(bound.iter().map(|value| value.contents().map(<[u8]>::to_vec)).collect())
    }
}
