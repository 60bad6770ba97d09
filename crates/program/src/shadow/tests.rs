use super::*;

fn none() -> Nothing {
    Nothing::default()
}

#[test]
fn every_byte_counts() {
    let mut marks = Marks::new(true);
    assert!(marks.any(0, 10) && !marks.any(5, 5));
    marks.define(3, 200);
    assert!(!marks.any(3, 200) && marks.any(2, 200) && marks.any(100, 201) && marks.any(5000, 5001));
    marks.forget(100, Nothing { origin: Some(7), ..none() });
    marks.forget(101, none());
    let void = |start, end, origin| Uninit { start, end, origin, here: true, by: None };
    assert_eq!(marks.voids(3, 201), [void(100, 101, Some(7)), void(101, 102, None), void(200, 201, None)]);
    marks.define(100, 101);
    assert_eq!(marks.voids(90, 110), [void(101, 102, None)]);
    let mut marks = Marks::new(false);
    marks.define(0, 1 << 40);
    assert!(!marks.any(0, 1 << 40) && marks.nothing.is_empty());
    marks.forget(70, none());
    assert!(marks.any(0, 100) && !marks.any(0, 70) && !marks.any(71, 1000));
}

#[test]
fn runs_are_forgotten_as_their_bytes_are() {
    for (from, to) in [(0, 1), (5, 64), (3, 200), (64, 128), (190, 191), (70, 70), (1000, 1100)] {
        let mut before = Marks::new(false);
        before.define(0, 300);
        before.forget(100, Nothing { origin: Some(7), ..none() });
        before.forget(190, none());
        let (mut run, mut single) = (before.clone(), before);
        run.forget_run(from, to);
        (from..to).for_each(|at| single.forget(at, none()));
        assert_eq!(run.voids(0, 1200), single.voids(0, 1200), "{from} to {to}");
    }
}

/// What is known of ranges of rows never says more than the bytes do.
#[test]
fn ranges_that_come_again_are_as_their_bytes() {
    use slipring_machine::Role;
    let mut state = 1u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) % below
    };
    let (mut marks, mut plain) = (Marks::new(true), Marks::new(true));
    for _ in 0..20_000 {
        let (start, rows, bytes) = (next(6) * 64, 1 + next(4) as u32, 16 << next(3));
        let stride = u64::from(bytes) + next(3) * 16;
        let extent = Extent { rows, stride, ..Extent::run(Space::Vec, Role::Aiv0, start, bytes) };
        match next(8) {
            0 => {
                marks.forget(start, none());
                plain.forget(start, none());
            }
            1 => {
                marks.forget_run(start, start + 8);
                plain.forget_run(start, start + 8);
            }
            2..5 => {
                marks.define_in(&extent, start);
                runs(&extent, start).for_each(|(from, to)| plain.define(from, to));
            }
            _ => assert_eq!(
                marks.any_in(&extent, start),
                runs(&extent, start).any(|(from, to)| plain.any(from, to)),
                "{extent:?}"
            ),
        }
    }
    assert_eq!(marks.voids(0, 2000), plain.voids(0, 2000));
}

#[test]
fn marks_without_memory_are_given_up() {
    let far = 1 << 62;
    for forget in [false, true] {
        let mut marks = Marks::new(true);
        if forget {
            marks.forget(far, Nothing { origin: Some(7), ..none() })
        } else {
            marks.define(far, far + 64)
        }
        assert!(marks.full && !marks.any(0, 64) && !marks.is_nothing(far));
        marks.forget(3, none());
        assert!(!marks.is_nothing(3));
    }
}

/// Bytes that contents decide about are told from the others, and from each other.
#[test]
fn what_contents_decide_is_kept_apart() {
    let mut marks = Marks::new(false);
    marks.forget(10, Nothing { by: Some(3), ..none() });
    marks.forget(11, Nothing { by: Some(3), elsewhere: true, ..none() });
    marks.forget(12, none());
    let void = |start, here, by| Uninit { start, end: start + 1, origin: None, here, by };
    assert_eq!(marks.voids(0, 20), [void(10, true, Some(3)), void(11, false, Some(3)), void(12, true, None)]);
    assert!(marks.is_nothing(10) && !marks.is_nothing(11) && marks.is_doubtful(11) && marks.any(11, 12));
    marks.define(0, 20);
    marks.forget_run(10, 13);
    assert_eq!(marks.voids(0, 20), [Uninit { end: 13, ..void(10, true, None) }]);
}

/// The quick look finds whole registers clean, and never what the other look finds something in.
#[test]
fn what_is_clean_has_nothing_uninitialised() {
    let mut marks = Marks::new(true);
    marks.define(0, 4096);
    assert!(marks.is_clean(0, 256) && marks.is_clean(1024, 1280) && marks.is_clean(70, 300));
    marks.forget(1000, none());
    for (from, to) in (0..4300).step_by(31).flat_map(|from| (0..600).step_by(37).map(move |bytes| (from, from + bytes)))
    {
        assert!(!(marks.is_clean(from, to) && marks.any(from, to)), "{from} to {to}");
    }
    assert!(!marks.is_clean(768, 1024) && !marks.is_clean(3900, 4100) && !marks.is_clean(1 << 40, (1 << 40) + 256));
}

/// Marks that begin with ranges, and keep words only where something is noted, say what marks of all words say.
#[test]
fn ranges_at_the_start_are_as_their_bytes() {
    let mut state = 7u64;
    let mut next = |below: u64| {
        state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (state >> 33) % below
    };
    for _ in 0..300 {
        let ranges: Vec<(u64, u64)> = (0..1 + next(4)).map(|_| (next(9_000), 1 + next(900))).collect();
        let ranges: Vec<(u64, u64)> = ranges.into_iter().map(|(from, bytes)| (from, from + bytes)).collect();
        let mut plain = Marks::new(false);
        plain.define(0, 1);
        ranges.iter().for_each(|(from, to)| plain.forget_run(*from, *to));
        let mut marks = Marks::with(ranges);
        for _ in 0..40 {
            let from = next(10_000);
            let to = from + next(700);
            match next(6) {
                0 => [&mut marks, &mut plain].into_iter().for_each(|marks| marks.define(from, to)),
                1 => [&mut marks, &mut plain].into_iter().for_each(|marks| marks.forget_run(from, to)),
                2 => {
                    let what = Nothing {
                        origin: (next(2) == 0).then_some(next(9) as SiteRef),
                        elsewhere: next(2) == 0,
                        ..none()
                    };
                    [&mut marks, &mut plain].into_iter().for_each(|marks| marks.forget(from, what));
                }
                _ => assert_eq!(marks.any(from, to), plain.any(from, to), "{from} to {to}"),
            }
            assert_eq!(marks.is_nothing(from), plain.is_nothing(from), "{from}");
        }
        assert_eq!(marks.voids(0, 11_000), plain.voids(0, 11_000));
    }
}
