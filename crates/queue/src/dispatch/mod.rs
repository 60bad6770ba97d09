//! The dispatcher: it takes commands from its ring of pages and performs writes, waits, signals and reports.
//!
//! | file | contents |
//! |---|---|
//! | `reader` | pages: credits, blocks, and giving them back |
//! | `write` | writes to one address, to a rectangle, and to interleaved pages |
//! | `packed` | packed writes |
//! | `completion` | the host's completion ring |
//! | `signal` | waits, streams, go signals, timestamps |

mod completion;
mod packed;
mod reader;
mod signal;
mod write;

use crate::machine::{Core, Port, Stop};
use crate::sanitize::Hazard;
use crate::wire::{Dispatch, MAX_GO_WORDS, SetWriteOffset, WRITE_OFFSETS};
use reader::Reader;
pub(crate) use signal::send;

/// Runs the kernel to its end.
pub(crate) async fn run(core: Core) -> Result<(), Stop> {
    let base = core.layout.dispatch.cb_base;
    {
        let mut world = core.world();
        for stream in 0..core.layout.dispatch.streams {
            let stream = core.layout.dispatch.first_stream + stream;
            let value = world.stream(stream);
            world.add_to_stream(stream, value.wrapping_neg());
        }
    }
    let completion = core.word(core.layout.dispatch.completion_wr);
    let before = core.look().pages_before;
    let mut dispatcher = Dispatcher {
        reader: Reader::new(&core.layout, before),
        cmd_ptr: base,
        end: base,
        write_offsets: [0; WRITE_OFFSETS as usize],
        go_list: [0; MAX_GO_WORDS as usize],
        go_count: 0,
        completion,
        core,
    };
    while !dispatcher.next().await? {}
    dispatcher.end().await
}

struct Dispatcher {
    core: Core,
    reader: Reader,
    /// Address after the processed part of the command.
    cmd_ptr: u32,
    /// Address after the last used byte of the command.
    end: u32,
    write_offsets: [u32; WRITE_OFFSETS as usize],
    go_list: [u32; MAX_GO_WORDS as usize],
    go_count: u32,
    /// Completion write pointer in units of 16 bytes, with its toggle in bit 31.
    completion: u32,
}

impl Dispatcher {
    /// Runs one command; returns whether it was TERMINATE.
    async fn next(&mut self) -> Result<bool, Stop> {
        self.reader.inside = false;
        self.reader.available(&self.core, &mut self.cmd_ptr).await?;
        self.reader.inside = true;
        let at = self.cmd_ptr;
        let bytes: [u8; 32] = self.core.bytes(at)?;
        let header = Dispatch::decode(&bytes);
        {
            let name = header.as_ref().map_or("?", |header| header.name());
            let mut world = self.core.world();
            let page = self.reader.page_of(&world, at);
            world.command(self.core.actor, name, page.record, page.at);
        }
        self.core.work().await;
        let header = header.ok().filter(|header| header.has_case()).ok_or_else(|| {
            self.core
                .lose(Hazard::DispatchIllegal, || format!("this kernel has no case for the command id {}", bytes[0]))
        })?;
        self.cmd_ptr += header.header_bytes() as u32;
        self.end = self.cmd_ptr;
        match header {
            Dispatch::WriteLinear(c) | Dispatch::WriteLinearH(c) => self.write_linear(c).await?,
            Dispatch::WriteHost(c) => self.write_host(c, at).await?,
            Dispatch::WritePaged(c) => self.write_paged(c).await?,
            Dispatch::WritePacked(c) => self.write_packed(c, at).await?,
            Dispatch::WritePackedLarge(c) => self.write_packed_large(c, at).await?,
            Dispatch::Wait(c) => self.wait(c).await?,
            Dispatch::SendGoSignal(c) => self.send_go(c, at).await?,
            Dispatch::NotifySubordinate(c) => self.notify_subordinate(c).await,
            Dispatch::SetGoSignalNocData(c) => self.set_go_list(c.num_words, at)?,
            Dispatch::SetWriteOffset(c) => self.set_write_offsets(c)?,
            Dispatch::Timestamp(c) => self.timestamp(c, at).await?,
            Dispatch::Terminate(_) => {
                self.core.world().ledger.left_by_terminate = u64::from(self.reader.pages_behind(self.cmd_ptr));
                return Ok(true);
            }
            Dispatch::ExecBufEnd(_) | Dispatch::SetNumWorkerSems(_) => {}
            Dispatch::Sink(_) | Dispatch::Debug(_) | Dispatch::Delay(_) => {}
        }
        self.reader.check_filled(&self.core, self.end - 1, self.end)?;
        self.cmd_ptr = self.reader.round_up(self.cmd_ptr);
        self.core.world().close_span(self.core.actor);
        Ok(false)
    }

    fn set_write_offsets(&mut self, c: SetWriteOffset) -> Result<(), Stop> {
        let start = self.cmd_ptr;
        if c.offset_count > WRITE_OFFSETS {
            self.core.flag(Hazard::WriteOffsetOverrun, || {
                format!("{} write offsets are set; there are {WRITE_OFFSETS}", c.offset_count)
            })?;
        }
        for (i, offset) in self.write_offsets.iter_mut().take(c.offset_count.into()).enumerate() {
            *offset = self.core.word(start + 4 * i as u32);
        }
        self.cmd_ptr = start + 4 * u32::from(c.offset_count);
        self.end = self.cmd_ptr;
        Ok(())
    }

    /// A write offset by its index.
    fn write_offset(&self, index: u16) -> Result<u32, Stop> {
        match self.write_offsets.get(usize::from(index)) {
            Some(offset) => Ok(*offset),
            None => {
                self.core.flag(Hazard::WriteOffsetOverrun, || {
                    format!("write offset {index} is used; there are {WRITE_OFFSETS}")
                })?;
                Ok(0)
            }
        }
    }

    /// Waits until all writes have been acknowledged.
    async fn barrier(&self) {
        let wait = self.core.look().until_acknowledged(Port::Dispatch);
        self.core.wait(wait).await;
        self.core.world().passed_barrier(Port::Dispatch);
    }

    /// The actions of TERMINATE: returns all pages, and waits until everything has arrived.
    async fn end(&mut self) -> Result<(), Stop> {
        self.reader.release_all(&self.core).await;
        self.barrier().await;
        let wait = self.core.look().until_added(Port::Credits);
        self.core.wait(wait).await;
        Ok(())
    }
}
