//! Runs the tests of the Python package: makes an environment under `target/python` with what `python/requirements-test.txt` names, puts
//! the package with the module that cargo has just built beside it, and runs pytest.
//!
//! `PYTHON` names another Python than `python3`, 3.10 or later.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const REQUIREMENTS: &str = include_str!("../../../python/requirements-test.txt");

/// The root of the repository.
fn top() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Where cargo puts what it builds, `target/debug`, and the environment's place, `target/python`.
fn places() -> (PathBuf, PathBuf) {
    let own = env::current_exe().expect("the test has a file");
    let profile = own.ancestors().nth(2).expect("target/debug/deps").to_path_buf();
    let python = profile.parent().expect("target").join("python");
    (profile, python)
}

/// Runs a command to its end; what it says when it fails.
fn run(command: &mut Command, what: &str) {
    let output = command.output().unwrap_or_else(|error| panic!("{what}: cannot start {command:?}: {error}"));
    assert!(
        output.status.success(),
        "{what}: {command:?} ended with {}\n{}{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr),
    );
}

/// The Python of the environment, which is made unless it stands there.
fn environment(folder: &Path) -> PathBuf {
    let host = env::var_os("PYTHON").unwrap_or_else(|| OsString::from("python3"));
    let version =
        Command::new(&host).args(["-c", "import sys; print(sys.version); assert sys.version_info >= (3, 10)"]).output();
    let version = match version {
        Ok(output) if output.status.success() => String::from_utf8_lossy(&output.stdout).into_owned(),
        Ok(output) => panic!(
            "the Python package needs Python 3.10 or later; {host:?} is {}(set PYTHON to another)",
            String::from_utf8_lossy(&output.stdout)
        ),
        Err(error) => {
            panic!("the tests of the Python package need Python 3.10 or later: cannot start {host:?}: {error}")
        }
    };
    let place = folder.join("environment");
    let python = place.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let stamp = place.join("stamp");
    let wanted = format!("{version}{REQUIREMENTS}");
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return python;
    }
    let _ = fs::remove_dir_all(&place);
    run(Command::new(&host).args(["-m", "venv"]).arg(&place), "making an environment for the Python tests");
    let list = top().join("python/requirements-test.txt");
    run(
        Command::new(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]).arg(list),
        "installing what the Python tests need (is a package index reachable?)",
    );
    fs::write(stamp, wanted).expect("target is writable");
    python
}

/// Copies the files of a folder, but for what Python made of them.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("target is writable");
    for entry in fs::read_dir(from).expect("a folder of the package") {
        let entry = entry.expect("an entry");
        let (name, path) = (entry.file_name(), entry.path());
        if path.is_dir() {
            if name != "__pycache__" {
                copy(&path, &to.join(name));
            }
        } else if path.extension().is_none_or(|end| end != "so") {
            fs::copy(&path, to.join(name)).expect("target is writable");
        }
    }
}

/// The module that cargo has built.
fn module(profile: &Path) -> PathBuf {
    let name = format!("{}_slipring{}", env::consts::DLL_PREFIX, env::consts::DLL_SUFFIX);
    let places = [profile.join("deps").join(&name), profile.join(&name)];
    let built = |path: &PathBuf| fs::metadata(path).and_then(|facts| facts.modified()).ok();
    let newest = places.iter().filter(|path| path.exists()).max_by_key(|path| built(path));
    newest.unwrap_or_else(|| panic!("cargo has built no {name} in {}", profile.display())).clone()
}

#[test]
fn the_python_package() {
    let (profile, folder) = places();
    fs::create_dir_all(&folder).expect("target is writable");
    let python = environment(&folder);
    let site = folder.join("site");
    let _ = fs::remove_dir_all(&site);
    copy(&top().join("python/slipring"), &site.join("slipring"));
    let end = if cfg!(windows) { "pyd" } else { "abi3.so" };
    fs::copy(module(&profile), site.join(format!("slipring/_slipring.{end}"))).expect("target is writable");
    run(
        Command::new(python)
            .args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "slipring.pytest_plugin", "python/tests"])
            .env("PYTHONPATH", &site)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .current_dir(top()),
        "the tests of the Python package",
    );
}
