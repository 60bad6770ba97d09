//! Splits a record by block.

use std::collections::BTreeMap;

use super::{Doing, Record};

impl Record {
    /// The record of each block, in the order in which they started. Times remain relative to the launch; signals from
    /// other blocks are no longer causes.
    pub fn apart(&self) -> Vec<Record> {
        let place: BTreeMap<u32, usize> = self.blocks.iter().enumerate().map(|(at, own)| (own.block, at)).collect();
        let own = self.blocks.iter().map(|block| Record {
            blocks: vec![*block],
            cycles: block.end.unwrap_or(self.cycles),
            clock_mhz: self.clock_mhz,
            ..Record::default()
        });
        let mut parts: Vec<Record> = own.collect();
        // The position of each happening in its part.
        let mut moved: Vec<(usize, u32)> = Vec::with_capacity(self.happenings.len());
        for happening in &self.happenings {
            let at = place.get(&happening.agent.block).copied().unwrap_or(0);
            let Some(part) = parts.get_mut(at) else { continue };
            moved.push((at, part.happenings.len() as u32));
            let mut own = *happening;
            let touches = self.touches_of(&happening.doing);
            if let Doing::Work { touches: (first, _), .. } = &mut own.doing {
                *first = part.touches.len() as u32;
                part.touches.extend_from_slice(touches);
            }
            part.happenings.push(own);
        }
        for (at, part) in parts.iter_mut().enumerate() {
            for own in &mut part.happenings {
                let cause = own.cause.and_then(|old| moved.get(old as usize));
                own.cause = cause.filter(|(of, _)| *of == at).map(|(_, new)| *new);
            }
        }
        parts
    }
}
