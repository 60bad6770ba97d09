//! The wait relations when nothing can happen any more.

use super::{Finding, Hazard};
use crate::machine::{Actor, State, Wait, World, stream_reached};

/// Whether an actor only waits for the host, having done everything it was told to: it has begun nothing that it cannot
/// end, and if it has ended, no work was left for it.
fn idle_actor(world: &World, actor: Actor) -> bool {
    let wait = world.waits[actor as usize];
    match world.states[actor as usize] {
        State::Off => true,
        State::Ended => behind_terminate(world, actor) == 0,
        State::On => match wait {
            Some(Wait::Idle | Wait::Slot { .. }) => true,
            Some(Wait::Pages { inside, .. } | Wait::SubordinatePage { inside, .. }) => !inside,
            // It is not stuck yet if the host may still take completions.
            _ => false,
        },
    }
}

/// Items sent to an actor that has ended, or waits only for its end, and will never process them: records to the
/// prefetcher, pages to the dispatcher.
fn behind_terminate(world: &World, actor: Actor) -> u64 {
    let ledger = &world.ledger;
    let ends = matches!(world.waits[actor as usize], Some(Wait::CreditsHome { .. }));
    match actor {
        _ if world.states[actor as usize] != State::Ended && !ends => 0,
        Actor::Prefetch => ledger.issue.queued() as u64 + ledger.left_unread,
        Actor::Dispatch => ledger.produced.saturating_sub(ledger.consumed) + ledger.left_by_terminate,
        Actor::Subordinate => 0,
    }
}

/// Whether all actors have finished.
pub(crate) fn all_idle(world: &World) -> bool {
    Actor::ALL.into_iter().all(|actor| idle_actor(world, actor))
}

/// Why a machine in which nothing is in flight does not continue.
///
/// To be called only then. If all actors have finished, the host waits for something that was never sent.
pub(crate) fn diagnose(world: &World) -> Finding {
    let wait = |actor: Actor| match world.states[actor as usize] {
        State::On => world.waits[actor as usize],
        _ => None,
    };
    let (culprit, hazard, message) = match (wait(Actor::Prefetch), wait(Actor::Dispatch)) {
        // The dispatcher first: whatever blocks it blocks the prefetcher too.
        (_, Some(Wait::Stream { stream, count })) => {
            (Actor::Dispatch, Hazard::WaitUnreachable, stream_hang(world, stream, count))
        }
        (_, Some(Wait::Completion { pages })) => {
            let message = format!(
                "the dispatcher needs {pages} pages of the completion ring; the host has taken {} of {} pages",
                world.ledger.drained, world.ledger.completed
            );
            (Actor::Dispatch, Hazard::CompletionNotDrained, message)
        }
        (_, Some(Wait::Acknowledgements { missing })) => {
            let message = format!("the dispatcher's barrier waits for {missing} acknowledgements that will never come");
            (Actor::Dispatch, Hazard::MulticastCount, message)
        }
        (Some(Wait::Credits { subordinate: true, .. }), _) => {
            let message = "the prefetcher waits for pages of the subordinate, which grants none".to_string();
            (Actor::Prefetch, Hazard::SubordinateNoCredits, message)
        }
        (Some(Wait::Credits { pages, taken, .. }), Some(Wait::Pages { .. })) => {
            let granted = world.memory.word(world.chip.prefetch(), world.layout.sem(0));
            let message = format!(
                "the prefetcher waits for {pages} pages with {} free, and the dispatcher for the page that they would bring",
                granted.wrapping_add(taken)
            );
            (Actor::Prefetch, Hazard::CreditDeadlock, message)
        }
        (_, Some(Wait::Pages { inside: true, .. })) => {
            let name = world.ledger.at[Actor::Dispatch as usize].command.map_or("a command", |command| command.name);
            let message = format!(
                "{name} announces more bytes than were relayed: the dispatcher waits for the rest, and takes whatever is sent next for it"
            );
            (Actor::Dispatch, Hazard::CommandUnfinished, message)
        }
        _ if behind_terminate(world, Actor::Dispatch) > 0 => {
            let pages = behind_terminate(world, Actor::Dispatch);
            let message =
                format!("the dispatcher has ended by TERMINATE, and {pages} pages were relayed to it after that");
            (Actor::Prefetch, Hazard::AfterTerminate, message)
        }
        _ if behind_terminate(world, Actor::Prefetch) > 0 => {
            let records = behind_terminate(world, Actor::Prefetch);
            let command = world.ledger.at[Actor::Prefetch as usize].command;
            let by = command.map_or("TERMINATE", |command| command.name);
            let message = format!("the prefetcher has ended by {by}, and {records} records are queued after that");
            (Actor::Prefetch, Hazard::AfterTerminate, message)
        }
        (Some(Wait::Notified { .. }), _) if world.layout.sem(2) >= world.layout.kernel_text() => (
            Actor::Prefetch,
            Hazard::StallSemaphoreIsCode,
            "the prefetcher waits in STALL for a word of its own code".to_string(),
        ),
        (prefetch, dispatch) => {
            let idle = all_idle(world);
            let culprit = if prefetch.is_some() && !idle_actor(world, Actor::Prefetch) {
                Actor::Prefetch
            } else {
                Actor::Dispatch
            };
            let message = match (idle, dispatch) {
                (true, _) => "the host waits for something that was never sent: all actors have finished",
                (_, Some(Wait::Memory { .. })) => "the dispatcher waits for a word of memory that is never written",
                _ => "no progress is possible, and an actor is waiting",
            };
            (culprit, Hazard::Hang, message.to_string())
        }
    };
    let mut at = world.ledger.at[culprit as usize];
    if hazard == Hazard::AfterTerminate && behind_terminate(world, Actor::Dispatch) == 0 {
        (at.record, at.command) = (world.ledger.issue.next_queued(), None);
    }
    Finding {
        queue: world.queue,
        record: at.record,
        command: at.command,
        cycle: world.now,
        notes: world.actor_lines(),
        ..Finding::new(hazard, message)
    }
}

fn stream_hang(world: &World, stream: u32, count: u32) -> String {
    let value = world.stream(stream);
    let workers = &world.workers;
    let mut message = format!("the dispatcher waits for stream {stream} to reach {count}, and it stays at {value}");
    if workers.astray > 0 {
        message += &format!("; {} notices went to other tiles than the dispatch core", workers.astray);
    } else if workers.launched_by_host > 0 {
        message += &format!("; {} workers were launched in host mode and send none", workers.launched_by_host);
    } else if !stream_reached(value, count) {
        message += &format!("; {} workers were launched", workers.launched);
    }
    message
}
