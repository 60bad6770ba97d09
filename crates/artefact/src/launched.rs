//! A launch of an exported kernel, and its arguments on the board.

use slipring::{Error, Kernel, Run, RunOptions};
use slipring_program::ParamKind;
use slipring_session::Tensor;
use slipring_tile::Elem;

/// A launch of a kernel, and its simulated run.
#[derive(Clone, Copy)]
pub struct Launched<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// The arguments.
    pub args: &'a [Tensor<'static>],
    /// The simulated run.
    pub run: &'a Run<'a>,
    /// The options of that run.
    pub options: &'a RunOptions,
}

/// A parameter of the exported kernel, in the order of the C++, with its argument.
pub(crate) struct Passing {
    pub name: String,
    /// Bytes of a buffer, or the eight of a scalar.
    pub bytes: Vec<u8>,
    /// The index of the kernel's argument; `None` for memory that the host allocates.
    pub argument: Option<usize>,
    pub elem: Option<Elem>,
    pub is_buffer: bool,
    /// Whether it holds slots of a ring in global memory: its contents after the run are unspecified.
    pub slots: bool,
}

impl Launched<'_> {
    /// The arguments of the exported kernel: those of the launch, and memory that the host allocates.
    ///
    /// # Errors
    ///
    /// If the printed text is not a kernel, which is a bug in slipring.
    pub(crate) fn passing(&self, text: &str) -> Result<Vec<Passing>, Error> {
        let printed = self.of_text("kernel.pto", text)?;
        let blocks = u64::from(self.kernel.blocks(self.options)?);
        let mut list = Vec::new();
        let mut args = self.args.iter().enumerate();
        let compiled = printed.compiled()?;
        let holding = slipring_op::ring::slot_parameters(&compiled.prepared.module, &compiled.platform);
        for param in &compiled.prepared.decoded.program.params {
            let (elem, is_buffer) = match param.kind {
                ParamKind::Scratch { bytes_per_block } => {
                    let bytes = vec![0; (bytes_per_block * blocks) as usize];
                    list.push(Passing {
                        name: param.name.clone(),
                        bytes,
                        argument: None,
                        elem: None,
                        is_buffer: true,
                        slots: true,
                    });
                    continue;
                }
                ParamKind::Buffer { elem, .. } => (Some(elem), true),
                ParamKind::Scalar(elem) => (Some(elem), false),
                ParamKind::Bool => (None, false),
            };
            let Some((at, arg)) = args.next() else {
                let message = format!("what was built takes `{}`, for which nothing was passed", param.name);
                return Err(Error::Arguments(message));
            };
            let bytes = match arg.bits() {
                None => self.run.input(at).unwrap_or_default().to_vec(),
                Some(bits) => bits.to_le_bytes().to_vec(),
            };
            let slots = holding.contains(&param.name);
            list.push(Passing { name: param.name.clone(), bytes, argument: Some(at), elem, is_buffer, slots });
        }
        Ok(list)
    }

    /// A text as a kernel for the same platform, with the same interpretations; if the text has several functions, the
    /// one with the kernel's name.
    pub(crate) fn of_text(&self, name: &str, text: &str) -> Result<Kernel, Error> {
        let compiled = self.kernel.compiled()?;
        let kernel = Kernel::from_text(name, text)?.on(compiled.platform.clone());
        Ok(match self.kernel.function_name() {
            Some(function) => kernel.function(function),
            None => kernel,
        })
    }
}
