//! Vector instructions compared with loops written here: each op on two registers of numbers including special values,
//! with all lanes active and with some.

mod arithmetic;
pub(crate) mod kit;
mod moves;
