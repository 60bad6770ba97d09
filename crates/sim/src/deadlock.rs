//! The report when no progress is possible.

mod rounds;

use slipring_machine::{Pipe, Platform};
use slipring_program::{Direction, Finding, Kind, RingDecl, SyncDecl, SyncRole, Unit, Waiting};

use crate::agent::AgentId;
use crate::blocked::{Blocked, Reason, Release, View};
use crate::engine::Engine;
use crate::leftover::ends;
use crate::report::{self, count};

/// One finding for the first block that is stuck: who waits for what, and why it will not happen.
pub(crate) fn report(engine: &Engine<'_>) -> Box<Finding> {
    let stuck: Vec<usize> = (0..engine.clusters.len()).filter(|c| engine.clusters[*c].live > 0).collect();
    let Some(&cluster) = stuck.first() else {
        return report::error(Kind::Deadlock(Vec::new()), "no progress is possible");
    };
    let (cores, syncs) = (engine.program.cores.len(), engine.program.syncs.len());
    let view = View {
        program: engine.program,
        cores: &engine.cores[cluster * cores..(cluster + 1) * cores],
        first: cluster * cores,
        syncs: &engine.syncs[cluster * syncs..(cluster + 1) * syncs],
    };
    let mut finding = describe(&view, engine.launch.platform);
    let full = |core: &crate::state::Core| matches!(core.state, crate::state::ScalarState::QueueFull(_));
    if engine.cores.iter().any(full) {
        let depth = engine.launch.platform.pipes.queue_depth;
        finding.notes.push(format!(
            "issue queues hold {depth} steps here: an assumption, which no public source confirms (`queue_depth` of the platform)"
        ));
    }
    if engine.launch.blocks > 1 {
        finding.notes.push(format!("in block {}", engine.clusters[cluster].block));
    }
    if stuck.len() > 1 {
        finding.notes.push(format!("{} blocks are stuck", stuck.len()));
    }
    let (all, begun) = (engine.launch.blocks, engine.next_block);
    if begun < all {
        // These blocks start when another one ends, and none does.
        let resident = engine.clusters.len();
        finding.message.push_str(&format!(": {all} blocks are launched, {resident} are resident"));
        finding.notes.push(format!(
            "{} have not started: a block starts when a cluster becomes free, and waiting blocks hold all {resident} clusters",
            count(u64::from(all - begun), "block")
        ));
        finding.hint = Some(format!(
            "launch at most {resident} blocks and give each more work: a wait for every block of a launch needs all of them to be resident"
        ));
    }
    finding
}

fn describe(view: &View<'_>, platform: &Platform) -> Box<Finding> {
    let blocked = view.blocked();
    let cycle = view.cycle(&blocked);
    let root = root(view, &blocked, cycle.as_deref());
    let Some(root) = root else {
        return report::error(Kind::Deadlock(Vec::new()), "no progress is possible");
    };
    let message = match &cycle {
        Some(cycle) if cycle.len() > 1 => {
            let names: Vec<_> = cycle.iter().map(|agent| name(view, *agent)).collect();
            format!("{} wait for each other", join(&names))
        }
        _ => format!("{} {} forever", name(view, root.agent), waits(view, root)),
    };
    let waits_of = |agent: &Blocked| Waiting {
        unit: unit(view, agent.agent),
        what: awaited(view, agent).into(),
        why: because(view, agent).into(),
    };
    let kind = Kind::Deadlock(blocked.iter().map(waits_of).collect());
    let mut finding = report::error_at(kind, root.site, &label(view, root), message);
    for other in blocked.iter().filter(|b| b.agent != root.agent) {
        finding.secondary.push(report::label(other.site, label(view, other)));
    }
    if let (Reason::Wait(sync), false) = (root.reason, view.release(root) == Release::NoSet) {
        for site in view.set_sites(sync) {
            let known = finding.primary.iter().chain(&finding.secondary).any(|label| label.site == site);
            if !known {
                finding.secondary.push(report::label(site, "this would signal it"));
            }
        }
    }
    rounds::tell(view, root, &mut finding);
    if let Some(missing) = missing(view, root) {
        finding.notes.push(missing);
    }
    if let Some(cycle) = &cycle {
        let mut steps: Vec<_> = cycle.iter().map(|agent| name(view, *agent)).collect();
        steps.extend(steps.first().cloned());
        finding.notes.push(format!("circular wait: {}", steps.join(" → ")));
    }
    for agent in &blocked {
        finding.notes.push(format!("{} {}; {}", name(view, agent.agent), waits(view, agent), because(view, agent)));
    }
    for core in view.cores {
        if core.state == crate::state::ScalarState::Ended {
            finding.notes.push(format!("the program of {} has ended", core.agent.role));
        }
    }
    finding.hint = hint(view, platform, &blocked, root, cycle.is_some());
    let semaphore = |agent: &&Blocked| matches!(agent.reason, Reason::Wait(sync) if matches!(view.program.syncs[sync as usize].role, SyncRole::Semaphore { .. }));
    if blocked.iter().any(|agent| semaphore(&agent)) {
        finding.notes.extend(report::semaphore_rule(platform));
    }
    finding
}

/// The first signal that is missing.
fn missing(view: &View<'_>, root: &Blocked) -> Option<String> {
    let Reason::Wait(sync) = root.reason else { return None };
    if view.is_token(sync) {
        return None;
    }
    let state = &view.syncs[sync as usize];
    let name = &view.program.syncs[sync as usize].name;
    let sent = match state.sets {
        0 => "none was sent".to_string(),
        sets => format!("{} sent", if sets == 1 { "1 was".into() } else { format!("{sets} were") }),
    };
    Some(format!("first missing signal: number {} of {name}; {sent}", state.waits + 1))
}

/// The wait to report: preferably one that nobody can end, then one of a circular wait, then any. Within a cycle,
/// preferably one for which nothing earlier in the program signals, then one for another core.
fn root<'b>(view: &View<'_>, blocked: &'b [Blocked], cycle: Option<&[AgentId]>) -> Option<&'b Blocked> {
    let hopeless = blocked.iter().find(|b| !matches!(view.release(b), Release::Agents(_)));
    let in_cycle = |b: &&Blocked| matches!(b.reason, Reason::Wait(_)) && cycle.is_some_and(|c| c.contains(&b.agent));
    let first = blocked.iter().filter(in_cycle).find(|b| is_unprimed(view, b));
    // Synchronisation between cores is the author's; flags inside a core are links of the chain, and often inserted by
    // the passes.
    let across = |b: &&Blocked| {
        let Reason::Wait(sync) = b.reason else { return false };
        match view.program.syncs[sync as usize].role {
            SyncRole::RingReady { .. } | SyncRole::RingFree { .. } | SyncRole::Semaphore { .. } => in_cycle(b),
            SyncRole::Event { .. } | SyncRole::Token { .. } | SyncRole::UnitFlag { .. } => false,
        }
    };
    hopeless
        .or(first)
        .or_else(|| blocked.iter().find(across))
        .or_else(|| blocked.iter().find(in_cycle))
        .or(blocked.first())
}

/// True for a wait for a flag that was never set because every set of it comes later in the program than the wait.
fn is_unprimed(view: &View<'_>, blocked: &Blocked) -> bool {
    let Reason::Wait(sync) = blocked.reason else { return false };
    let decl = &view.program.syncs[sync as usize];
    if !matches!(decl.role, SyncRole::Event { .. }) || view.syncs[sync as usize].sets > 0 {
        return false;
    }
    let core = &view.cores[blocked.agent.core() - view.first];
    let sites = &view.program.cores[core.position].inst_sites;
    let place = |site: &u32| sites.iter().position(|s| s == site);
    let sets = view.set_sites(sync);
    !sets.is_empty() && sets.iter().all(|set| place(set) > place(&blocked.site))
}

fn unit(view: &View<'_>, agent: AgentId) -> Unit {
    Unit { core: view.cores[agent.core() - view.first].agent.role, pipe: agent.pipe() }
}

fn name(view: &View<'_>, agent: AgentId) -> String {
    unit(view, agent).to_string()
}

/// The object of a wait.
fn awaited(view: &View<'_>, blocked: &Blocked) -> String {
    match blocked.reason {
        Reason::QueueFull(pipe) => format!("room in the queue of pipe {pipe}"),
        Reason::Drain => "its pipes to drain".into(),
        Reason::Signal => "a signal in global memory".into(),
        Reason::Wait(sync) if view.is_token(sync) => {
            let later = view.syncs[sync as usize].token.open_later(blocked.agent.pipe()).next().is_some();
            let which = if later { "a later release" } else { "the earlier releases" };
            format!("{which} of {}", view.program.syncs[sync as usize].name)
        }
        Reason::Wait(sync) => view.program.syncs[sync as usize].name.to_string(),
    }
}

/// `waits for …`, with the object's count.
fn waits(view: &View<'_>, blocked: &Blocked) -> String {
    let what = awaited(view, blocked);
    match blocked.reason {
        Reason::Wait(sync) if !view.is_token(sync) => {
            let state = &view.syncs[sync as usize];
            let so_far = format!("set {}, waited for {}", count(state.sets, "time"), count(state.waits, "time"));
            format!("waits for {what} (count {}; {so_far})", state.signals.len())
        }
        _ => format!("waits for {what}"),
    }
}

fn label(view: &View<'_>, blocked: &Blocked) -> String {
    let who = name(view, blocked.agent);
    match blocked.reason {
        Reason::Wait(sync) => format!("{who} waits for {}", view.program.syncs[sync as usize].name),
        _ => format!("{who} {}", waits(view, blocked)),
    }
}

/// Why the wait does not end.
fn because(view: &View<'_>, blocked: &Blocked) -> String {
    let op = |agent: AgentId| {
        let core = &view.cores[agent.core() - view.first];
        let site = match agent.pipe() {
            Pipe::S => view.program.cores[core.position].inst_sites[core.pc],
            pipe => core.pipes[pipe.index()].front().map_or(0, |entry| entry.site),
        };
        view.program.sites[site as usize].op.clone()
    };
    let setter = |sync: u32| view.program.syncs[sync as usize].setter;
    match (view.release(blocked), blocked.reason) {
        (Release::Agents(agents), _) => {
            let stands: Vec<_> =
                agents.iter().map(|a| format!("{}, which stands at `{}`", name(view, *a), op(*a))).collect();
            match blocked.reason {
                Reason::Wait(sync) if view.is_token(sync) => format!("they would come from {}", join(&stands)),
                Reason::Wait(_) => format!("the signal would come from {}", join(&stands)),
                _ => format!("held up by {}", join(&stands)),
            }
        }
        (Release::NoCore, Reason::Wait(sync)) => {
            format!("{} would signal it, but takes no part in the program", setter(sync))
        }
        (Release::NoSet, Reason::Wait(sync)) => format!("nothing in the program of {} sets it", setter(sync)),
        (Release::Ended, Reason::Wait(sync)) if view.is_token(sync) => "nothing that remains sets it".into(),
        (Release::Nobody, _) => "nothing changes it any more".into(),
        (Release::Ended, Reason::Wait(sync)) => format!("{} would signal it, but its program has ended", setter(sync)),
        _ => String::new(),
    }
}

/// The typical mistake behind a wait that does not end.
fn hint(view: &View<'_>, platform: &Platform, blocked: &[Blocked], root: &Blocked, circular: bool) -> Option<String> {
    let Reason::Wait(sync) = root.reason else { return None };
    let decl = &view.program.syncs[sync as usize];
    let total = |of: &dyn Fn(&SyncDecl) -> bool| {
        let members = view.program.syncs.iter().zip(view.syncs).filter(|(decl, _)| of(decl));
        members.fold((0, 0), |(sets, waits), (_, state)| (sets + state.sets, waits + state.waits))
    };
    let hopeless = !matches!(view.release(root), Release::Agents(_));
    Some(match decl.role {
        SyncRole::RingReady { ring, .. } | SyncRole::RingFree { ring, .. } => {
            let (pushed, popped) = total(&|d| matches!(d.role, SyncRole::RingReady { ring: r, .. } if r == ring));
            let (freed, _) = total(&|d| matches!(d.role, SyncRole::RingFree { ring: r, .. } if r == ring));
            let (producer, consumer) = ends(view.program, ring);
            let known = view.program.rings.get(ring as usize);
            let (slots, initial) = known.map_or((0, 0), |r| (u64::from(r.slots), u64::from(r.credits)));
            let sparse = known.is_some_and(|r| r.sparse);
            let ring = report::ring(known.map_or("?", |r| &*r.name));
            if sparse && matches!(decl.role, SyncRole::RingReady { .. }) {
                format!(
                    "{consumer} waits for signal {} of {ring}, but {producer} has sent only {pushed}: turn its record status on \
                     for the last of the tiles that one wait stands for",
                    popped + 1
                )
            } else if matches!(decl.role, SyncRole::RingReady { .. }) {
                let order = if circular { "; check the order of pushes and pops on both sides" } else { "" };
                format!(
                    "{consumer} pops tile {} of {ring}, but {producer} has pushed only {pushed}: every pop needs a push{order}",
                    popped + 1
                )
            } else if freed == 0 {
                format!(
                    "no slot of {ring} was ever free: {consumer} must initialise its end of the pipe, which frees all slots, \
                     before {producer} can push"
                )
            } else if !sparse && freed.saturating_sub(initial.min(slots)) >= popped {
                unpopped(view, platform, blocked)
            } else {
                format!(
                    "{ring} is full: {producer} has pushed {} and {consumer} has popped {popped}; {consumer} must free \
                     each slot after its last use of the tile",
                    count(pushed, "tile")
                )
            }
        }
        SyncRole::Event { from, to, id } if hopeless => {
            let set = view.program.words.set(from, to, Some(id));
            format!("set the flag on pipe {from}, before pipe {to} waits for it: {set}")
        }
        SyncRole::Event { from, to, id } if is_unprimed(view, root) => {
            let set = view.program.words.set(from, to, Some(id));
            format!(
                "every set comes after this wait: if a loop passes the signal to its next iteration, prime it before the loop with {set} (and wait for the last one after it); otherwise move the set before the wait"
            )
        }
        SyncRole::Event { .. } => {
            "move the set before the wait that blocks it, or use another event id for the wait".into()
        }
        SyncRole::Semaphore { id } if hopeless => {
            format!("{} must set semaphore {id} once for every wait of {}", decl.setter, decl.waiter)
        }
        SyncRole::Semaphore { .. } => "order the sets and waits of both cores so that one of them can proceed".into(),
        SyncRole::Token { .. } | SyncRole::UnitFlag { .. } => {
            "the pipe that must release the buffer is itself waiting: whatever it waits for must not come after this acquire".into()
        }
    })
}

/// Advice for rings full of tiles that nobody has popped: names all of them, in both directions, and suggests more
/// slots only where there can be more.
fn unpopped(view: &View<'_>, platform: &Platform, blocked: &[Blocked]) -> String {
    let mut rings: Vec<u32> = Vec::new();
    for agent in blocked {
        if let Reason::Wait(sync) = agent.reason
            && let SyncRole::RingFree { ring, .. } = view.program.syncs[sync as usize].role
            && !rings.contains(&ring)
        {
            rings.push(ring);
        }
    }
    let ways = |direction| view.program.rings.iter().any(|ring| ring.direction == direction);
    let two_way = ways(Direction::C2V) && ways(Direction::V2C);
    let most = |ring: &RingDecl| match (ring.counted, two_way) {
        (true, _) => platform.ring.max_slots.min(platform.sync.semaphore_max),
        (false, true) => platform.ring.slots_both_ways,
        (false, false) => platform.ring.slots_one_way,
    };
    let (mut full, mut directions, mut can_grow) = (Vec::new(), Vec::new(), true);
    for at in rings {
        let Some(ring) = view.program.rings.get(at as usize) else { continue };
        let (_, consumer) = ends(view.program, at);
        let slots = count(u64::from(ring.slots), "slot");
        let own = format!(
            "{} is full: all of its {slots} hold tiles that {consumer} has not popped",
            report::ring(&ring.name)
        );
        // Both Vector cores have a ring of that name.
        if !full.contains(&own) {
            full.push(own);
        }
        if !directions.contains(&ring.direction) {
            directions.push(ring.direction);
        }
        can_grow &= ring.slots < most(ring);
    }
    let (pop, rings) = match directions.len() {
        2 => ("both sides push before they pop: pop on one of them before its own ring is full", "rings"),
        _ => ("pop before that many are pushed", "ring"),
    };
    let more =
        if can_grow { format!(", or give the {rings} more slots with `slot_num` at both ends") } else { String::new() };
    format!("{}; {pop}{more}", full.join(", and "))
}

fn join(parts: &[String]) -> String {
    match parts {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
