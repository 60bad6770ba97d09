//! The points of a grid as a scatter plot of two quantities. Marks differ in shape, so that the plot is readable
//! without colour.

use std::fmt::Write;

/// The meaning of a mark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DotKind {
    /// No findings: a circle.
    Clean,
    /// A finding or an error: a cross.
    Wrong,
    /// The best point: a star.
    Best,
    /// The original, without findings: a square.
    Written,
}

/// A mark.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Dot {
    /// Horizontal position.
    pub x: u64,
    /// Vertical position.
    pub y: u64,
    /// Its meaning.
    pub kind: DotKind,
    /// Its label.
    pub label: String,
}

/// A scatter plot.
pub struct Scatter<'a> {
    /// Title above the plot.
    pub title: String,
    /// Note below the title.
    pub note: String,
    /// Name of the horizontal quantity.
    pub x: &'a str,
    /// Name of the vertical quantity.
    pub y: &'a str,
    /// The marks.
    pub dots: &'a [Dot],
}

const WIDE: f64 = 860.0;
const TALL: f64 = 500.0;
const LEFT: f64 = 84.0;
const RIGHT: f64 = 180.0;
const TOP: f64 = 106.0;
const BOTTOM: f64 = 52.0;
/// Height of a line of text.
const LINE: f64 = 13.0;
/// Width of a character.
const CHARACTER: f64 = 6.7;

const STYLE: &str = "text{font:11px ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',monospace;fill:#333}\
    .title{font-size:14px;font-weight:600;fill:#111}.faint{fill:#666}.axis{stroke:#999;fill:none}.grid{stroke:#e6e6e6}\
    .clean{fill:#3f78ac;stroke:#1f486c}.wrong{stroke:#b3261e;stroke-width:2;fill:none}.best{fill:#111;stroke:#111}\
    .name{paint-order:stroke;stroke:#fff;stroke-width:3}\
    .written{fill:#fff;stroke:#333;stroke-width:1.5}.front{stroke:#555;fill:none;stroke-dasharray:5 3}.back{fill:#fff}\
    @media(prefers-color-scheme:dark){text{fill:#e6e9ed}.title{fill:#fff}.faint{fill:#9aa4b1}.axis{stroke:#9aa4b1}\
    .grid{stroke:#343b44}.back{fill:#14171b}.name{stroke:#14171b}.clean{fill:#5c9ee6;stroke:#a9cdf5}\
    .wrong{stroke:#ff7a70}.best{fill:#fff;stroke:#fff}.written{fill:#14171b;stroke:#e6e9ed}.front{stroke:#9aa4b1}}";

/// Round values of an axis: 1, 2 or 5 times a power of ten apart.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = ((high - low) / 5.0).max(1.0);
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|by| by * power).find(|step| *step >= rough).unwrap_or(rough);
    let first = (low / step).ceil() as i64;
    (first..).map(|at| at as f64 * step).take_while(|at| *at <= high).collect()
}

/// The range of an axis: all values with some margin, starting at zero where that is close.
fn reach(values: impl Iterator<Item = u64>) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values {
        low = low.min(value as f64);
        high = high.max(value as f64);
    }
    if !low.is_finite() {
        return (0.0, 1.0);
    }
    let margin = ((high - low) * 0.08).max(high * 0.02).max(1.0);
    let first = if low < (high - low) { 0.0 } else { (low - margin).max(0.0) };
    (first, high + margin)
}

/// The picture as an SVG document.
pub fn scatter_svg(scatter: &Scatter<'_>) -> String {
    let (xs, ys) = (reach(scatter.dots.iter().map(|dot| dot.x)), reach(scatter.dots.iter().map(|dot| dot.y)));
    let px = |x: f64| LEFT + (x - xs.0) / (xs.1 - xs.0) * (WIDE - LEFT - RIGHT);
    let py = |y: f64| TALL - BOTTOM - (y - ys.0) / (ys.1 - ys.0) * (TALL - TOP - BOTTOM);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDE}\" height=\"{TALL}\" viewBox=\"0 0 {WIDE} {TALL}\" \
         role=\"img\">\n<style>{STYLE}</style>\n<rect class=\"back\" width=\"100%\" height=\"100%\"/>\n\
         <text class=\"title\" x=\"16\" y=\"24\">{}</text>\n<text class=\"faint\" x=\"16\" y=\"42\">{}</text>\n",
        escaped(&scatter.title),
        escaped(&scatter.note)
    );
    legend(&mut out, scatter);
    for at in ticks(xs.0, xs.1) {
        let (x, y) = (px(at), TALL - BOTTOM);
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{x:.1} {TOP} V{y}\"/><text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{at:.0}</text>",
            y + 16.0
        );
    }
    for at in ticks(ys.0, ys.1) {
        let (x, y) = (WIDE - RIGHT, py(at));
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{LEFT} {y:.1} H{x}\"/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{at:.0}</text>",
            LEFT - 6.0,
            y + 4.0
        );
    }
    let _ = writeln!(
        out,
        "<path class=\"axis\" d=\"M{LEFT} {TOP} V{0} H{1}\"/>\n<text x=\"{1}\" y=\"{2}\" text-anchor=\"end\">{3}</text>\n\
         <text x=\"{LEFT}\" y=\"{4}\">{5}</text>",
        TALL - BOTTOM,
        WIDE - RIGHT,
        TALL - 14.0,
        escaped(scatter.x),
        TOP - 8.0,
        escaped(scatter.y)
    );
    front(&mut out, scatter.dots, &px, &py);
    let place = |dot: &Dot| (px(dot.x as f64), py(dot.y as f64));
    let around = |(x, y): (f64, f64)| [x - 6.0, y - 6.0, x + 6.0, y + 6.0];
    let mut taken: Vec<[f64; 4]> = scatter.dots.iter().map(|dot| around(place(dot))).collect();
    // The most important marks are labelled first: labels that would overlap others appear only as tooltips.
    let mut order: Vec<&Dot> = scatter.dots.iter().collect();
    order.sort_by_key(|dot| (dot.kind != DotKind::Best, dot.kind != DotKind::Written, dot.y, dot.x));
    for dot in order {
        let (x, y) = place(dot);
        let label = escaped(&dot.label);
        let about = format!("{label}: {} {}, {} {}", dot.y, scatter.y, dot.x, scatter.x);
        let _ = writeln!(out, "<g>{}<title>{about}</title></g>", mark(dot.kind, x, y));
        let wide = CHARACTER * dot.label.chars().count() as f64;
        let boxes = [(x + 9.0, y), (x + 4.0, y - 14.0), (x + 4.0, y + 14.0), (x - 9.0 - wide, y)];
        let boxes = boxes.map(|(x, y)| [x, y - LINE / 2.0, x + wide, y + LINE / 2.0]);
        let apart = |a: &[f64; 4], b: &[f64; 4]| a[2] < b[0] || b[2] < a[0] || a[3] < b[1] || b[3] < a[1];
        let fits = |candidate: &&[f64; 4]| {
            candidate[0] > LEFT
                && candidate[2] < WIDE
                && candidate[1] > TOP - LINE
                && taken.iter().all(|own| apart(own, candidate))
        };
        if let Some(candidate) = boxes.iter().find(fits).copied() {
            taken.push(candidate);
            let _ = writeln!(
                out,
                "<text class=\"name\" x=\"{:.1}\" y=\"{:.1}\">{label}</text>",
                candidate[0],
                candidate[1] + 10.5
            );
        }
    }
    out + "</svg>\n"
}

fn mark(kind: DotKind, x: f64, y: f64) -> String {
    match kind {
        DotKind::Clean => format!("<circle class=\"clean\" cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"4\"/>"),
        DotKind::Wrong => {
            format!("<path class=\"wrong\" d=\"M{:.1} {:.1} l8 8 m0 -8 l-8 8\"/>", x - 4.0, y - 4.0)
        }
        DotKind::Written => {
            format!("<rect class=\"written\" x=\"{:.1}\" y=\"{:.1}\" width=\"8\" height=\"8\"/>", x - 4.0, y - 4.0)
        }
        DotKind::Best => {
            let corner = |at: u32| {
                let (angle, far) = (f64::from(at) * 36f64.to_radians(), if at.is_multiple_of(2) { 8.0 } else { 3.4 });
                format!("{:.1},{:.1}", x + far * angle.sin(), y - far * angle.cos())
            };
            let corners: Vec<String> = (0..10).map(corner).collect();
            format!("<polygon class=\"best\" points=\"{}\"/>", corners.join(" "))
        }
    }
}

/// A legend of the kinds of marks in the plot, and of the line.
fn legend(out: &mut String, scatter: &Scatter<'_>) {
    let entries = [
        (DotKind::Best, "best"),
        (DotKind::Clean, "clean"),
        (DotKind::Wrong, "with findings"),
        (DotKind::Written, "as the file is written"),
    ];
    let mut x = 22.0;
    let there = |kind: DotKind| scatter.dots.iter().any(|dot| dot.kind == kind);
    for (kind, what) in entries.into_iter().filter(|(kind, _)| there(*kind)) {
        let _ = writeln!(out, "{}<text x=\"{:.1}\" y=\"66\">{what}</text>", mark(kind, x, 62.0), x + 12.0);
        x += 40.0 + CHARACTER * what.len() as f64;
    }
    if scatter.dots.iter().any(|dot| dot.kind != DotKind::Wrong) {
        let what = format!("no clean point has less of both: {}, {}", scatter.y, scatter.x);
        let _ =
            writeln!(out, "<path class=\"front\" d=\"M14 78 H34\"/><text x=\"42\" y=\"82\">{}</text>", escaped(&what));
    }
}

/// A line through the clean points that no other point beats in both quantities.
fn front(out: &mut String, dots: &[Dot], px: &dyn Fn(f64) -> f64, py: &dyn Fn(f64) -> f64) {
    let mut clean: Vec<&Dot> = dots.iter().filter(|dot| dot.kind != DotKind::Wrong).collect();
    clean.sort_by_key(|dot| (dot.x, dot.y));
    let mut path = String::new();
    let mut least = u64::MAX;
    for dot in clean {
        if dot.y < least {
            let (x, y) = (px(dot.x as f64), py(dot.y as f64));
            path += &if least == u64::MAX { format!("M{x:.1} {y:.1}") } else { format!(" H{x:.1} V{y:.1}") };
            least = dot.y;
        }
    }
    if !path.is_empty() {
        let _ = writeln!(out, "<path class=\"front\" d=\"{path}\"/>");
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picture(dots: &[Dot]) -> String {
        scatter_svg(&Scatter { title: "a < b".into(), note: "n".into(), x: "bytes", y: "cycles", dots })
    }

    #[test]
    fn every_point_has_a_mark_of_its_kind() {
        let dot = |x, y, kind| Dot { x, y, kind, label: format!("x={x}") };
        let dots = [
            dot(1024, 900, DotKind::Best),
            dot(1024, 1000, DotKind::Clean),
            dot(4096, 950, DotKind::Wrong),
            dot(2048, 990, DotKind::Written),
        ];
        let svg = picture(&dots);
        assert_eq!(svg.matches("<title>").count(), 4);
        assert!(svg.contains("a &lt; b") && svg.contains("x=4096: 950 cycles, 4096 bytes"));
        // The legend contains one of each.
        for class in ["best", "clean", "wrong", "written"] {
            assert_eq!(svg.matches(&format!("class=\"{class}\"")).count(), 2, "{class}");
        }
        assert!(!svg.contains("NaN"));
    }

    #[test]
    fn one_point_and_none_are_pictures_too() {
        assert!(!picture(&[]).contains("NaN"));
        let one = picture(&[Dot { x: 0, y: 0, kind: DotKind::Clean, label: String::new() }]);
        assert!(!one.contains("NaN") && !one.contains("inf"));
    }

    #[test]
    fn axes_have_round_numbers() {
        assert_eq!(ticks(0.0, 100.0), [0.0, 20.0, 40.0, 60.0, 80.0, 100.0]);
        assert_eq!(ticks(11_500.0, 13_100.0), [11_500.0, 12_000.0, 12_500.0, 13_000.0]);
    }
}
