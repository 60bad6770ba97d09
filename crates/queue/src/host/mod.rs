//! The host's side: what a driver does, on anything that is a [`Device`].

mod device;

pub use device::{Device, DeviceError, Ordering, Pinned, Window, WindowTarget};
