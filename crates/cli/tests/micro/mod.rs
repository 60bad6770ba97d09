//! Vector instructions against loops written here: each op over two registers of numbers, edge cases among them, with
//! all lanes active and with some.

mod arithmetic;
pub(crate) mod kit;
mod moves;
