//! Names of passes in other compilers.

use slipring_passes::{OTHER_NAMES, by_name, pass, pipeline};

#[test]
fn other_names_are_of_passes() {
    for (other, own) in OTHER_NAMES {
        assert_eq!(pass(other).map(|pass| pass.name), Some(own), "{other}");
        assert!(pipeline().iter().chain(by_name()).all(|pass| pass.name != other), "{other}");
    }
}
