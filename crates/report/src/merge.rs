//! Merges the facts of several runs: the tasks of a whole program.

use crate::facts::{CostFacts, PipeFacts, RingFacts, RunFacts};
use crate::record::LineFacts;
use crate::stalls::StallFacts;

impl RunFacts {
    /// Adds the work of another run: pipes by core, ops by name, rings by name, lines by number. Cycles, checks,
    /// buffers, findings and the path do not change.
    pub fn add_work(&mut self, other: &RunFacts) {
        self.instructions += other.instructions;
        self.evidence.add(&other.evidence);
        self.estimate = self.evidence.is_estimate();
        for core in &other.cores {
            if !self.cores.contains(core) {
                self.cores.push(core.clone());
            }
        }
        other.pipes.iter().for_each(|pipe| add_pipe(&mut self.pipes, pipe));
        for op in &other.ops {
            let Some(own) = self.ops.iter_mut().find(|own| own.op == op.op) else {
                self.ops.push(op.clone());
                continue;
            };
            own.count += op.count;
            own.cycles += op.cycles;
            own.bytes_read += op.bytes_read;
            own.bytes_written += op.bytes_written;
            op.costs.iter().for_each(|cost| add_cost(&mut own.costs, cost));
        }
        other.rings.iter().for_each(|ring| add_ring(&mut self.rings, ring));
        if let Some(lines) = &other.lines {
            let own = self.lines.get_or_insert_default();
            lines.iter().for_each(|line| add_line(own, line));
            own.sort_by(|a, b| a.line.cmp(&b.line));
        }
    }
}

fn add_pipe(pipes: &mut Vec<PipeFacts>, pipe: &PipeFacts) {
    let same = |own: &&mut PipeFacts| own.core == pipe.core && own.pipe == pipe.pipe;
    let Some(own) = pipes.iter_mut().find(same) else { return pipes.push(pipe.clone()) };
    own.busy += pipe.busy;
    own.operations += pipe.operations;
    own.bytes_read += pipe.bytes_read;
    own.bytes_written += pipe.bytes_written;
    own.stalled += pipe.stalled;
    add_stalls(&mut own.stalls, &pipe.stalls);
}

fn add_stalls(stalls: &mut Vec<StallFacts>, more: &[StallFacts]) {
    for stall in more {
        match stalls.iter_mut().find(|own| own.cause == stall.cause) {
            Some(own) => own.cycles += stall.cycles,
            None => stalls.push(stall.clone()),
        }
    }
}

fn add_cost(costs: &mut Vec<CostFacts>, cost: &CostFacts) {
    let Some(own) = costs.iter_mut().find(|own| own.entry == cost.entry) else { return costs.push(cost.clone()) };
    own.count += cost.count;
    own.cycles += cost.cycles;
    own.units += cost.units;
    own.rows += cost.rows;
    own.repeats += cost.repeats;
    own.evidence.add(&cost.evidence);
    own.estimate = own.evidence.is_estimate();
}

fn add_ring(rings: &mut Vec<RingFacts>, ring: &RingFacts) {
    let same = |own: &&mut RingFacts| own.name == ring.name && own.lane == ring.lane && own.direction == ring.direction;
    let Some(own) = rings.iter_mut().find(same) else { return rings.push(ring.clone()) };
    // Weighted by the number of tiles that passed through.
    let (before, now) = (own.pushed as f64, ring.pushed as f64);
    if before + now > 0.0 {
        own.mean_filled = (own.mean_filled * before + ring.mean_filled * now) / (before + now);
    }
    own.pushed += ring.pushed;
    own.popped += ring.popped;
    own.freed += ring.freed;
    own.most_filled = own.most_filled.max(ring.most_filled);
    own.producer_wait += ring.producer_wait;
    own.consumer_wait += ring.consumer_wait;
}

fn add_line(lines: &mut Vec<LineFacts>, line: &LineFacts) {
    let Some(own) = lines.iter_mut().find(|own| own.line == line.line) else {
        return lines.push(line.clone());
    };
    own.count += line.count;
    own.busy += line.busy;
    own.stalled += line.stalled;
    own.moved += line.moved;
    own.path += line.path;
    add_stalls(&mut own.stalls, &line.stalls);
    own.stalls.sort_by(|a, b| b.cycles.cmp(&a.cycles).then_with(|| a.cause.cmp(&b.cause)));
}
