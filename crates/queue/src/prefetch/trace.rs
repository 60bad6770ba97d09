//! Commands from DRAM: EXEC_BUF reads pages into the command area, cyclically, and runs the commands in them.

use crate::machine::{Core, Port, Stop, page_address};
use crate::prefetch::prefetcher::{Prefetcher, Trace};
use crate::sanitize::Hazard;
use crate::wire::{ExecBuf, Prefetch};

/// The first read is short, so that commands can start; those after it fill the area in the background.
const FIRST: u32 = 16 << 10;

impl Trace {
    fn capacity(&self) -> u32 {
        self.end - self.base
    }

    fn wrapped(&self, at: u32) -> u32 {
        if at >= self.end { at - self.capacity() } else { at }
    }

    /// Starts to read as many pages as there is capacity for.
    async fn refill(&mut self, core: &Core) -> Result<(), Stop> {
        let free = self.capacity() - self.valid - self.pending;
        let most = if self.rounds == 0 { FIRST.max(self.page) } else { free };
        let pages = (free.min(most) / self.page).min(self.pages_left);
        if pages == 0 || self.pending > 0 {
            return Ok(());
        }
        // Data relayed from here must have left.
        let wait = core.look().until_sent(Port::Prefetch);
        core.wait(wait).await;
        self.rounds = self.rounds.saturating_add(1);
        let mut world = core.world();
        for _ in 0..pages {
            let index = self.exec.pages - self.pages_left;
            let (xy, addr) = page_address(&world.chip, true, 0, self.exec.base_addr, self.page, index);
            let to = self.wrapped(self.wrapped(self.ptr + self.valid) + self.pending);
            world.read(Port::Prefetch, xy, addr, to, self.page)?;
            self.pages_left -= 1;
            self.pending += self.page;
        }
        Ok(())
    }

    /// Waits until this many bytes from `ptr` have landed.
    pub async fn ensure(&mut self, core: &Core, bytes: u32) -> Result<(), Stop> {
        while self.valid < bytes {
            if self.pending == 0 {
                self.refill(core).await?;
            }
            if self.pending == 0 {
                let pages = self.exec.pages;
                return Err(core.lose(Hazard::ExecBufRunsOut, || {
                    format!("the {pages} pages of the exec_buf have been run, and there was no EXEC_BUF_END")
                }));
            }
            let wait = core.look().until_read(Port::Prefetch);
            core.wait(wait).await;
            self.valid += std::mem::take(&mut self.pending);
            self.refill(core).await?;
        }
        Ok(())
    }

    /// The next contiguous bytes, at most `most`.
    pub async fn span(&mut self, core: &Core, most: u32) -> Result<(u32, u32), Stop> {
        self.ensure(core, 1).await?;
        Ok((self.ptr, most.min(self.valid).min(self.end - self.ptr)))
    }

    /// Skips bytes.
    pub async fn skip(&mut self, core: &Core, mut bytes: u32) -> Result<(), Stop> {
        self.passed = self.passed.saturating_add(bytes);
        while bytes > 0 {
            self.ensure(core, 1).await?;
            let n = bytes.min(self.valid);
            self.ptr = self.wrapped(self.ptr + n);
            self.valid -= n;
            bytes -= n;
        }
        Ok(())
    }

    /// Copies bytes after the current command's header, which has not been skipped.
    pub async fn copy(&mut self, core: &Core, offset: u32, out: &mut [u8]) -> Result<(), Stop> {
        self.ensure(core, offset.saturating_add(out.len() as u32)).await?;
        let world = core.look();
        for (i, byte) in out.iter_mut().enumerate() {
            let at = self.wrapped(self.ptr + offset + i as u32);
            *byte = world.memory.l1(world.chip.prefetch(), at, 1)[0];
        }
        Ok(())
    }
}

impl Prefetcher {
    /// EXEC_BUF: runs commands from DRAM until EXEC_BUF_END.
    pub(super) async fn exec_buf(&mut self, exec: ExecBuf) -> Result<(), Stop> {
        let area = &self.core.layout.prefetch;
        let page = 1u32.checked_shl(exec.log_page_size).filter(|page| (64..=area.cmddat_bytes).contains(page));
        if page.is_none_or(|page| !area.cmddat_bytes.is_multiple_of(page)) {
            self.core.flag(Hazard::ExecBufPageMisfit, || {
                format!("pages of 2^{} bytes do not divide an area of {}", exec.log_page_size, area.cmddat_bytes)
            })?;
        }
        let Some(page) = page else { return Err(Stop) };
        let base = area.cmddat_base;
        let trace = Trace {
            base,
            end: base + area.cmddat_bytes / page * page,
            exec,
            page,
            pages_left: exec.pages,
            ptr: base,
            valid: 0,
            pending: 0,
            passed: 0,
            rounds: 0,
        };
        self.trace = Some(trace);
        self.core.world().judge_trace(exec, page);
        let done = self.run_trace().await;
        self.trace = None;
        done
    }

    async fn run_trace(&mut self) -> Result<(), Stop> {
        while let Some(trace) = &mut self.trace {
            trace.ensure(&self.core, 64).await?;
            trace.passed = 0;
            let at = trace.ptr;
            let header = self.decode(at)?;
            if matches!(header, Prefetch::ExecBuf(_) | Prefetch::Terminate(_)) {
                return Err(self
                    .core
                    .lose(Hazard::PrefetchIllegal, || format!("{} inside an exec_buf", header.name())));
            }
            self.command(header, at).await?;
            if matches!(header, Prefetch::ExecBufEnd(_)) {
                return Ok(());
            }
            if let Some(trace) = &mut self.trace {
                let rest = header.stride().checked_sub(trace.passed).filter(|_| header.stride() > 0);
                let Some(rest) = rest else {
                    return Err(self.core.lose(Hazard::RecordTrailing, || {
                        format!("{} has a stride of {} bytes, less than it takes", header.name(), header.stride())
                    }));
                };
                trace.skip(&self.core, rest).await?;
            }
        }
        Ok(())
    }
}
