//! Functions connected by pipes: the program of the Cube core and those of both Vector cores. Each is rerun from its
//! start until all tiles that it pops are available. Pushed tiles do not depend on the progress of the others, so each
//! run gets further than the previous one.

use std::collections::BTreeMap;

use crate::meaning::array::Array;
use crate::meaning::eval::{Argument, File, Run};
use crate::meaning::number;
use crate::meaning::ops::Args;
use crate::meaning::value::{Eval, Names, Value};

/// The beginning of the error for a pop whose tile is not available yet.
const WAITS: &str = "waits:";

/// The tiles that one core pushes into a pipe for another.
type Sent = BTreeMap<(bool, i128, usize), Vec<(String, Array)>>;

/// The state of a core while its function is evaluated.
#[derive(Default)]
pub struct Core {
    /// The Vector core; `None` for the Cube core.
    lane: Option<usize>,
    /// Ends of pipes: number, the only Vector core that it is for, the names of its buffers.
    ends: Vec<(i128, Option<usize>, Vec<String>)>,
    sent: Sent,
    popped: BTreeMap<(bool, i128, usize), usize>,
    /// The tiles that the other cores have pushed, and the memory that any of them has reserved.
    there: Sent,
    sizes: BTreeMap<String, i128>,
}

/// The name of the buffer that a value denotes.
fn buffer(value: &Value) -> Option<String> {
    let Value::Word(word) = value else { return None };
    Some(word.strip_prefix("buffer$")?.split('.').next()?.to_string())
}

impl Core {
    fn end(&self, args: &Args, names: &[(usize, &str)]) -> Eval<(i128, Option<usize>)> {
        for (at, name) in names {
            let Some(value) = args.get(*at, name) else { continue };
            if let Some(name) = buffer(&value) {
                let end = self.ends.iter().find(|(.., buffers)| buffers.contains(&name));
                return end.map(|(id, lane, _)| (*id, *lane)).ok_or_else(|| format!("no pipe in `{name}`"));
            }
            if let Value::Word(word) = &value
                && let Some(id) = word.strip_prefix("end$")
            {
                let id = id.parse().map_err(|_| "no pipe")?;
                return Ok((id, self.ends.iter().find(|(own, ..)| *own == id).and_then(|(_, lane, _)| *lane)));
            }
        }
        let id = args.get(usize::MAX, "id").map_or(Ok(0), |id| id.int())?;
        Ok((id, self.ends.iter().find(|(own, ..)| *own == id).and_then(|(_, lane, _)| *lane)))
    }

    fn pop(&mut self, key: (bool, i128, usize)) -> Eval<(String, Array)> {
        let at = self.popped.entry(key).or_default();
        let tile = self.there.get(&key).and_then(|list| list.get(*at)).cloned();
        *at += 1;
        tile.ok_or_else(|| format!("{WAITS} a tile of pipe {}", key.1))
    }
}

fn mode(args: &Args) -> Eval<String> {
    let Some(split) = args.get(usize::MAX, "split") else { return Ok("NONE".into()) };
    Ok(match split {
        Value::Int(n) => ["NONE", "UP_DOWN", "LEFT_RIGHT"].get(n as usize).ok_or("no such mode")?.to_string(),
        word => word.member()?.to_string(),
    })
}

/// The effect of a pipe op in one of several functions; `None` for other ops.
pub fn op(run: &mut Run<'_>, name: &str, args: &Args) -> Option<Eval> {
    let core = run.core.as_mut()?;
    Some(match name {
        "get_subblock_idx" => Ok(Value::Int(core.lane.unwrap_or(0) as i128)),
        "TFREE" => Ok(Value::None),
        "reserve_buffer" | "import_peer_buffer" => args.need(0, "name").map(|name| {
            let Value::Text(name) = name else { return Value::None };
            if let Some(Value::Int(size)) = args.get(1, "size") {
                core.sizes.insert(name.clone(), size);
            }
            Value::Word(format!("buffer${name}"))
        }),
        "aic_initialize_pipe" | "aiv_initialize_pipe" => {
            let given = ["c2v_consumer_buf", "v2c_consumer_buf", "c2v_buf", "v2c_buf"];
            let buffers = given.iter().filter_map(|name| buffer(&args.get(usize::MAX, name)?)).collect();
            let number = |name| args.get(usize::MAX, name).map(|value| value.int()).transpose();
            number("id").and_then(|id| Ok((id.unwrap_or(0), number("lane")?))).map(|(id, lane)| {
                core.ends.push((id, lane.map(|lane| lane as usize), buffers));
                Value::Word(format!("end${id}"))
            })
        }
        "TPUSH" => push(core, args),
        "TPOP" => pop(core, args),
        _ => return None,
    })
}

fn push(core: &mut Core, args: &Args) -> Eval {
    // `TPUSH(tile, pipe)`, or `TPUSH(prod, tile, fifo)`.
    let first = args.need(0, "tile")?;
    let (tile, named) = match first {
        Value::Array(tile) => (tile, [(1, "pipe"), (2, "fifo")]),
        _ => (args.array(1, "tile")?, [(0, "prod"), (2, "fifo")]),
    };
    let ((id, only), mode) = (core.end(args, &named)?, mode(args)?);
    if let Some(lane) = core.lane {
        core.sent.entry((false, id, lane)).or_default().push((mode, tile.copy()));
        return Ok(Value::None);
    }
    for lane in [0, 1].into_iter().filter(|lane| only.is_none_or(|only| only == *lane)) {
        let part = crate::meaning::ops::half(&tile, &mode, lane)?.copy();
        core.sent.entry((true, id, lane)).or_default().push((mode.clone(), part));
    }
    Ok(Value::None)
}

fn pop(core: &mut Core, args: &Args) -> Eval {
    let (id, only) = core.end(args, &[(0, "pipe"), (0, "cons"), (2, "fifo")])?;
    if let Some(lane) = core.lane {
        return core.pop((true, id, lane)).map(|(_, tile)| Value::Array(tile));
    }
    let lanes = [0, 1].into_iter().filter(|lane| only.is_none_or(|only| only == *lane));
    let parts = lanes.map(|lane| core.pop((false, id, lane))).collect::<Eval<Vec<_>>>()?;
    let [(mode, first), (_, second)] = &parts[..] else { return Ok(Value::Array(parts[0].1.clone())) };
    if mode == "NONE" {
        return Ok(Value::Array(first.clone()));
    }
    let mut shape = first.shape.clone();
    let axis = if mode == "UP_DOWN" { 0 } else { shape.len() - 1 };
    shape[axis] *= 2;
    let whole = Array::full(&shape, first.elem, f64::NAN);
    for (lane, part) in [first, second].into_iter().enumerate() {
        crate::meaning::ops::half(&whole, mode, lane)?.write(&part.values());
    }
    Ok(Value::Array(whole))
}

impl File {
    /// The bytes of each tensor after a joint run of functions whose parameters have these names.
    pub fn meet(
        &self,
        kernels: &[&str],
        names: &[&str],
        arguments: &[Argument],
        blocks: u32,
        registers: bool,
    ) -> Eval<Vec<Vec<u8>>> {
        let mut memory: BTreeMap<&str, Vec<u8>> = BTreeMap::new();
        for (name, argument) in names.iter().zip(arguments) {
            if let Argument::Tensor(bytes) = argument {
                memory.insert(name, bytes.clone());
            }
        }
        for block in 0..blocks {
            let mut cores: Vec<(&str, Core, bool)> = Vec::new();
            for kernel in kernels {
                let is_cube = self.says(kernel, "aic_initialize_pipe");
                let lanes = if is_cube { vec![None] } else { vec![Some(0), Some(1)] };
                cores.extend(lanes.into_iter().map(|lane| (*kernel, Core { lane, ..Core::default() }, false)));
            }
            let mut written: Vec<BTreeMap<String, Vec<u8>>> = vec![BTreeMap::new(); cores.len()];
            loop {
                let mut further = false;
                for at in 0..cores.len() {
                    if cores[at].2 {
                        continue;
                    }
                    let (mut there, mut sizes) = (Sent::new(), BTreeMap::new());
                    for (_, core, _) in &cores {
                        there.extend(core.sent.iter().map(|(key, list)| (*key, list.clone())));
                        sizes.extend(core.sizes.clone());
                    }
                    let core = Core { lane: cores[at].1.lane, there, sizes, ..Core::default() };
                    let before = (cores[at].1.sent.values().map(Vec::len).sum::<usize>(), cores[at].1.sizes.len());
                    let mut run = self.begun(block, blocks, registers)?;
                    run.core = Some(core);
                    let outcome = one(&mut run, cores[at].0, names, arguments, &memory);
                    cores[at].1 = run.core.take().unwrap_or_default();
                    match outcome {
                        Ok(arrays) => (written[at], cores[at].2, further) = (arrays, true, true),
                        Err(why) if why.starts_with(WAITS) => {
                            let own = &cores[at].1;
                            further |= (own.sent.values().map(Vec::len).sum::<usize>(), own.sizes.len()) != before;
                        }
                        Err(why) => return Err(why),
                    }
                }
                if cores.iter().all(|(.., done)| *done) {
                    break;
                }
                if !further {
                    return Err("no core goes on".into());
                }
            }
            let before = memory.clone();
            for own in written {
                for (name, bytes) in own {
                    let Some((was, now)) = before.get(name.as_str()).zip(memory.get_mut(name.as_str())) else {
                        continue;
                    };
                    for ((byte, was), now) in bytes.iter().zip(was).zip(now) {
                        if byte != was {
                            *now = *byte;
                        }
                    }
                }
            }
        }
        Ok(names.iter().filter_map(|name| memory.remove(name)).collect())
    }
}

/// Runs one core's program from its start, and returns the contents of its tensors.
fn one(
    run: &mut Run<'_>,
    kernel: &str,
    names: &[&str],
    arguments: &[Argument],
    memory: &BTreeMap<&str, Vec<u8>>,
) -> Eval<BTreeMap<String, Vec<u8>>> {
    let (mut parameters, mut tensors) = (Names::new(), Vec::new());
    for (name, shape, elem) in run.parameters(kernel)? {
        let at = names.iter().position(|own| *own == name).ok_or_else(|| format!("no argument for `{name}`"))?;
        let value = match (&arguments[at], shape) {
            (Argument::Tensor(_), Some(shape)) => {
                let bytes = memory.get(name.as_str()).ok_or("no tensor")?;
                let array = Array::parameter(&shape, elem.ok_or("a tensor of no type")?, bytes);
                tensors.push((name.clone(), array.clone()));
                Value::Array(array)
            }
            (Argument::Bits(bits), None) => match elem {
                None => Value::Bool(*bits != 0),
                Some(slipring_tile::Elem::F32) => Value::Single(f32::from_bits(*bits as u32)),
                Some(elem) => Value::Int(number::load(elem, &bits.to_le_bytes()[..elem.bytes()]) as i128),
            },
            _ => return Err(format!("the argument for `{name}` is of another kind")),
        };
        parameters.insert(name, value);
    }
    run.names = parameters;
    run.body_of(kernel)?;
    Ok(tensors.into_iter().map(|(name, array)| (name, array.bytes())).collect())
}

impl Run<'_> {
    /// An attribute of a buffer or an end of a pipe.
    pub fn of_a_pipe(&self, word: &str, name: &str) -> Option<Eval> {
        let buffer = word.strip_prefix("buffer$");
        match (buffer, name) {
            (Some(buffer), "size") => {
                let size = self.core.as_ref()?.sizes.get(buffer).copied();
                Some(size.map(Value::Int).ok_or_else(|| format!("{WAITS} the size of `{buffer}`")))
            }
            (Some(_), "base") => Some(Ok(Value::Word(word.into()))),
            (None, "prod" | "cons") if word.starts_with("end$") => Some(Ok(Value::Word(word.into()))),
            _ => None,
        }
    }
}
