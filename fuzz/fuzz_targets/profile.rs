//! Profiles of boards: any bytes end in figures and a timeline that fit each other, or in an error.

#![no_main]

use libfuzzer_sys::fuzz_target;
use slipring_explore::Profile;
use slipring_report::Trace;

fuzz_target!(|bytes: &[u8]| {
    for clock in [1, 1650] {
        let Ok(profile) = Profile::read(bytes, clock) else { continue };
        let both = profile.trace_beside(&Trace::default());
        let spans: usize = profile.tracks.iter().map(|track| track.spans.len()).sum();
        assert_eq!(both.tracks.iter().map(|track| track.slices.len()).sum::<usize>(), spans);
        for track in &both.tracks {
            assert!(track.slices.windows(2).all(|two| two[0].end <= two[1].start));
        }
        assert!(profile.tracks.iter().all(|track| track.spans.is_empty() || track.busy <= profile.cycles));
    }
});
