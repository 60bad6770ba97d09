//! Tests of vector functions as others use them.

mod limits;
mod rounds;
