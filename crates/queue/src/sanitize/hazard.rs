//! The hazards of driving the command queue, declared once: code, severity, meaning and remedy.

/// The severity of a finding.
#[derive(Clone, Copy, PartialEq, Eq, Debug, PartialOrd, Ord)]
pub enum Severity {
    /// Works today, by luck or by a margin that is not guaranteed.
    Warning,
    /// Hangs a board, corrupts memory, or runs arbitrary bytes as code.
    Error,
}

/// The declaration of a hazard.
#[derive(Clone, Copy, Debug)]
pub struct HazardDef {
    /// Stable code, such as `slot-overwritten`.
    pub code: &'static str,
    /// Its severity.
    pub severity: Severity,
    /// The consequence on silicon, in one sentence.
    pub meaning: &'static str,
    /// How a driver avoids it.
    pub hint: &'static str,
}

macro_rules! hazards {
    ($($name:ident $code:literal $severity:ident $meaning:literal $hint:literal;)*) => {
        /// All named errors of a driver.
        #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, PartialOrd, Ord)]
        pub enum Hazard { $(#[doc = $meaning] $name,)* }

        impl Hazard {
            /// All hazards, in the order of a record's path.
            pub const ALL: &[Hazard] = &[$(Hazard::$name,)*];

            /// The hazard with this code.
            pub fn named(code: &str) -> Option<Hazard> {
                Hazard::ALL.iter().copied().find(|hazard| hazard.def().code == code)
            }

            /// Its declaration.
            pub const fn def(self) -> &'static HazardDef {
                match self {
                    $(Hazard::$name => &HazardDef { code: $code, severity: Severity::$severity, meaning: $meaning, hint: $hint },)*
                }
            }
        }
    };
}

hazards! {
    // The host and the fetch queue.
    SlotOverwritten "slot-overwritten" Error
        "A slot of the fetch queue is written while the prefetcher has not consumed it: a record is lost or read with a wrong size."
        "wait until the slot reads 0 before writing it";
    SlotOutOfOrder "slot-out-of-order" Error
        "A slot is written that is not the next one: the prefetcher reads slots in order and never looks past an empty one."
        "write slots one after another, and wrap after the last";
    SlotTorn "slot-torn" Error
        "A slot is stored byte by byte, so the prefetcher may see half of a size."
        "store the two bytes of a slot at once";
    RecordUnaligned "record-unaligned" Error
        "A record's size is not a multiple of 64 bytes: the pointers of host and device drift apart, and reads through PCIe come back shifted."
        "pad records to 64 bytes";
    RecordEmpty "record-empty" Error
        "A slot says 0 bytes: the prefetcher stays on it forever while the host goes on to the next."
        "never queue an empty record, with or without the stall flag";
    StallWithoutExecBuf "stall-without-exec-buf" Error
        "A slot has the stall flag (or a size of 512 KiB and more, which sets it) but its record starts no exec_buf: nothing ever ends the stall."
        "set bit 15 only for the record that carries EXEC_BUF, and keep records below 512 KiB";
    RecordTooLarge "record-too-large" Error
        "A record is larger than the command area: it overruns the scratch buffers after it."
        "split records at the size of the command area, 256 KiB";
    IssueLapped "issue-lapped" Error
        "The host writes issue memory that holds a record whose slot is still queued: the device runs what replaced it."
        "keep the issue pointer after the device's read pointer, and write a record before its slot";
    IssueInFlight "issue-in-flight" Error
        "The host writes issue memory whose slot is free again but whose bytes are still being read: slots free up when a read starts."
        "take issue memory as free only when a later completion proves that the record ran";
    BorrowedChanged "borrowed-memory-changed" Error
        "Host memory that a queued record relays is changed before it was read: the device reads the old bytes, the new ones, or some of each."
        "change it only when a completion says that the record has run";
    RecordTrailing "record-trailing-bytes" Error
        "The strides of a record's commands do not add up to its size: the prefetcher executes padding, or the next record, as a command."
        "give the last command of a record a stride that ends where the record ends";
    SysmemMisplaced "sysmem-misplaced" Error
        "The pinned buffer is not where the kernels were built to find it: they read other host memory, or none."
        "pin the queue's buffer so that the device sees it at 0x40000000";
    KernelBaseMismatch "kernel-base-mismatch" Error
        "A launch message places the kernel's semaphores elsewhere than its kernel expects: they alias other data."
        "use one kernel configuration base for host and kernels";
    CreditsNotInitialised "credits-not-initialised" Error
        "A queue core starts with a page semaphore that does not hold its initial value: credits never match the buffer."
        "write the semaphores of the kernel image before the go message";

    // The prefetcher.
    PrefetchIllegal "prefetch-illegal-command" Error
        "The prefetcher meets a command id that its kernel has no case for: the core jumps into arbitrary code."
        "send only ids that this firmware has";
    RelayUnfetched "relay-unfetched" Error
        "A relay takes bytes, or a list, from beyond its record: that part of the command area was never fetched for it."
        "keep lengths and lists within the record that carries them";
    RelayBeforeWrite "relay-before-write" Error
        "The prefetcher reads memory that an earlier command writes, and nothing makes it wait: it runs ahead, and relays the old bytes."
        "wait on the host for an event after a barrier, or put a WAIT that notifies and a STALL in between";
    RelayBeforeDone "relay-before-done" Error
        "The prefetcher reads memory of a worker that an earlier command starts, and nothing makes it wait until the worker is done: it runs ahead of the dispatcher's WAIT, and relays what was there before the result."
        "wait on the host for an event after the WAIT, or let the WAIT notify and put a STALL in front of the relay";
    RelayFromQueue "relay-from-queue" Error
        "A relay reads memory of the queue itself, its pointers, records and completions in host memory or the L1 of its two cores, which changes while it is read."
        "relay from DRAM, from workers, or from host memory after the queue's own";
    ExecBufBeforeWrite "exec-buf-before-write" Error
        "EXEC_BUF runs commands from memory that an earlier command writes, and nothing makes the prefetcher wait: it runs the old bytes."
        "wait on the host until the buffer has been written";
    RelayTooManyPages "relay-too-many-pages" Warning
        "A RELAY_INLINE asks for more pages than may come back while the dispatcher waits for it: whether it hangs depends on the phase of the page buffer."
        "keep the payload of one relay at or below 65 pages (266,240 bytes)";
    RelayNeverFits "relay-never-fits" Error
        "A RELAY_INLINE asks for more pages than can ever be free: it waits forever."
        "keep the payload of one relay at or below 65 pages (266,240 bytes)";
    NoflushDangling "noflush-dangling" Error
        "A RELAY_INLINE_NOFLUSH is followed by a command that does not append to its page: one page credit is lost and its header is overwritten."
        "follow NOFLUSH by a paged, packed, linear or ring-buffer relay";
    RelayWithoutNoflush "relay-without-noflush" Error
        "A paged, packed, linear or ring-buffer relay has no NOFLUSH in front: it releases one page more than it took, and the dispatcher reads a stale page."
        "send the dispatch header by RELAY_INLINE_NOFLUSH first";
    StallSemaphoreIsCode "stall-semaphore-is-code" Error
        "A STALL, or a WAIT that notifies the prefetcher, uses a semaphore whose word is the first instruction of the prefetch kernel in this configuration."
        "do not use STALL and NOTIFY_PREFETCH here, or reserve semaphores 2 and 3 in the kernel image";
    StallMiscounted "stall-miscounted" Error
        "A STALL waits until there have been exactly as many notices as STALLs, and another number stands before it: it waits forever, or passes only if it looks in time."
        "put one WAIT that notifies in front of each STALL";
    ExecBufWithoutStall "exec-buf-without-stall" Error
        "EXEC_BUF runs from a record whose slot had no stall flag: records fetched meanwhile are overwritten by the trace."
        "set bit 15 of the slot of the record that carries EXEC_BUF";
    ExecBufPageMisfit "exec-buf-page-misfit" Error
        "The command area is not a multiple of the page size of the exec_buf: the trace wraps in the middle of a page."
        "use a page size that divides the command area";
    ExecBufRunsOut "exec-buf-runs-out" Error
        "The pages of an exec_buf end before its EXEC_BUF_END: the prefetcher executes whatever follows as commands."
        "end every trace with EXEC_BUF_END and count its pages";
    SubordinateNoCredits "subordinate-no-credits" Error
        "A relay goes to the subordinate dispatcher, which grants no page in this configuration: the prefetcher waits forever."
        "send go signals through the main dispatcher";
    LengthAdjustUnderflow "length-adjust-underflow" Error
        "A relay is left with nothing to write in its last round: the page count wraps to about a million, and the wait for credits never ends."
        "keep length_adjust below the bytes of the last scratch round, and lengths above 0";
    PackedLengthMismatch "packed-length-mismatch" Error
        "The total of a packed relay is not the sum of its parts, or its list is too long for the prefetcher's cache."
        "send at most 35 parts (52 for a ring-buffer relay) and their true sum";
    RingBufferOverrun "ring-buffer-overrun" Error
        "A ring-buffer command reaches past the ring buffer, which nothing on the device checks."
        "reset the write pointer in time, and do not use ring-buffer commands where the configuration has none";

    // Two queues.
    QueuesRace "queues-race" Error
        "Commands of two queues use the same bytes, one of them writes, and no event says which comes first: each queue goes on without the other."
        "put a barrier behind the first command, write an event to the other queue's dispatch core, and let the other queue WAIT for that word";
    QueuesDeadlock "queues-wait-for-each-other" Error
        "Each of two queues waits for an event that the other one sends only after its own wait: both wait forever."
        "let one of them send its event before it waits";
    EventNeverSent "event-never-sent" Error
        "A queue waits for an event of the other queue that no command sends: it waits forever."
        "write at least the number that is waited for to the word of the dispatch core that waits";

    // The dispatcher.
    DispatchIllegal "dispatch-illegal-command" Error
        "The dispatcher meets a command id that its kernel has no case for: the core jumps into arbitrary code."
        "send only ids that this firmware has";
    StalePage "stale-page" Error
        "The dispatcher reads bytes of a page that was not written since it was released."
        "make relay lengths cover what the dispatch command says it carries";
    CommandUnfinished "command-unfinished" Error
        "A dispatch command announces more bytes than were relayed: the dispatcher waits in it, and takes whatever is relayed next for the rest."
        "relay as many bytes as header, list and data take";
    PackedTooMany "packed-too-many-targets" Error
        "A packed write has more targets than the dispatcher's cache holds: the rest lands on its stack."
        "send at most 118 targets (59 rectangles, 35 for a large write) in one command";
    PackedTooLarge "packed-too-large" Error
        "A packed write's datum exceeds a page, or its target list leaves the first page: the count of available bytes underflows."
        "keep data at or below 4096 bytes and the list within the first page";
    NoStrideCrossesPage "no-stride-crosses-page" Error
        "A packed write without stride does not lie in one page: the page that holds its tail is executed as a command."
        "keep header, targets and payload of a NO_STRIDE write within 4096 bytes";
    MulticastCount "multicast-count-mismatch" Error
        "A multicast announces a number of destinations that differs from the workers in its rectangle: a later barrier never sees, or does not wait for, all acknowledgements."
        "count the workers that the rectangle covers, and cover nothing else";
    MulticastTargets "multicast-targets" Error
        "A multicast covers tiles that are not workers: harvested columns, other kinds of tiles, or the queue's own cores."
        "cover workers by several rectangles";
    MulticastCorners "multicast-corners" Error
        "A rectangle's corners are the wrong way round for the network that carries it: it wraps around the chip."
        "put the larger corner into the upper half of the word";
    MulticastLinked "multicast-left-linked" Error
        "The last part of a large packed write does not unlink: the path through the network stays reserved, and the next write may hang."
        "set UNLINK on the last part";
    MulticastBackToBack "multicast-back-to-back" Error
        "A multicast starts while another of this dispatcher is not acknowledged: path reservations may block each other."
        "put a WAIT with the barrier flag between multicast writes";
    GoMaster "go-without-master" Error
        "A go message does not name the dispatch core: workers finish, but their notice goes elsewhere and the wait never ends."
        "put the dispatch core's coordinates into the go word";
    WaitCountTooLarge "wait-count-too-large" Error
        "A WAIT's count exceeds half of the stream's 17-bit range and is misjudged."
        "clear streams, and keep counts at or below 65,535";
    WaitStale "wait-stale" Error
        "A wait on a stream that was not cleared passes by the notices of an earlier launch, while the workers launched since still run."
        "clear the stream with each wait, or wait for the sum of all launches since it was cleared";
    WaitUnreachable "wait-unreachable" Error
        "A WAIT counts more notices than the launched workers will send."
        "count the workers that were launched in device mode, and clear the stream before each launch";
    WaitForeignStream "wait-foreign-stream" Warning
        "A command waits on a stream that counts no workers: the kernel does not clear it at its start, and nothing notifies it."
        "wait on the streams that count workers, 48 to 55 in the fixed configuration";
    GoListOverrun "go-list-overrun" Error
        "A list of go targets exceeds the dispatcher's 256 words, or its page: it overwrites local memory."
        "send at most 256 words, all in the record";
    GoIndexOutside "go-index-outside" Error
        "A go signal uses targets beyond those that were set, or its index passes 255 and wraps."
        "keep first target plus count within the list";
    GoBeforePayload "go-before-payload" Error
        "A go signal may overtake a write that its worker is to see: to the same worker in another channel (multicast, unicast), or to DRAM, and no barrier orders them."
        "put a WAIT with the barrier flag between the last write and the go signal";
    GoBeforeReset "go-before-reset" Error
        "A go message replaces a reset of the launch pointer that the worker has not seen: it runs the wrong launch message."
        "put something that takes the worker time between the reset and the go signal";
    GoWhileRunning "go-while-running" Error
        "A worker is sent a go message while it runs: the signal is lost when the worker reports that it is done."
        "wait for the previous launch";
    WriteOvertakesWrite "write-overtakes-write" Error
        "Two writes to the same bytes of a tile travel in different channels (multicast, unicast) without a barrier between them: either may arrive last."
        "put a WAIT with the barrier flag between them";
    WriteWhileRunning "write-while-running" Warning
        "A worker's kernel configuration is overwritten while it runs."
        "wait for the launch before writing the next one's kernel";
    WriteOffsetOverrun "write-offset-overrun" Error
        "A command sets or uses a write offset beyond the four that exist."
        "use offsets 0 to 3";
    CompletionNotDrained "completion-not-drained" Error
        "The completion ring is full and the host never advances its read pointer: the dispatcher waits forever."
        "advance the read pointer in the dispatch core's memory after each completion";
    CompletionHeader "completion-header" Error
        "A record for the host is shorter than its own 16-byte header. With 0 bytes the dispatcher never gets past it; else the host finds half a header."
        "count the header in the length";
    CompletionPointer "completion-pointer" Error
        "The host's completion read pointer lies outside what was written, or its toggle is wrong: the ring looks empty or full forever."
        "flip the toggle exactly when the pointer returns to the start of the ring";
    CompletionInsideRecord "completion-inside-record" Warning
        "The host's completion read pointer stops inside a record of several pages: what it reads there is not an event."
        "advance by the pages of the whole record";
    HostBeforeWrite "host-before-write" Error
        "The host reads memory that a command writes, and has taken no completion that was written after a barrier after it: it may read the old bytes."
        "wait for an event that a WAIT with the barrier flag precedes";
    HostBeforeDone "host-before-done" Error
        "The host reads what a worker writes, and has taken no completion that was written after the WAIT for the worker: it may read what was there before the result."
        "wait for an event that the WAIT for the launch precedes";
    NocUnmapped "noc-unmapped" Error
        "A write or read goes to coordinates or an address where nothing is: it vanishes, or hangs the bus."
        "use translated coordinates and addresses that exist on that tile";
    PcieAddress "pcie-address" Error
        "Host memory is addressed without bit 60, or by mirrored or physical coordinates of the PCIe tile."
        "address host memory by the word 0x01000613, on either network";
    PcieOutside "pcie-outside" Error
        "A write or read through PCIe leaves the pinned memory."
        "check slot numbers against the end of the pinned buffer";
    NocAlignment "noc-alignment" Error
        "Source and destination of a transfer differ modulo 16 (64 for reads of host memory and DRAM): wrong bytes arrive."
        "keep both ends congruent";
    InlineWriteHazard "inline-write-hazard" Error
        "An inline write is issued while writes to several ports are in flight on the same tile, which hangs the hardware."
        "write from L1 instead, or wait for acknowledgements first";
    MidResidue "noc-mid-residue" Error
        "The upper address register of a command buffer still points at PCIe: a write meant for L1 goes to host memory."
        "restore the register after traffic to PCIe";
    QueueCoreWritten "queue-core-written" Error
        "A dispatched write hits the prefetch or dispatch core itself."
        "leave the two queue cores out of every target list";
    FirmwareOverwritten "firmware-overwritten" Error
        "A dispatched write hits a worker's firmware."
        "write kernels after the kernel configuration base";
    LaunchOutsideRing "launch-outside-ring" Error
        "A launch message does not lie at an entry of the worker's launch ring, or not at the one that is read next: the worker runs another."
        "write 96-byte messages to 0x70 + 96 times the entry, and reset the read pointer when in doubt";
    LaunchPastRing "launch-past-ring" Error
        "Launch messages run past the end of the worker's launch ring, into its go messages."
        "write at most 8 messages, from the entry that is read next on";
    MailboxOverwritten "mailbox-overwritten" Error
        "A time is written over a worker's launch messages, go messages or their index: the worker takes it for one."
        "write times to their slots in host memory, or after the mailboxes";
    KernelOutside "kernel-outside" Error
        "A launch message places its kernel, or what belongs to it, outside of the worker's L1: the worker jumps to code that is not there."
        "keep base plus offset within L1";
    QueueMemoryWritten "queue-memory-written" Error
        "A dispatched write hits host memory that belongs to the queue itself: its pointers, records that wait to be fetched, or completions."
        "write to timestamp slots, core timing slots, or memory pinned for data";
    IssueOverrun "issue-overrun" Error
        "The host writes past the end of the issue region, into the completion ring after it."
        "wrap to the start of the region where a record does not fit";
    L1Outside "l1-outside" Error
        "A write or read leaves a tile's 1.5 MiB."
        "check address plus length";

    TrailingBytes "trailing-bytes" Warning
        "A relay carries more bytes than its dispatch command takes: nothing reads the rest."
        "relay as many bytes as header, list and data take";
    CommandSkipped "command-skipped" Error
        "A relay carries a second dispatch command in the same page: the dispatcher goes on at the next page and never sees it."
        "relay every dispatch command on its own";
    ReservedBytes "reserved-bytes" Warning
        "Bytes or bits that belong to no field are not zero. The device ignores them; a field may be in the wrong place."
        "zero what belongs to no field, and compare the layout with the firmware's version";
    WaitTooEarly "wait-too-early" Error
        "A wait is for fewer notices than are on their way: it passes early, and later notices count for the next launch."
        "wait for exactly the workers that were launched";
    AfterTerminate "after-terminate" Error
        "A record follows the command that ends the kernel: it is never read."
        "terminate last";

    // Workers, and termination.
    WorkerFault "worker-fault" Error
        "A worker could not run what it was launched with."
        "see the worker's own message";
    CreditDeadlock "credit-deadlock" Error
        "The prefetcher waits for page credits while the dispatcher waits for the pages that these credits would buy."
        "split the relay into records of at most 65 pages";
    RunLimit "run-limit" Error
        "The run was given up: it took more steps, time or memory than its limit. Whether the device would ever end is not known."
        "look for what repeats; raise the limit if the stream is that long";
    Hang "hang" Error
        "Nothing can happen any more, and somebody waits."
        "see who waits for what";
}
