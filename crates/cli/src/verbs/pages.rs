//! A page that is shown in a browser and comes anew: a server on this machine alone.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

/// How long a browser waits for the next page before it asks again, and for the rest of a question.
const PATIENCE: Duration = Duration::from_secs(20);

/// The most bytes of a question.
const MOST: u64 = 1 << 14;

/// What asks for the next page, and shows it.
const AGAIN: &str = "<script>(async () => { for (;;) { try { const got = await fetch('/after/NUMBER'); \
                     if (got.status === 205) { location.reload(); return; } } \
                     catch { await new Promise(go => setTimeout(go, 1000)); } } })();</script>";

/// What the page may do as a file, and what it may do here.
const ALONE: &str = "default-src 'none';";
const ASKS: &str = "default-src 'none'; connect-src 'self';";

#[derive(Default)]
struct Shown {
    number: u64,
    page: String,
}

/// The page that is shown.
#[derive(Clone)]
pub(super) struct Pages {
    shown: Arc<(Mutex<Shown>, Condvar)>,
    address: SocketAddr,
}

impl Pages {
    /// Shows pages on a port of 127.0.0.1; 0 takes one that is free.
    ///
    /// # Errors
    /// If it is taken.
    pub fn serve(port: u16) -> io::Result<Pages> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))?;
        let pages = Pages { shown: Arc::default(), address: listener.local_addr()? };
        let own = pages.clone();
        std::thread::Builder::new().name("pages".into()).spawn(move || {
            for stream in listener.incoming().flatten() {
                let own = own.clone();
                // A browser that goes away is no error.
                let answer = move || drop(own.answer(&stream));
                drop(std::thread::Builder::new().name("page".into()).spawn(answer));
            }
        })?;
        Ok(pages)
    }

    /// Where it is.
    pub fn address(&self) -> String {
        format!("http://{}/", self.address)
    }

    /// Shows a page from now on.
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
        // Another site whose name leads here must not read what is shown.
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
                // The page of a file asks nobody for anything; this one asks for the next.
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
