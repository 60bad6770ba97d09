//! Names of attributes that this crate reads, with or without a dialect prefix; how op names are displayed; and the op
//! names that findings suggest.

use slipring_program::Words;

/// The kind of core that a function is for.
pub const KIND: &str = "pto.kernel_kind";

/// The constraints on the scalar arguments of each launch of a function, as text.
pub const ASSUME: &str = "pto.assume";

/// Attributes that mark the kernel of a file.
pub const ENTRY: [&str; 3] = ["pto.entry", "hacc.entry", "pto.kernel"];

/// Parameters that a launch fills in for each block and Vector core: the public compiler puts them after all others,
/// and its runtime supplies them.
pub const BLOCK_INDEX: &str = "__pypto_spmd_block_idx";
#[allow(missing_docs)]
pub const BLOCK_COUNT: &str = "__pypto_spmd_block_num";
#[allow(missing_docs)]
pub const LANE_INDEX: &str = "__pypto_spmd_subblock_idx";

/// Requests a division of Vector work.
pub const SPLIT: &str = "split";

/// Slots of each ring that the compiler makes.
pub const SLOTS: &str = "slot_num";

/// Bytes of ring slots that each block of a launch needs.
pub const SLOT_BYTES: &str = "gm_slot_bytes";

/// Whether the last parameter is the address of the cross-core flags.
pub const FLAGS: &str = "gm_flags";

/// Whether both Vector cores run a Vector function.
pub const BOTH_LANES: &str = "dual_aiv_dispatch";
/// On a function: marks the recording of one launch.
pub const RECORDED: &str = "slipring.recorded";

/// The platform that a module is written for.
pub const PLATFORM: &str = "pto.target_arch";

/// The chip that a module is written for.
pub const CHIP: &str = "pto.device-spec";

/// Marks a function as the body of workitems.
pub const SIMT_ENTRY: &str = "pto.simt_entry";

/// The most workitems that such a function is made for.
pub const SIMT_MAX: &str = "pto.simt_max_threads";

/// Marks a loop as a vector function.
pub const VECTOR_LOOP: &str = "llvm.loop.aivector_scope";

/// An op's name as used in costs and messages: without the dialect of tiles.
pub fn bare(name: &str) -> &str {
    of_tiles(name).unwrap_or(name)
}

/// The name of an op of the dialect of tiles, without the dialect; `None` for ops of other dialects.
pub fn of_tiles(name: &str) -> Option<&str> {
    name.strip_prefix("pto.")
}

/// Ops that findings suggest: their declarations take the names from here.
pub const SET_FLAG: &str = "pto.set_flag";
#[allow(missing_docs)]
pub const WAIT_FLAG: &str = "pto.wait_flag";
#[allow(missing_docs)]
pub const GET_BUF: &str = "pto.get_buf";
#[allow(missing_docs)]
pub const RLS_BUF: &str = "pto.rls_buf";
#[allow(missing_docs)]
pub const PIPE_BARRIER: &str = "pto.pipe_barrier";
#[allow(missing_docs)]
pub const MEM_BAR: &str = "pto.mem_bar";
#[allow(missing_docs)]
pub const SYNCTHREADS: &str = "pto.syncthreads";

/// The spelling that findings use for programs decoded from IR.
pub const WORDS: Words = Words {
    set_flag: "set_flag[PIPE_{from}, PIPE_{to}, {id}]",
    wait_flag: "wait_flag[PIPE_{from}, PIPE_{to}, {id}]",
    event: "EVENT_ID{id}",
    get_buffer: "get_buf",
    release_buffer: "rls_buf",
    pipe_barrier: "pipe_barrier PIPE_{pipe}",
    memory_barrier: "pto.mem_bar \"{kind}\"",
    workitem_barrier: SYNCTHREADS,
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_begin_with_the_name_of_their_op() {
        let forms = [
            (WORDS.set_flag, SET_FLAG),
            (WORDS.wait_flag, WAIT_FLAG),
            (WORDS.get_buffer, GET_BUF),
            (WORDS.release_buffer, RLS_BUF),
            (WORDS.pipe_barrier, PIPE_BARRIER),
            (WORDS.memory_barrier, MEM_BAR),
        ];
        for (form, name) in forms {
            let word = bare(form).split(['[', ' ']).next();
            assert_eq!(word, Some(bare(name)));
        }
    }
}
