//! Tests of the public interface of vector functions.

mod limits;
mod rounds;
