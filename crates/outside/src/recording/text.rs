//! What the cores of a launch did, as one file.

use std::fmt::Write as _;

use slipring_machine::CoreKind;
use slipring_session::cpp::element_name;

use super::Recorder;

/// What one kind of core does, for each of its cores.
pub(super) struct Part {
    pub kind: CoreKind,
    pub lanes: u32,
    pub cores: Vec<String>,
    pub pipes: Vec<Pipe>,
}

/// A pipe, as all cores of a kind have it.
pub(super) struct Pipe {
    ty: String,
    buffer: String,
    /// Where its slots are in the buffer: for block 0, and from each block to the next.
    distance: [u64; 2],
    lands: [String; 2],
    pub place: String,
}

impl Part {
    /// True if any of its cores does something.
    pub fn acts(&self) -> bool {
        self.cores.iter().any(|text| !text.is_empty())
    }
}

impl Recorder<'_> {
    /// The recording as a file.
    pub fn text(&self, parts: &[Part]) -> String {
        let blocks = self.asked.blocks;
        let args: Vec<String> = self.buffers().map(|passed| format!("{}={}", passed.name, passed.text)).collect();
        let numbers: Vec<String> = self
            .passed
            .iter()
            .filter(|passed| passed.arg.value.buffer().is_none())
            .map(|p| format!("{}={}", p.name, p.text))
            .collect();
        let with = if numbers.is_empty() { String::new() } else { format!(", with {}", numbers.join(", ")) };
        let mut text = format!(
            "// A launch of `{}` of {}, recorded{with}.\n// blocks: {blocks}\n// args: {}\n\n#pragma slipring recorded\n",
            self.entry,
            self.source.shown_name(),
            args.join(" ")
        );
        for part in parts {
            let (suffix, core) = match (parts.len(), part.kind) {
                (1, CoreKind::Cube) => ("", "CUBE"),
                (1, CoreKind::Vector) => ("", "VEC"),
                (_, CoreKind::Cube) => ("_aic", "CUBE"),
                (_, CoreKind::Vector) => ("_aiv", "VEC"),
            };
            text += &self.function(&format!("{}{suffix}", self.entry), part, Some(core));
        }
        text
    }

    /// A function with what each core does.
    pub fn function(&self, name: &str, part: &Part, guard: Option<&str>) -> String {
        let own = self.asked.file.display().to_string();
        let parameters: Vec<String> = self
            .buffers()
            .map(|passed| {
                format!("__gm__ {} *{}", passed.arg.elem.and_then(element_name).unwrap_or("int8_t"), passed.name)
            })
            .collect();
        let mut text = format!("\nstatic __aicore__ void {name}({}) {{\n", parameters.join(", "));
        if let Some(core) = guard {
            let _ = writeln!(text, "#if defined(__DAV_{core}__)");
        }
        let alike = part.cores.iter().all(|core| *core == part.cores[0]);
        let several = part.cores.len() > 1 && !alike;
        if several || part.pipes.iter().any(|pipe| pipe.distance[1] > 0) {
            text += "    const int64_t this_block = get_block_idx();\n";
        }
        if several && part.lanes > 1 {
            text += "    const int64_t this_lane = get_subblockid();\n";
        }
        for (n, pipe) in part.pipes.iter().enumerate() {
            text += &pipe.declared(n);
        }
        for (at, core) in part.cores.iter().enumerate().take(if several { part.cores.len() } else { 1 }) {
            let (block, lane) = (at as u32 / part.lanes, at as u32 % part.lanes);
            match (several, part.lanes) {
                (false, _) => {}
                (true, 1) => {
                    let _ = writeln!(text, "    if (this_block == {block}) {{");
                }
                (true, _) => {
                    let _ = writeln!(text, "    if (this_block == {block} && this_lane == {lane}) {{");
                }
            }
            text += core;
            if several {
                text += "    }\n";
            }
        }
        let _ = writeln!(text, "{}}}", if guard.is_some() { "#endif\n" } else { "" });
        // The compiler was given the whole path.
        match self.asked.file.canonicalize() {
            Ok(path) => text.replace(&format!("\"{}\"", path.display()), &format!("\"{own}\"")),
            Err(_) => text,
        }
    }
}

impl Pipe {
    /// A pipe as a core wrote it.
    pub fn read(line: &str) -> Option<Pipe> {
        let [ty, buffer, distance, c2v, v2c, file, at] = line.split('|').collect::<Vec<_>>()[..] else { return None };
        let distance = [distance.parse().ok()?, 0];
        Some(Pipe {
            ty: ty.into(),
            buffer: buffer.into(),
            distance,
            lands: [c2v.into(), v2c.into()],
            place: format!("{file}:{at}"),
        })
    }

    /// Adds the pipe `n` of a core of this block to those of all cores: blocks have their slots at even distances.
    pub fn join(&self, all: &mut Vec<Pipe>, n: usize, block: u32) -> Result<(), String> {
        let Some(first) = all.get_mut(n) else {
            if block > 0 && self.distance[0] > 0 {
                return Err("the first block has fewer pipes".into());
            }
            all.push(Pipe {
                ty: self.ty.clone(),
                buffer: self.buffer.clone(),
                lands: self.lands.clone(),
                place: self.place.clone(),
                ..*self
            });
            return Ok(());
        };
        if (&first.ty, &first.buffer, &first.lands) != (&self.ty, &self.buffer, &self.lands) {
            return Err("its pipes are not those of the first core".into());
        }
        if block == 1 && first.distance[1] == 0 {
            first.distance[1] = self.distance[0].saturating_sub(first.distance[0]);
        }
        match first.distance[0] + u64::from(block) * first.distance[1] == self.distance[0] {
            true => Ok(()),
            false => Err("the slots of blocks lie at uneven distances in memory".into()),
        }
    }

    /// The pipe as C++ declares it.
    fn declared(&self, n: usize) -> String {
        let Pipe { ty, buffer, distance: [first, each], lands: [c2v, v2c], place } = self;
        let (file, line) = place.rsplit_once(':').unwrap_or(("", "0"));
        let line = if line == "0" { String::new() } else { format!("#line {line} \"{file}\"\n") };
        let memory = match (first, each) {
            (0, 0) => buffer.clone(),
            (_, 0) => format!("{buffer} + {first}"),
            _ => format!("{buffer} + ((int64_t){first} + this_block * (int64_t){each})"),
        };
        format!("{line}    auto p{n} = {ty}({memory}, {c2v}, {v2c});\n")
    }
}
