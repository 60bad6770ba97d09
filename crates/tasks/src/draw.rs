//! The graph as text and as a picture.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use slipring_ir::Line;

use crate::graph::{Graph, Reason};
use crate::touched::reasons;

/// In larger graphs, tasks with the same name and depth share a box.
const MOST_APART: usize = 48;

/// The graph as text: a line for each task, and below it its dependencies. `line` maps a task to its source line.
pub fn text(graph: &Graph, line: &dyn Fn(usize) -> Line) -> String {
    let mut text = String::new();
    let count = |n: usize, what: &str| if n == 1 { format!("1 {what}") } else { format!("{n} {what}s") };
    let _ = writeln!(text, "{}, {}", count(graph.tasks.len(), "task"), count(graph.edges.len(), "edge"));
    for (at, task) in graph.tasks.iter().enumerate() {
        let iteration = if task.iteration.is_empty() { String::new() } else { format!(" ({})", task.iteration) };
        let blocks = if task.blocks > 1 { format!(", {} blocks", task.blocks) } else { String::new() };
        let manual = if task.manual { ", manual scope" } else { "" };
        let _ = writeln!(text, "#{at} {}{iteration}, line {}{blocks}{manual}", task.name, line(at));
        for edge in graph.edges.iter().filter(|edge| edge.to == at) {
            let _ = writeln!(
                text,
                "   after #{} {}: {}",
                edge.from,
                graph.tasks[edge.from].name,
                reasons(graph, &edge.why)
            );
        }
    }
    text
}

/// A box of the picture.
struct Node {
    label: String,
    below: String,
    depth: usize,
    x: f64,
}

const WIDTH: f64 = 168.0;
const HEIGHT: f64 = 44.0;
const GAP_X: f64 = 24.0;
const GAP_Y: f64 = 56.0;
const MARGIN: f64 = 24.0;
const LEGEND: f64 = 40.0;

/// The graph as an SVG: a box for each task, with independent tasks on top, and a line for each edge that no longer
/// path implies. Lines are black if a task reads what the other writes, grey if it writes what the other uses, and
/// dashed if declared by `deps=`. Tasks of `critical` have a thick frame.
pub fn svg(graph: &Graph, title: &str, line: &dyn Fn(usize) -> Line, critical: &[usize]) -> String {
    let Ok(order) = graph.order() else { return String::new() };
    let before = graph.before();
    let mut depth = vec![0; graph.tasks.len()];
    for &task in &order {
        depth[task] = before[task].iter().map(|from| depth[*from] + 1).max().unwrap_or(0);
    }
    // One box per task, or per name and depth.
    let together = graph.tasks.len() > MOST_APART;
    let mut nodes: Vec<Node> = Vec::new();
    let mut of: Vec<usize> = Vec::new();
    let mut groups: BTreeMap<(usize, String), (usize, usize)> = BTreeMap::new();
    for (at, task) in graph.tasks.iter().enumerate() {
        let key = (depth[at], task.name.clone());
        if let Some((node, count)) = groups.get_mut(&key).filter(|_| together) {
            *count += 1;
            nodes[*node].below = format!("{count} tasks");
            of.push(*node);
            continue;
        }
        let below = if task.iteration.is_empty() { format!("line {}", line(at)) } else { task.iteration.clone() };
        groups.insert(key, (nodes.len(), 1));
        of.push(nodes.len());
        nodes.push(Node { label: task.name.clone(), below, depth: depth[at], x: 0.0 });
    }
    let reach = graph.reach(&order);
    let mut edges: BTreeMap<(usize, usize), &'static str> = BTreeMap::new();
    for edge in &graph.edges {
        let implied = before[edge.to].iter().any(|other| *other != edge.from && reach.path(edge.from, *other));
        if implied || of[edge.from] == of[edge.to] {
            continue;
        }
        let class = match &edge.why[..] {
            why if why.iter().any(|why| matches!(why, Reason::Reads { .. })) => "reads",
            why if why.iter().any(|why| !matches!(why, Reason::Declared | Reason::Submitted)) => "writes",
            _ => "declared",
        };
        let known = edges.entry((of[edge.from], of[edge.to])).or_insert(class);
        if class == "reads" {
            *known = class;
        }
    }
    let rows = depth.iter().max().map_or(0, |deepest| deepest + 1);
    let mut widest: f64 = 0.0;
    for row in 0..rows {
        // Each box is close to the centre of its dependencies.
        let mut own: Vec<(f64, usize)> = (0..nodes.len())
            .filter(|node| nodes[*node].depth == row)
            .map(|node| {
                let above: Vec<f64> =
                    edges.keys().filter(|(_, to)| *to == node).map(|(from, _)| nodes[*from].x).collect();
                (if above.is_empty() { 0.0 } else { above.iter().sum::<f64>() / above.len() as f64 }, node)
            })
            .collect();
        own.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let width = own.len() as f64 * (WIDTH + GAP_X) - GAP_X;
        widest = widest.max(width);
        for (at, (_, node)) in own.into_iter().enumerate() {
            nodes[node].x = at as f64 * (WIDTH + GAP_X) - width / 2.0;
        }
    }
    let legend_width = 560.0;
    let width = widest.max(legend_width) + 2.0 * MARGIN;
    let height = MARGIN * 2.0 + LEGEND + rows as f64 * (HEIGHT + GAP_Y) - GAP_Y;
    let place = |node: &Node| (node.x + width / 2.0, MARGIN + LEGEND + node.depth as f64 * (HEIGHT + GAP_Y));
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         font-family=\"sans-serif\" font-size=\"13\">\n\
         <style>.reads{{stroke:#222}}.writes{{stroke:#999}}.declared{{stroke:#06c;stroke-dasharray:5 4}}path{{fill:none;stroke-width:1.4}}</style>\n\
         <defs><marker id=\"a\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"4\" orient=\"auto\"><path d=\"M0 0L8 4L0 8Z\" style=\"fill:#555;stroke:none\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
    );
    let _ = writeln!(svg, "<text x=\"{MARGIN}\" y=\"28\" font-weight=\"bold\">{}</text>", escaped(title));
    let mut x = MARGIN;
    for (class, what) in
        [("reads", "reads what that wrote"), ("writes", "writes what that used"), ("declared", "deps=")]
    {
        let _ = writeln!(
            svg,
            "<path class=\"{class}\" d=\"M{x} 44h28\"/><text x=\"{}\" y=\"48\" fill=\"#444\">{what}</text>",
            x + 34.0
        );
        x += 196.0;
    }
    for ((from, to), class) in &edges {
        let ((x0, y0), (x1, y1)) = (place(&nodes[*from]), place(&nodes[*to]));
        let (x0, y0, x1) = (x0 + WIDTH / 2.0, y0 + HEIGHT, x1 + WIDTH / 2.0);
        // An edge over several rows bends around the boxes between.
        let far = (nodes[*to].depth - nodes[*from].depth).saturating_sub(1) as f64;
        let side = if far > 0.0 { (WIDTH / 2.0 + GAP_X) * if x1 < x0 { -1.0 } else { 1.0 } } else { 0.0 };
        let (bend, end) = ((y1 - y0) / 2.0, y1 - 1.0);
        let _ = writeln!(
            svg,
            "<path class=\"{class}\" marker-end=\"url(#a)\" d=\"M{x0:.1} {y0:.1}C{:.1} {:.1} {:.1} {:.1} {x1:.1} {end:.1}\"/>",
            x0 + side,
            y0 + bend,
            x1 + side,
            y1 - bend
        );
    }
    for (at, node) in nodes.iter().enumerate() {
        let (x, y) = place(node);
        let thick = critical.iter().any(|task| of[*task] == at);
        let stroke = if thick { "stroke=\"#c30\" stroke-width=\"2.4\"" } else { "stroke=\"#555\"" };
        let middle = x + WIDTH / 2.0;
        let _ = writeln!(
            svg,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" rx=\"6\" fill=\"#f4f6fb\" {stroke}/>\
             <text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{}</text>\
             <text x=\"{middle:.1}\" y=\"{:.1}\" text-anchor=\"middle\" font-size=\"11\" fill=\"#666\">{}</text>",
            y + 19.0,
            escaped(&short(&node.label)),
            y + 35.0,
            escaped(&short(&node.below))
        );
    }
    svg + "</svg>\n"
}

/// The text shortened to fit into a box.
fn short(text: &str) -> String {
    const MOST: usize = 23;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_string(),
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
