//! The dispatcher's writes.

use super::*;

#[test]
fn dispatch_commands_that_the_kernel_does_not_have() {
    by_command(Hazard::DispatchIllegal, fixed(), |q| q.send(&bare(Dispatch::Sink(BareDispatch {}))));
    by_command(Hazard::DispatchIllegal, fixed(), |q| q.push(&relay_inline(vec![77; 16]).expect("fits").encode()));
}

#[test]
fn bytes_that_nobody_wrote() {
    let found = by_command(Hazard::StalePage, fixed(), |q| {
        let whole = write_linear(WORKER.word(), 0x4_0000, vec![1; 128], 0).encode();
        q.push(&relay_inline(whole[..100].to_vec()).expect("fits").encode())
    });
    assert!(found.message.contains("160 bytes") && found.message.contains("100 were written"), "{found}");
}

pub fn packed(q: &mut Q, count: usize, size: usize, shared: bool) -> Done {
    let tiles: Vec<Xy> = std::iter::repeat_n(WORKER, count).collect();
    let each = vec![vec![1; size]; count];
    let packets = if shared { Packets::Shared(&each[0]) } else { Packets::Each(&each) };
    q.send(&wire::write_packed(&tiles, 0x4_0000, packets).expect("fits the wire"))
}

#[test]
fn packed_writes_that_do_not_fit() {
    by_command(Hazard::PackedTooMany, fixed(), |q| packed(q, 119, 16, false));
    by_command(Hazard::PackedTooLarge, fixed(), |q| packed(q, 2, 5000, false));
    by_command(Hazard::NoStrideCrossesPage, fixed(), |q| packed(q, 2, 4090, true));
}

#[test]
fn multicasts_that_go_wrong() {
    fn to(q: &mut Q, rect: Rect, dests: u8) -> Done {
        q.send(&write_linear(rect.word(), 0x4_0000, vec![1; 64], dests))
    }
    let found = by_command(Hazard::MulticastCount, fixed(), |q| to(q, Rect::new(Xy::new(1, 2), Xy::new(2, 3)), 5));
    assert!(found.message.contains("4 tiles that acknowledge; 5 were announced"), "{found}");
    by_command(Hazard::MulticastTargets, fixed(), |q| to(q, Rect::new(Xy::new(7, 2), Xy::new(10, 3)), 4));
    by_command(Hazard::MulticastTargets, fixed(), |q| to(q, Rect::new(Xy::new(13, 2), Xy::new(14, 4)), 6));
    by_command(Hazard::MulticastCorners, fixed(), |q| to(q, Rect::new(Xy::new(3, 3), Xy::new(1, 2)), 6));
    by_command(Hazard::MulticastBackToBack, fixed(), |q| {
        to(q, Rect::new(Xy::new(1, 2), Xy::new(2, 3)), 4)?;
        to(q, Rect::new(Xy::new(1, 2), Xy::new(2, 3)), 4)
    });
    by_command(Hazard::MulticastLinked, fixed(), |q| {
        let mut command = wire::write_packed_large(&[Rect::new(WORKER, WORKER)], 0x4_0000, &[1; 16]).expect("fits");
        if let Subs::Large(subs) = &mut command.subs {
            subs[0].flags = 0;
        }
        q.send(&command)
    });
}

/// A barrier after a multicast that announces too many destinations: on silicon it hangs, and the report explains why.
#[test]
fn acknowledgements_that_nobody_sends() {
    let mut queue = open(fixed().with_mode(AtError::Silicon), acknowledge());
    let rect = Rect::new(Xy::new(1, 2), Xy::new(2, 3));
    queue.send(&write_linear(rect.word(), 0x4_0000, vec![1; 64], 6)).expect("queued");
    queue.send(&wait_barrier()).expect("queued");
    let Err(HostError::Device(DeviceError::Violation(hang))) = queue.finish() else { panic!("it hangs") };
    assert_eq!(hang.hazard, Hazard::MulticastCount);
    assert!(hang.message.contains("2 acknowledgements"), "{hang}");
    assert_eq!(hang.command.map(|c| (c.index, c.name)), Some((1, "WAIT")));
}
