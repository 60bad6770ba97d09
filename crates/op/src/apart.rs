//! Sources whose bytes the results of an op must not share.

use slipring_ir::ValueId;
use slipring_machine::Platform;

use crate::def::OpRef;

impl<'a> OpRef<'a> {
    /// The sources whose bytes its results must not share on this platform, by name.
    pub fn kept_apart(self, platform: &'a Platform) -> impl Iterator<Item = (&'static str, ValueId)> + use<'a> {
        let rules = self.def.apart.iter().filter(move |rule| rule.on.holds(platform) && (rule.when)(&self));
        rules.flat_map(|rule| rule.sources).filter_map(move |name| Some((*name, self.if_declared(name)?)))
    }
}
