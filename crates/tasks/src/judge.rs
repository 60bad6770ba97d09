//! Errors of a graph, and warnings about it.

use slipring_ir::{Diagnostic, Span};

use crate::graph::Graph;
use crate::signals::{Ordered, TOO_MANY};
use crate::touched::{Footprints, Lost, directions, needless, overwritten, races, unwritten};

/// All findings about the graph from the footprints of a run, for an order of [`Graph::order`].
///
/// `parts` are the tasks split into parts, if some tasks wait for each other while they run. `lost` lists the
/// uninitialised reads that matter.
pub fn judge(
    graph: &Graph,
    order: &[usize],
    touched: &Footprints,
    parts: Option<&Ordered>,
    lost: &[Lost],
) -> Vec<Diagnostic> {
    let reach = graph.reach(order);
    let mut found = directions(graph, touched);
    found.extend(unwritten(graph, &reach, touched, lost));
    match parts {
        None => found.extend(races(graph, &reach, touched)),
        Some(parts) => match crate::signals::races(graph, parts) {
            Some(races) => found.extend(races),
            None => found.push(Diagnostic::warning(
                "not-judged",
                Span::default(),
                format!("{TOO_MANY}: races between them are not checked"),
            )),
        },
    }
    found.extend(overwritten(graph, &reach, &graph.reach_of_writers(order), touched));
    found.extend(needless(graph, &reach, touched));
    found
}
