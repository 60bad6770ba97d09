//! `slipring debug --view` on a `tmux` terminal: keys in, captures out.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::client::PATIENCE;
use crate::here::{self, root};

/// A terminal with its own server, which ends with it.
struct Screen {
    socket: String,
}

impl Screen {
    /// Starts a command on 140 columns and 40 lines; `None` if `tmux` is not installed.
    fn start(name: &str, command: &str) -> Option<Screen> {
        if Command::new("tmux").arg("-V").output().is_err() {
            eprintln!("skipped: tmux is not installed");
            return None;
        }
        let socket = format!("slipring-{name}-{}", std::process::id());
        let screen = Screen { socket };
        // The final output stays visible.
        let command = format!("{command}; echo \"ended with $?\"; sleep 600");
        let folder = root().display().to_string();
        let size = ["-x", "140", "-y", "40", "-c", &folder];
        screen.tmux(&[&["-f", "/dev/null", "new-session", "-d"], &size[..], &[&command]].concat());
        Some(screen)
    }

    fn tmux(&self, words: &[&str]) -> String {
        let mut tmux = Command::new("tmux");
        // A locale in which all letters are displayed.
        tmux.args(["-u", "-L", &self.socket]).args(words).env("LC_ALL", "C.UTF-8").env_remove("TMUX");
        let ran = tmux.output().unwrap();
        assert!(ran.status.success(), "tmux {words:?}: {}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).unwrap()
    }

    fn keys(&self, keys: &[&str]) {
        self.tmux(&[&["send-keys"], keys].concat());
    }

    /// The screen once it shows this text.
    fn shows(&self, part: &str) -> String {
        self.shows_all(&[part])
    }

    /// The screen once it shows all these texts: a capture may see a screen that is half drawn.
    fn shows_all(&self, parts: &[&str]) -> String {
        let start = Instant::now();
        loop {
            let text = self.tmux(&["capture-pane", "-p"]);
            let Some(missing) = parts.iter().find(|part| !text.contains(**part)) else { return text };
            assert!(start.elapsed() < PATIENCE, "`{missing}` does not come:\n{text}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        let _ = Command::new("tmux").args(["-L", &self.socket, "kill-server"]).output();
    }
}

#[test]
fn keys_step_both_ways_on_a_terminal() {
    let slipring = Path::new(env!("CARGO_BIN_EXE_slipring")).display().to_string();
    let file = "examples/broken/one_pop_too_many.pto";
    let Some(screen) = Screen::start("view", &format!("'{slipring}' debug {file} --view")) else { return };
    screen.shows_all(&["q quit", "source", "cores and pipes", "rings: ", "who waits for whom", "memory: ", "answer"]);
    // From the hang back to the last push.
    screen.keys(&["x"]);
    screen.shows("AIV0.V     waits for ring C2V slot 3 ready");
    screen.keys(&[":", "rop push", "Enter"]);
    let here = ["event 146 of 170, cycle 573", ">  49        pto.tpush_to_aiv(%acc", "C2V.AIV0     .   .  #3"];
    let push = screen.shows_all(&here);
    screen.keys(&["Left"]);
    screen.shows("event 145 of 170");
    screen.keys(&["Right"]);
    screen.shows_all(&["event 146 of 170", push.lines().next().unwrap()]);
    // After a resize the view is redrawn, and the terminal is restored at the end.
    screen.tmux(&["resize-window", "-x", "100", "-y", "30"]);
    screen.shows("event 146 of 170");
    screen.keys(&["q"]);
    let left = screen.shows("ended with 0");
    assert!(!left.contains("who waits for whom"), "{left}");
}

#[test]
fn without_a_terminal_the_view_says_so() {
    let ran = here::slipring()
        .args(["debug", "examples/lang/double.py", "--view"])
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    assert_eq!(ran.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ran.stderr).contains("`--view` needs a terminal"));
}
