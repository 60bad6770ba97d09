//! Buffers in a board's DRAM: their location, and the commands that write them and read them back.

use slipring_queue::board::Board;
use slipring_queue::host::{Device, HostError, Queue};
use slipring_queue::wire::{
    Dispatch, DispatchCommand, FieldRange, Packed, Prefetch, PrefetchCommand, RelayPaged, Subs, WriteHost, WritePaged,
    relay_inline,
};
use slipring_queue::worker::image::Buffer;

/// Page size of a buffer in bytes.
const PAGE: u32 = 4096;
/// Maximum number of pages per transfer: with its header it stays well below the limit of one record.
const MOST_PAGES: u32 = 32;

/// Places buffers one after the other, in pages distributed over the banks.
///
/// # Errors
/// If there is not enough DRAM, or not enough of it is addressable by commands.
pub(super) fn place(sizes: impl Iterator<Item = u64>, board: &Board) -> Result<Vec<Buffer>, String> {
    let banks = board.banks.len().max(1) as u64;
    let capacity = board.bank_bytes.min(1 << 32);
    let (mut next, mut buffers) = (0u64, Vec::new());
    for bytes in sizes {
        buffers.push(Buffer { addr: next, skip: 0, bytes, page: PAGE, read: true, written: true });
        next += bytes.div_ceil(u64::from(PAGE)).div_ceil(banks) * u64::from(PAGE);
        if next > capacity {
            return Err(format!("the buffers take more than the {capacity} bytes of each of the {banks} DRAM banks"));
        }
    }
    Ok(buffers)
}

/// A transfer: whole pages, starting at the first bank.
struct Part {
    /// Address of its page 0 in every bank.
    base: u32,
    pages: u32,
    /// The range of the buffer in it.
    bytes: std::ops::Range<usize>,
}

/// The transfers needed for `bytes` bytes of a buffer.
fn parts(buffer: &Buffer, bytes: usize, banks: u32) -> impl Iterator<Item = Part> + use<> {
    let rows = (MOST_PAGES / banks.max(1)).max(1);
    let step = (rows * banks.max(1) * PAGE) as usize;
    let addr = buffer.addr as u32;
    (0..bytes.div_ceil(step)).map(move |index| {
        let start = index * step;
        let end = bytes.min(start + step);
        let pages = (end - start).div_ceil(PAGE as usize) as u32;
        Part { base: addr + index as u32 * rows * PAGE, pages, bytes: start..end }
    })
}

/// Queues the commands that write a buffer's contents, WRITE_PAGED.
///
/// # Errors
/// As [`Queue::push`].
pub(super) fn upload<D: Device>(queue: &mut Queue<D>, buffer: &Buffer, contents: &[u8]) -> Result<(), HostError> {
    let banks = queue.board().banks.len() as u32;
    for part in parts(buffer, contents.len(), banks) {
        let mut data = contents[part.bytes].to_vec();
        data.resize((part.pages * PAGE) as usize, 0);
        let header = WritePaged { is_dram: 1, start_page: 0, base_addr: part.base, page_size: PAGE, pages: part.pages };
        queue.send(&DispatchCommand { header: Dispatch::WritePaged(header), subs: Subs::None, data })?;
    }
    Ok(())
}

/// Reads back a buffer's first `bytes` bytes: the prefetcher relays its pages after the header of a record for the
/// host. Their writers must be complete.
///
/// # Errors
/// As [`Queue::push`] and [`Queue::completion`].
pub(super) fn download<D: Device>(queue: &mut Queue<D>, buffer: &Buffer, bytes: usize) -> Result<Vec<u8>, HostError> {
    let banks = queue.board().banks.len() as u32;
    let mut contents = Vec::with_capacity(bytes);
    for part in parts(buffer, bytes, banks) {
        queue.send_together(&relay_to_host(&part)?, 0)?;
        let completion = queue.completion()?;
        let wanted = part.bytes.len();
        let Some(data) = completion.bytes.get(..wanted).filter(|_| !completion.is_event) else {
            let why = format!("{} bytes arrived where {wanted} were requested", completion.bytes.len());
            return Err(HostError::Completion { at: 0, why });
        };
        contents.extend_from_slice(data);
    }
    Ok(contents)
}

/// A record's header without releasing its page, and the pages that continue it.
fn relay_to_host(part: &Part) -> Result<[PrefetchCommand; 2], FieldRange> {
    let length = WriteHost::SIZE as u64 + u64::from(part.pages * PAGE);
    let header = DispatchCommand::bare(Dispatch::WriteHost(WriteHost { is_event: 0, length }));
    let mut first = relay_inline(header.encode())?;
    if let Prefetch::RelayInline(inline) = first.header {
        first.header = Prefetch::RelayInlineNoflush(inline);
    }
    let pages = RelayPaged {
        start_page: 0,
        is_dram_and_length_adjust: 0x8000,
        base_addr: part.base,
        page_size: PAGE,
        pages: part.pages,
    };
    Ok([first, PrefetchCommand::bare(Prefetch::RelayPaged(pages))])
}
