//! `slipring watch`: the reported changes after each save.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use crate::here::{self, root};

fn example(name: &str) -> String {
    std::fs::read_to_string(root().join("examples").join(name)).unwrap()
}

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("watch").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Writes a file as editors do: atomically.
fn save(file: &Path, text: &str) {
    let new = file.with_extension("new");
    std::fs::write(&new, text).unwrap();
    std::fs::rename(new, file).unwrap();
}

#[test]
fn each_save_says_what_came_and_went() {
    let file = folder("race").join("kernel.pto");
    let broken = example("broken/missing_flag.pto");
    save(&file, &broken);
    let mut watch = here::slipring().args(["watch", "--looks", "4"]).arg(&file).stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines().map(Result::unwrap);
    // Up to the line that ends a check.
    let mut look = || {
        let mut all = Vec::new();
        for line in lines.by_ref() {
            let ends = line.starts_with("== ");
            all.push(line);
            if ends {
                break;
            }
        }
        all.join("\n")
    };
    let first = look();
    assert!(first.contains("error[race]: ") && first.contains("28 |"), "{first}");
    assert!(first.ends_with("== flags on a5: 205 cycles (estimate); 2 came"), "{first}");

    let wait = "  pto.set_flag[\"PIPE_V\", \"PIPE_MTE3\", \"EVENT_ID0\"]\n  pto.wait_flag[\"PIPE_V\", \"PIPE_MTE3\", \"EVENT_ID0\"]\n";
    save(&file, &broken.replace("  pto.mte_ub_gm", &format!("{wait}  pto.mte_ub_gm")));
    let mended = look();
    assert!(mended.starts_with("went  error[race]: "), "{mended}");
    let last = mended.lines().last().unwrap();
    assert!(last.starts_with("== flags on a5: ") && last.contains("more)") && last.ends_with("2 went"), "{last}");

    // A text with errors is not run; a line that only moves is not a change.
    save(&file, &broken.replace("pto.vabs", "pto.vabz"));
    let unread = look();
    assert!(unread.contains("error[unknown-op]") && unread.ends_with("== not run: it has errors; 1 came"), "{unread}");
    save(&file, &format!("//\n{}", broken.replace("pto.vabs", "pto.vabz")));
    assert_eq!(look(), "== not run: it has errors; no findings appeared or disappeared");
    assert_eq!(watch.wait().unwrap().code(), Some(2));
}

#[test]
fn a_file_that_is_not_there_is_said() {
    let file = folder("none").join("none.py");
    let ran = here::slipring().args(["watch", "--looks", "1"]).arg(&file).output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).starts_with("error: cannot read"));
}

#[test]
fn a_kernel_of_the_language_is_run() {
    let file = folder("double").join("double.py");
    std::fs::write(&file, example("lang/double.py")).unwrap();
    let ran = here::slipring().args(["watch", "--looks", "1"]).arg(&file).output().unwrap();
    assert_eq!(ran.status.code(), Some(0));
    assert_eq!(
        String::from_utf8_lossy(&ran.stdout),
        "== double on a5: 887 cycles (estimate); no findings appeared or disappeared\n"
    );
}

/// Requests a page from a server.
fn asked(address: &str, path: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).unwrap();
    text
}

#[test]
fn the_page_comes_anew_and_lines_are_compared() {
    let file = folder("page").join("double.py");
    let text = example("lang/double.py");
    save(&file, &text);
    let mut watch = here::slipring()
        .args(["watch", "--looks", "3", "--serve"])
        .arg(&file)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut told = BufReader::new(watch.stderr.take().unwrap()).lines().map(Result::unwrap);
    let line = told.find(|line| line.contains("http://")).unwrap();
    let address = line.split("http://").nth(1).unwrap().trim_end_matches('/').to_string();
    let mut lines = BufReader::new(watch.stdout.take().unwrap()).lines().map(Result::unwrap);
    let mut look = || {
        let mut all = Vec::new();
        for line in lines.by_ref() {
            all.push(line);
            if all.last().unwrap().starts_with("== ") {
                break;
            }
        }
        all
    };
    look();
    let page = asked(&address, "/", &address);
    assert!(page.starts_with("HTTP/1.1 200 OK") && page.contains("connect-src 'self'"), "{}", &page[..400]);
    assert!(page.contains("/after/1'") && page.contains("pl.matmul(a, b)"), "the page of the run");
    // A site that is resolved to this machine, and missing pages.
    assert!(asked(&address, "/", "evil.example").starts_with("HTTP/1.1 403"));
    assert!(asked(&address, "/other", &address).starts_with("HTTP/1.1 404"));
    let waits = std::thread::spawn({
        let address = address.clone();
        move || asked(&address, "/after/1", &address)
    });
    save(&file, &text.replace("* 2.0", "* 2.0 * 3.0"));
    let second = look();
    let changed = second.iter().find(|line| line.starts_with("line 12: ")).unwrap_or_else(|| panic!("{second:?}"));
    assert!(changed.contains(" cycles (") && changed.contains("* 2.0 * 3.0"), "{changed}");
    assert!(second.iter().any(|line| line.starts_with("gone: ") && line.ends_with("* 2.0")), "{second:?}");
    assert!(second.last().unwrap().contains(" more); "), "{second:?}");
    assert!(waits.join().unwrap().starts_with("HTTP/1.1 205"));
    save(&file, &text.replace("pl.matmul(a, b)", "pl.matmul(a, nobody)"));
    look();
    assert_eq!(watch.wait().unwrap().code(), Some(2));
}
