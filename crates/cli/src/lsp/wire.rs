//! The messages of an editor, over standard input and output.

use std::io;
use std::thread::JoinHandle;

use lsp_server::{Connection, Message};
use slipring::files;

use crate::frames;

/// Maximum size of a message in bytes: that of a text, of which no character needs more than six for each of its bytes.
const MOST: usize = 8 * files::MOST_TEXT as usize;

/// The threads that read and write.
pub struct Threads {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Threads {
    /// Waits for both. The one that writes ends when nobody has the connection any more.
    ///
    /// # Errors
    ///
    /// What was read is not a message, or nothing can be read or written.
    pub fn join(self) -> io::Result<()> {
        let ended = |thread: JoinHandle<io::Result<()>>| {
            thread.join().unwrap_or_else(|_| Err(io::Error::other("a thread of the server failed")))
        };
        ended(self.reader).and(ended(self.writer))
    }
}

/// Starts the threads; returns the server's end of the connection.
pub fn open() -> (Connection, Threads) {
    let (server, Connection { sender, receiver }) = Connection::memory();
    let reader = std::thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(bytes) = frames::next(&mut input, MOST)? {
            let message = serde_json::from_slice(&bytes).map_err(|error| frames::wrong(&error.to_string()))?;
            let last = matches!(&message, Message::Notification(said) if said.method == "exit");
            // The server has ended if nothing receives it.
            if sender.send(message).is_err() || last {
                break;
            }
        }
        Ok(())
    });
    let writer = std::thread::spawn(move || {
        let mut output = io::stdout().lock();
        receiver.into_iter().try_for_each(|message| message.write(&mut output))
    });
    (server, Threads { reader, writer })
}
