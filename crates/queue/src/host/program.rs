//! Requests of a host to the device, before they become commands.

use crate::Layout;
use crate::wire::{GoMessage, LaunchMessage, Packed, Xy};

/// A step of a host program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HostStep {
    /// Writes to the same address of tiles.
    Write {
        /// The tiles.
        tiles: Vec<Xy>,
        /// Address in their L1.
        addr: u32,
        /// The data.
        data: Data,
    },
    /// Sends a go signal to tiles and waits until all are done.
    Launch {
        /// The tiles.
        tiles: Vec<Xy>,
    },
}

/// Data of a write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Data {
    /// The same for all tiles.
    Same(Vec<u8>),
    /// Bytes of equal length for each tile, in the tiles' order.
    Each(Vec<Vec<u8>>),
}

/// A program for some tiles: the memory contents required at its start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Program {
    /// All tiles that run it.
    pub tiles: Vec<Xy>,
    /// Arguments, after the kernel configuration base.
    pub args: Data,
    /// The roles of groups of these tiles.
    pub roles: Vec<Role>,
}

/// The role of a group of tiles.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Role {
    /// The tiles.
    pub tiles: Vec<Xy>,
    /// Their launch message. `local_cb_offset` gives the offset of `image` from the base.
    pub launch: LaunchMessage,
    /// Circular buffer configurations and kernel text.
    pub image: Vec<u8>,
}

impl Program {
    /// Its steps, in the order of the fixed host: first the writes, then the launch.
    pub fn steps(&self, layout: &Layout) -> Vec<HostStep> {
        let mut steps = self.writes(layout);
        steps.push(HostStep::Launch { tiles: self.tiles.clone() });
        steps
    }

    /// The writes before its launch, in the order of the fixed host: reset of the launch pointer, the index of the go
    /// message, arguments, then for each role launch message and image.
    pub fn writes(&self, layout: &Layout) -> Vec<HostStep> {
        let same = |tiles: &[Xy], addr, bytes| HostStep::Write { tiles: tiles.to_vec(), addr, data: Data::Same(bytes) };
        let mut reset = Vec::new();
        GoMessage { signal: GoMessage::RESET_READ_PTR_FROM_HOST, ..Default::default() }.append(&mut reset);
        let mut steps = vec![
            same(&self.tiles, layout.worker.go, reset),
            same(&self.tiles, layout.worker.go_index, vec![0; 4]),
            HostStep::Write { tiles: self.tiles.clone(), addr: layout.kernel_config_base, data: self.args.clone() },
        ];
        for role in &self.roles {
            let mut launch = Vec::new();
            role.launch.append(&mut launch);
            let image = layout.kernel_config_base + u32::from(role.launch.local_cb_offset);
            steps.push(same(&role.tiles, layout.worker.launch, launch));
            steps.push(same(&role.tiles, image, role.image.clone()));
        }
        steps
    }
}
