//! The vector unit that runs vector functions.

use std::collections::BTreeMap;

use serde::Deserialize;

/// Where a vector instruction executes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum VectorPort {
    /// Nowhere: it costs nothing.
    None,
    Load,
    Store,
    Alu,
}

impl VectorPort {
    /// Every port.
    pub const ALL: [VectorPort; 4] = [VectorPort::None, VectorPort::Load, VectorPort::Store, VectorPort::Alu];
}

/// The vector unit: timing of vector functions.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VectorSpec {
    /// Cycles before the first instruction.
    pub startup: u32,
    /// Cycles after the last one.
    pub drain: u32,
    /// Instructions fetched per cycle.
    pub issue: u32,
    /// Units for loads, stores and arithmetic.
    pub load_units: u32,
    #[allow(missing_docs)]
    pub store_units: u32,
    #[allow(missing_docs)]
    pub alu_units: u32,
    /// Costs by instruction (`vadd`), or instruction and element type (`vexp.f16`): latency, and cycles that a unit of
    /// its port is busy. Instructions that are not listed have the costs of `load`, `store` and `alu`.
    pub op: BTreeMap<String, [u16; 2]>,
}

/// The cost of one vector instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct VectorOp {
    /// Where it executes.
    pub port: VectorPort,
    /// Cycles until its results are ready.
    pub latency: u16,
    /// Cycles that it occupies a unit of the port.
    pub busy: u16,
}

impl VectorOp {
    /// No cost.
    pub const FREE: VectorOp = VectorOp { port: VectorPort::None, latency: 0, busy: 0 };
}

impl VectorSpec {
    /// The keys of costs for instructions that are not listed.
    pub(crate) const OTHERS: [&'static str; 3] = ["load", "store", "alu"];

    /// Units of a port.
    pub fn units(&self, port: VectorPort) -> u32 {
        match port {
            VectorPort::None => 0,
            VectorPort::Load => self.load_units,
            VectorPort::Store => self.store_units,
            VectorPort::Alu => self.alu_units,
        }
    }

    /// Cost of an instruction (`vexp`) on lanes of a type (`f16`).
    pub fn cost(&self, name: &str, elem: &str, port: VectorPort) -> VectorOp {
        let other = match port {
            VectorPort::None => return VectorOp::FREE,
            VectorPort::Load => "load",
            VectorPort::Store => "store",
            VectorPort::Alu => "alu",
        };
        let listed =
            self.op.get(&format!("{name}.{elem}")).or_else(|| self.op.get(name)).or_else(|| self.op.get(other));
        let [latency, busy] = listed.copied().unwrap_or([1, 1]);
        VectorOp { port, latency, busy }
    }
}
