//! Serves a page that reloads when it changes, to browsers on this machine only.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long a request waits for the next page before the browser asks again, and how long reading a request may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// Maximum size of a request in bytes.
const MOST: u64 = 1 << 14;

/// The script that requests the next page, and shows it.
const AGAIN: &str = "<script>(async () => { for (;;) { try { const got = await fetch('/after/NUMBER'); \
                     if (got.status === 205) { location.reload(); return; } } \
                     catch { await new Promise(go => setTimeout(go, 1000)); } } })();</script>";

/// The page's content security policy as a file, and as served here.
const ALONE: &str = "default-src 'none';";
const ASKS: &str = "default-src 'none'; connect-src 'self';";

#[derive(Default)]
struct Shown {
    number: u64,
    page: String,
}

/// The served page.
#[derive(Clone)]
pub(super) struct Pages {
    shown: Arc<(Mutex<Shown>, Condvar)>,
    address: SocketAddr,
}

impl Pages {
    /// Serves pages on a port of 127.0.0.1; 0 selects a free one.
    ///
    /// # Errors
    ///
    /// If the port is in use.
    pub fn serve(port: u16) -> io::Result<Pages> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let pages = Pages { shown: Arc::default(), address: listener.local_addr()? };
        let own = pages.clone();
        std::thread::Builder::new().name("pages".into()).spawn(move || {
            for stream in listener.incoming().flatten() {
                let own = own.clone();
                // A browser that disconnects is not an error.
                let answer = move || drop(own.answer(&stream));
                drop(std::thread::Builder::new().name("page".into()).spawn(answer));
            }
        })?;
        Ok(pages)
    }

    /// The address of the server.
    pub fn address(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Replaces the served page.
    pub fn show(&self, page: String) {
        let (shown, changed) = &*self.shown;
        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        (shown.number, shown.page) = (shown.number + 1, page);
        changed.notify_all();
    }

    fn answer(&self, stream: &TcpStream) -> io::Result<()> {
        stream.set_read_timeout(Some(PATIENCE))?;
        let mut lines = BufReader::new(stream.take(MOST)).lines();
        let first = lines.next().transpose()?.unwrap_or_default();
        let mut host = None;
        for line in lines {
            let line = line?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("host")
            {
                host = Some(value.trim().to_string());
            }
        }
        // Against DNS rebinding: a site whose name resolves to this machine must not read the page.
        let own = [self.address.to_string(), format!("localhost:{}", self.address.port())];
        if host.is_none_or(|host| !own.contains(&host)) {
            return say(stream, "403 Forbidden", "this page is only served to this machine");
        }
        let words: Vec<&str> = first.split(' ').collect();
        match words[..] {
            ["GET", "/", _] => {
                let (number, page) = {
                    let shown = self.shown.0.lock().unwrap_or_else(PoisonError::into_inner);
                    (shown.number, shown.page.clone())
                };
                // As a file, the page connects to nothing; as served, it requests the next page.
                let page = page.replacen(ALONE, ASKS, 1);
                let again = AGAIN.replace("NUMBER", &number.to_string());
                let page = match page.rsplit_once("</body>") {
                    Some((front, back)) => format!("{front}{again}</body>{back}"),
                    None => page + &again,
                };
                say(stream, "200 OK", &page)
            }
            ["GET", path, _] if path.starts_with("/after/") => {
                let Ok(number) = path["/after/".len()..].parse::<u64>() else {
                    return say(stream, "404 Not Found", "there is one page");
                };
                let (shown, changed) = &*self.shown;
                let shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
                let old = |shown: &mut Shown| shown.number <= number;
                let waited = changed.wait_timeout_while(shown, PATIENCE, old);
                let timed_out = waited.is_ok_and(|(_, waited)| waited.timed_out());
                say(stream, if timed_out { "204 No Content" } else { "205 Reset Content" }, "")
            }
            _ => say(stream, "404 Not Found", "there is one page"),
        }
    }
}

fn say(mut stream: &TcpStream, status: &str, body: &str) -> io::Result<()> {
    let head = "Content-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\nConnection: close";
    write!(stream, "HTTP/1.1 {status}\r\n{head}\r\nContent-Length: {}\r\n\r\n{body}", body.len())?;
    stream.flush()
}
