//! `slipring cost`: the cost of a single op, and how it is computed.

use clap::Args;
use slipring_explore::cost::{Query, compare, cost, facts, read_points, table_facts, table_text, text};
use slipring_machine::Platform;
use slipring_tile::{Elem, Space};

use super::exit::Exit;
use super::input::read_text;
use super::output::{fail, json_line, out};
use super::platform::PlatformArgs;

// Arguments of `cost`.
#[derive(Args)]
pub(super) struct CostArgs {
    /// Name of an op, with or without `pto.`. The op need not be executable
    #[arg(required_unless_present = "points")]
    op: Option<String>,
    #[command(flatten)]
    platform: PlatformArgs,
    /// Element type of the inputs
    #[arg(long, default_value = "f32")]
    elem: String,
    /// Element type of the result, for conversions
    #[arg(long)]
    to: Option<String>,
    /// Rows and columns of the tile, such as 64x128; for products m, k and n, such as 128x64x256
    #[arg(long, default_value = "64x64")]
    shape: String,
    /// Valid rows and columns, if fewer
    #[arg(long)]
    valid: Option<String>,
    /// Number of blocks in a data move: the product of the outer dimensions of its window. Defaults to 1
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..=u64::from(u32::MAX)))]
    blocks: Option<u64>,
    /// Source and destination memory, such as gm-mat, for data moves with several paths
    #[arg(long)]
    way: Option<String>,
    /// Use the high-precision variant
    #[arg(long)]
    precise: bool,
    /// The result of a row reduction is a column, in column order
    #[arg(long, conflicts_with = "precise")]
    column: bool,
    /// A table of measurements to compare with: tab-separated, with columns arch, op, case, params and expected_cycles
    #[arg(long, value_name = "TSV", conflicts_with_all = ["op", "elem", "to", "shape", "valid", "blocks", "way", "precise", "column"])]
    points: Option<String>,
    /// Print the results as JSON
    #[arg(long)]
    pub(super) json: bool,
}

/// Computes the cost of an op, or of a table of points.
pub(super) fn run(args: &CostArgs) -> Exit {
    if !args.platform.interpretations.is_empty() {
        return fail("`--interpretation` has no effect here: the cost of an op does not depend on it");
    }
    let outcome = match &args.points {
        Some(path) => table(args, path),
        None => one(args),
    };
    outcome.unwrap_or_else(fail)
}

fn one(args: &CostArgs) -> Result<Exit, String> {
    let platform = platform(args, args.platform.arch.as_deref().unwrap_or("a5"))?;
    let elem = |name: &str| Elem::parse(name).ok_or(format!("`{name}` is not an element type"));
    let way = |text: &String| {
        let ends = text.split_once('-').and_then(|(from, to)| Some((Space::parse(from)?, Space::parse(to)?)));
        ends.ok_or(format!("`{text}` is not a path between two memories, such as gm-mat"))
    };
    let valid = match args.valid.as_deref().map(extents).transpose()? {
        None => None,
        Some(extents) => match extents[..] {
            [rows, cols] => Some((rows, cols)),
            _ => return Err("`--valid` has two extents, such as 63x125: rows and columns".into()),
        },
    };
    let query = Query {
        op: args.op.clone().unwrap_or_default(),
        elem: elem(&args.elem)?,
        to: args.to.as_deref().map(elem).transpose()?,
        shape: extents(&args.shape)?,
        valid,
        blocks: args.blocks,
        way: args.way.as_ref().map(way).transpose()?,
        precise: args.precise,
        column: args.column,
    };
    let costed = cost(&platform, &query)?;
    match args.json {
        true => json_line(&facts(&costed)),
        false => out(&text(&platform, &query, &args.shape, &costed)),
    }
    Ok(Exit::Clean)
}

fn platform(args: &CostArgs, arch: &str) -> Result<Platform, String> {
    match args.platform.named().map_err(|error| error.to_string())? {
        Some(platform) => Ok(platform),
        None => slipring_machine::built_in(arch).map_err(|error| error.to_string()),
    }
}

fn extents(text: &str) -> Result<Vec<u32>, String> {
    let numbers: Result<Vec<u32>, _> = text.split('x').map(str::parse).collect();
    match numbers {
        Ok(extents) if extents.iter().all(|n| (1..=1 << 16).contains(n)) => Ok(extents),
        _ => Err(format!("`{text}` is not a shape such as 64x128, each extent from 1 to 65536")),
    }
}

fn table(args: &CostArgs, path: &str) -> Result<Exit, String> {
    let text = read_text(path)?;
    let mut points = read_points(&text).map_err(|error| format!("{path}: {error}"))?;
    if args.platform.is_given() {
        // Only the rows of the requested platform, if there are any.
        let name = platform(args, "a5")?.name;
        if points.iter().any(|point| point.arch == name) {
            points.retain(|point| point.arch == name);
        }
    }
    let (measured, errors) = compare(&points, |arch| platform(args, arch))?;
    match args.json {
        true => json_line(&table_facts(&measured, &errors)),
        false => out(&table_text(&measured, &errors)),
    }
    Ok(Exit::Clean)
}
