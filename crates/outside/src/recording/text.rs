//! Writes the activity of all cores of a launch as one file.

use std::fmt::Write as _;

use slipring_machine::CoreKind;
use slipring_session::cpp::element_name;

use crate::recording::recorder::{Part, Recorder};

impl Recorder<'_> {
    /// The recording as a file.
    pub fn text(&self, parts: &[Part]) -> String {
        let blocks = self.asked.blocks;
        let args: Vec<String> = self.buffers().map(|passed| format!("{}={}", passed.name, passed.text)).collect();
        let numbers: Vec<String> = self
            .passed
            .iter()
            .filter(|passed| passed.arg.contents().is_none())
            .map(|p| format!("{}={}", p.name, p.text))
            .collect();
        let with = if numbers.is_empty() { String::new() } else { format!(", with {}", numbers.join(", ")) };
        let mut text = format!(
            "// A launch of `{}` of {}, recorded{with}.\n// blocks: {blocks}\n// args: {}\n\n#pragma slipring recorded\n",
            self.entry.written(),
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
            text += &self.function(&format!("{}{suffix}", self.entry.recorded()), part, Some(core));
        }
        text
    }

    /// A function with the activity of each core.
    pub fn function(&self, name: &str, part: &Part, guard: Option<&str>) -> String {
        let own = self.asked.file.display().to_string();
        let parameters: Vec<String> = self
            .buffers()
            .map(|passed| {
                format!("__gm__ {} *{}", passed.arg.elem().and_then(element_name).unwrap_or("int8_t"), passed.name)
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
        // The compiler was given the full path.
        match self.asked.file.canonicalize() {
            Ok(path) => text.replace(&format!("\"{}\"", path.display()), &format!("\"{own}\"")),
            Err(_) => text,
        }
    }
}
