//! The machine as seen by a kernel's code. Kernels are `async` functions: straight-line code like the firmware, which
//! suspends where the firmware spins.

use std::cell::{Ref, RefCell, RefMut};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use super::world::{Stop, World};
use crate::layout::Layout;
use crate::machine::actor::{Actor, Wait};
use crate::sanitize::Hazard;

/// One of the queue's cores, as seen by its kernel.
#[derive(Clone)]
pub(crate) struct Core {
    pub actor: Actor,
    pub layout: Rc<Layout>,
    world: Rc<RefCell<World>>,
}

/// A wait of a kernel's code.
pub(crate) struct Waiting<'a> {
    core: &'a Core,
    /// The condition, until the wait has begun.
    wait: Option<Wait>,
}

impl Future for Waiting<'_> {
    type Output = ();

    #[inline]
    fn poll(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<()> {
        let core = self.core;
        let over = match self.wait.take() {
            // Mostly this actor itself continues next; it then need not leave its code and be polled again.
            Some(wait) => core.world().begins_to_wait(core.actor, wait),
            // The scheduler removes the wait when it is over, and polls only then.
            None => core.look().waits[core.actor as usize].is_none(),
        };
        if over { Poll::Ready(()) } else { Poll::Pending }
    }
}

impl Core {
    pub fn new(actor: Actor, world: Rc<RefCell<World>>) -> Core {
        let layout = Rc::new(world.borrow().layout.clone());
        Core { actor, layout, world }
    }

    /// The shared state, for one action. Never held across a wait.
    pub fn world(&self) -> RefMut<'_, World> {
        self.world.borrow_mut()
    }

    /// The shared state, read-only.
    pub fn look(&self) -> Ref<'_, World> {
        self.world.borrow()
    }

    /// Waits. The condition appears in reports.
    #[inline]
    pub fn wait(&self, wait: Wait) -> Waiting<'_> {
        Waiting { core: self, wait: Some(wait) }
    }

    /// Works for the duration of a command.
    pub fn work(&self) -> Waiting<'_> {
        let cycle = {
            let world = self.look();
            world.now + world.delays.command
        };
        self.wait(Wait::Until { cycle, what: "a command" })
    }

    /// Reports a hazard of this core's current action.
    pub fn flag(&self, hazard: Hazard, message: impl FnOnce() -> String) -> Result<(), Stop> {
        self.world().flag(self.actor, hazard, message)
    }

    /// Reports a hazard after which this core cannot continue.
    pub fn lose(&self, hazard: Hazard, message: impl FnOnce() -> String) -> Stop {
        self.world().lose(self.actor, hazard, message)
    }

    /// A word of this core's L1.
    pub fn word(&self, addr: u32) -> u32 {
        let world = self.look();
        world.memory.word(world.tile_of(self.actor), addr)
    }

    /// Bytes of this core's L1, if they are within it.
    #[inline]
    pub fn bytes<const N: usize>(&self, addr: u32) -> Result<[u8; N], Stop> {
        let mut out = [0; N];
        out.copy_from_slice(&self.part(addr, N)?);
        Ok(out)
    }

    /// The bytes in place, likewise.
    #[inline]
    pub fn part(&self, addr: u32, bytes: usize) -> Result<Ref<'_, [u8]>, Stop> {
        let inside = u64::from(addr) + bytes as u64 <= u64::from(self.layout.l1_bytes);
        if !inside {
            return Err(self.lose(Hazard::L1Outside, || format!("{bytes} bytes at {addr:#x} leave the core's L1")));
        }
        Ok(Ref::map(self.look(), |world| world.memory.l1(world.tile_of(self.actor), addr, bytes)))
    }

    /// Stores a word in this core's L1.
    pub fn set_word(&self, addr: u32, value: u32) {
        let mut world = self.world();
        let tile = world.tile_of(self.actor);
        world.memory.set_word(tile, addr, value);
    }
}
