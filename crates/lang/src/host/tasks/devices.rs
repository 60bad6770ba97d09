//! Several devices: a host function starts functions on each, with memory for each device.

use std::collections::BTreeSet;
use std::rc::Rc;

use ruff_python_ast::ExprCall;
use slipring_ir::{Diagnostic, Span};
use slipring_tasks::Origin;
use slipring_tile::Elem;

use super::super::value::HostValue;
use super::extents;
use crate::dtype::DType;
use crate::host::recorder::{Arg, Buffer, Groups};
use crate::host::state::Host;
use crate::host::value::unknown;
use crate::host::view::{DeviceWindow, View};
use crate::questions::Question;
use crate::value::{Const, Domain};

/// Granularity in bytes of the devices' parts.
const PART: u64 = 512;

/// Parameters of builtins that exist only in a host function for several devices.
const WORDS: [(&str, &str); 3] = [
    ("pld.alloc_window_buffer", "size/shape, *, dtype=, name="),
    ("pld.window", "buf, shape, *, dtype"),
    ("pld.world_size", ""),
];

/// The parameters of such a builtin.
pub(super) fn takes(word: &str) -> Option<&'static str> {
    WORDS.iter().find(|(own, _)| *own == word).map(|(_, takes)| *takes)
}

impl<'a> Host<'a> {
    /// `pld.…` in a host function.
    pub(super) fn distributed(&mut self, word: &str, call: &'a ExprCall, span: Span) -> HostValue<'a> {
        let args = self.arguments(call, &[]);
        let plain = ["system.", "tensor."].iter().find_map(|p| word.strip_prefix(p)).unwrap_or(word);
        let bound = if self.rec().stopped { None } else { self.bound(&format!("pld.{plain}"), &args, span) };
        let Some(bound) = bound else { return unknown(span, "what stopped the program") };
        let ty = match bound.get("dtype") {
            Some(HostValue::Const(Const::DType(ty))) => Some(ty),
            _ => None,
        };
        let (elem, truths) = (ty.and_then(DType::stored), ty == Some(DType::Bool));
        match plain {
            "world_size" => self.cores(Question::Devices, span),
            "alloc_window_buffer" => {
                let size = bound.get("size");
                let extents = size.as_ref().and_then(|size| match size {
                    HostValue::Const(Const::Int(n)) => u64::try_from(*n).ok().map(|n| vec![n]),
                    other => extents(other),
                });
                let Some(extents) = extents else {
                    let value = size.unwrap_or_else(|| unknown(span, "no size"));
                    return self.not_known(&value, "the size of this buffer", span);
                };
                let bytes = elem.map_or(1, |elem| elem.bytes() as u64);
                let bytes = extents.iter().try_fold(bytes, |all, n| all.checked_mul(*n)).filter(|n| *n <= 1 << 40);
                let Some(bytes) = bytes.filter(|n| *n > 0) else {
                    return self.stop_at("argument", span, "a buffer that is empty, or larger than any memory");
                };
                let buffer = self.rec().buffers.len();
                let known = if let Groups::Known(groups) = &self.rec().groups { groups.get(buffer) } else { None };
                let group = known.filter(|own| !own.is_empty()).map(|own| own.as_slice().into());
                self.rec().buffers.push(Buffer { bytes, span, tensor: None, group, used: BTreeSet::new() });
                HostValue::Window(Rc::new(DeviceWindow { buffer, view: None }))
            }
            "window" => match (bound.get("buf"), bound.get("shape").as_ref().and_then(extents), elem) {
                (Some(HostValue::Window(window)), Some(shape), Some(elem)) => {
                    let bytes = shape.iter().try_fold(elem.bytes() as u64, |all, n| all.checked_mul(*n));
                    let (own, place) =
                        (self.rec().buffers[window.buffer].bytes, self.rec().buffers[window.buffer].span);
                    if bytes.is_none_or(|bytes| bytes > own) {
                        let message =
                            format!("a window {} {elem} of a buffer of {own} bytes", crate::value::show(&shape));
                        return self.stop(Diagnostic::error("bounds", span, message).also(place, "the buffer"));
                    }
                    HostValue::Window(Rc::new(DeviceWindow {
                        buffer: window.buffer,
                        view: Some((shape, elem, truths)),
                    }))
                }
                _ => self.stop_at("argument", span, "`pld.window` takes a buffer, a shape and `dtype=`"),
            },
            other => {
                let error =
                    Diagnostic::error(slipring_ir::Kind::Unsupported, span, format!("`pld.{other}` is not followed"));
                self.stop(
                    error
                        .help("what devices do with each other's memory is not run: each has its own part of a window"),
                )
            }
        }
    }

    /// The number of devices.
    pub(super) fn ranks(&mut self, span: Span) -> Option<u64> {
        if self.rec().devices.is_none() {
            self.cores(Question::Devices, span);
        }
        self.rec().devices
    }

    /// The arguments of a start without `device=`, with windows replaced by that device's part; and the device.
    pub(super) fn on_device(&mut self, args: Vec<Arg<'a>>, takes_it: bool) -> (Vec<Arg<'a>>, Option<i64>) {
        let mut device = None;
        let mut own: Vec<Arg<'a>> = Vec::new();
        for (name, value, span) in args {
            match (&value, name.as_deref()) {
                (HostValue::Const(Const::Int(n)), Some("device")) if !takes_it => device = Some((*n, span)),
                _ => own.push((name, value, span)),
            }
        }
        if let Some((n, span)) = device
            && let Some(ranks) = self.ranks(span)
            && !(0..ranks as i64).contains(&n)
        {
            let message = format!("there is no device {n}: the program runs on {ranks}, counted from 0");
            self.stop(Diagnostic::error("argument", span, message).help("`--devices N` says how many"));
        }
        let device = device.map(|own| own.0).or(self.rec().device);
        for (_, value, span) in &mut own {
            let HostValue::Window(window) = value else { continue };
            let window = window.clone();
            let Some(device) = device.filter(|_| window.view.is_some()) else {
                let error = Diagnostic::error("argument", *span, "this window is of no device yet");
                *value = self.stop(error.help("start the function on one: `device=r`"));
                continue;
            };
            self.rec().buffers[window.buffer].used.insert(device as u64);
            if self.rec().groups == Groups::Asked {
                continue;
            }
            let Some(view) = self.window_on(&window, device as u64, *span) else { break };
            *value = HostValue::Device(view);
        }
        (own, device)
    }

    /// A device's part of a window.
    pub(super) fn window_on(&mut self, window: &DeviceWindow, rank: u64, span: Span) -> Option<Rc<View>> {
        let (shape, elem, truths) = window.view.as_ref()?;
        let devices = self.devices_of(window, span)?;
        let Some(own) = devices.iter().position(|own| *own == rank) else {
            self.stop_at("argument", span, format!("device {rank} has no part of this memory"));
            return None;
        };
        let (own, ranks) = (own as u64, devices.len() as u64);
        let size = elem.bytes() as u64;
        let Buffer { bytes, span: place, tensor, .. } = self.rec().buffers[window.buffer];
        // Parts of devices begin where a separate allocation would.
        let part = bytes.next_multiple_of(PART);
        let tensor = tensor.unwrap_or_else(|| {
            let name = format!("window{}", window.buffer);
            let view = self.rec().tensor(&name, *elem, &[ranks, part / size], Origin::Filled, place);
            // Windows are initialised with zeros.
            self.fill(&view, "0");
            self.rec().graph.tensors[view.tensor].devices = devices.iter().map(|own| *own as u32).collect();
            self.rec().buffers[window.buffer].tensor = Some(view.tensor);
            view.tensor
        });
        let stride = part / size;
        Some(Rc::new(View {
            tensor,
            elem: *elem,
            offset: own * stride,
            shape: shape.clone(),
            strides: crate::host::view::dense_strides(shape),
            tracked: true,
            domain: Some(Domain { rank: own, ranks, stride }),
            truths: *truths,
        }))
    }

    /// The devices that have a part of a window: those on which the host starts something that uses it.
    pub(super) fn devices_of(&mut self, window: &DeviceWindow, span: Span) -> Option<Rc<[u64]>> {
        match self.rec().buffers[window.buffer].group.clone() {
            Some(group) => Some(group),
            None => self.ranks(span).map(|ranks| (0..ranks).collect()),
        }
    }

    /// Signals for a collective without an explicit one: an integer for each of its devices, in separate memory.
    pub(super) fn own_signals(&mut self, devices: &Rc<[u64]>, span: Span) -> Rc<DeviceWindow> {
        let (ranks, group) = (devices.len() as u64, Some(devices.clone()));
        self.rec().buffers.push(Buffer { bytes: ranks * 4, span, tensor: None, group, used: BTreeSet::new() });
        let buffer = self.rec().buffers.len() - 1;
        Rc::new(DeviceWindow { buffer, view: Some((vec![ranks], Elem::I32, false)) })
    }
}
