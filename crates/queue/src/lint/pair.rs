//! A stream of two queues.

use std::rc::Rc;

use super::{Between, Linter, Order, Report};
use crate::board::Board;
use crate::capture::{Act, ActKind, Capture};
use crate::layout::Layout;
use crate::sanitize::Finding;

/// Checks each queue by itself, and their interactions.
pub(super) fn lint(capture: &Capture, board: &Board, layout: &Layout) -> Report {
    let boards = match board.pair() {
        Ok(boards) => boards,
        Err(why) => return Report { not_judged: vec![why], ..Report::default() },
    };
    let first = capture.layout_on(layout);
    let layouts = [first.clone(), first.second()];
    let mut queue = boards.into_iter().zip(layouts).map(|(board, map)| Linter::new(Rc::new(board), Rc::new(map)));
    let (Some(one), Some(two)) = (queue.next(), queue.next()) else { return Report::default() };
    let mut linters = [one, two];
    let mut found = Vec::new();
    for (index, entry) in capture.entries.iter().enumerate() {
        acts(&mut linters, capture, index, &mut found);
        if entry.waits {
            host_waits(&mut linters, &mut found);
        }
        let own = usize::from(entry.queue & 1);
        let taken = linters[1 - own].host_taken;
        linters[own].order.iter_mut().for_each(|order| order.knows(taken));
        linters[own].entry(entry.slot, &entry.bytes);
    }
    acts(&mut linters, capture, capture.entries.len(), &mut found);
    linters.iter_mut().for_each(Linter::end);
    found.extend(between(&linters));
    joined(linters.map(|linter| linter.report), found)
}

fn between([first, second]: &[Linter; 2]) -> Option<Between> {
    Some(Between::of([first.order.as_ref()?, second.order.as_ref()?]))
}

/// Passes host actions after this many records to the linter of the queue they refer to: loads may concern data written
/// by either.
fn acts(linters: &mut [Linter; 2], capture: &Capture, records: usize, found: &mut Vec<Between>) {
    for (index, act) in capture.acts_before(records) {
        match act.kind {
            ActKind::Wait => host_waits(linters, found),
            ActKind::Load { .. } => linters.iter_mut().for_each(|linter| act_of(linter, act, index)),
            _ => act_of(&mut linters[usize::from(act.queue & 1)], act, index),
        }
    }
}

/// A host action after the linter's queue has had this many records.
fn act_of(linter: &mut Linter, act: &Act, index: usize) {
    let records = linter.report.records as usize;
    linter.act(act, index as u64, records);
}

fn host_waits(linters: &mut [Linter; 2], found: &mut Vec<Between>) {
    found.extend(between(linters));
    for linter in linters {
        linter.host_waits();
        linter.order.iter_mut().for_each(Order::rests);
    }
}

/// A combined report of two queues.
fn joined(reports: [Report; 2], found: Vec<Between>) -> Report {
    let mut all = Report::default();
    for (queue, report) in (0..).zip(reports) {
        all.records += report.records;
        all.relays += report.relays;
        all.commands += report.commands;
        let own = |finding: Finding| Finding { queue: finding.act.is_none().then_some(queue), ..finding };
        all.findings.extend(report.findings.into_iter().map(own));
        report.met.into_iter().for_each(|(hazard, times)| *all.met.entry(hazard).or_default() += times);
        for (own, more) in [(&mut all.not_judged, report.not_judged), (&mut all.not_ordered, report.not_ordered)] {
            more.into_iter().for_each(|what| {
                if !own.contains(&what) {
                    own.push(what);
                }
            });
        }
    }
    let workers = "what kernels of one queue read and write besides their workers' L1, to the other queue";
    all.not_judged.push(workers.into());
    for between in found {
        for finding in between.races.into_iter().chain(between.stuck) {
            *all.met.entry(finding.hazard).or_default() += 1;
            all.findings.push(finding);
        }
        all.not_ordered.extend(between.not_judged.iter().cloned());
        all.not_judged.extend(between.not_judged);
    }
    all
}
