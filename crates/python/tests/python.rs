//! Runs the tests of the Python package: makes an environment under `target/python` with what `python/requirements-test.txt` names, puts
//! the package with the module that cargo has just built beside it, and runs pytest.
//!
//! `PYTHON` names another Python than `python3`, 3.10 or later. The oldest and the newest Python of the machine run them too, but
//! for those that are marked `once`.
//! `SLIPRING_TORCH=1` installs torch as well; without it the tests that pass its tensors are skipped.

use std::collections::BTreeMap;
use std::env;
use std::ffi::{OsStr, OsString};
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

/// The Python that `PYTHON` names, else `python3`.
fn chosen() -> OsString {
    env::var_os("PYTHON").unwrap_or_else(|| OsString::from("python3"))
}

/// What a Python says of its version, such as `3.11.7 (…)`; why not, where it is none that the package takes.
fn version(host: &OsStr) -> Result<String, String> {
    let asked = ["-c", "import sys; print(sys.version); sys.exit(sys.version_info < (3, 10))"];
    match Command::new(host).args(asked).output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => Err(format!("{host:?} is {}", String::from_utf8_lossy(&output.stdout))),
        Err(error) => Err(format!("cannot start {host:?}: {error}")),
    }
}

/// The minor version of a Python 3.
fn minor(version: &str) -> Option<u32> {
    version.strip_prefix("3.")?.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// The oldest and the newest Python on this machine that the package takes, by the minor version: those on the path as
/// `python3.N`, and those that pyenv keeps.
fn oldest_and_newest() -> BTreeMap<u32, OsString> {
    let on_path = (10..30).map(|n| OsString::from(format!("python3.{n}")));
    let kept = env::var_os("PYENV_ROOT").map(PathBuf::from).or_else(|| Some(env::home_dir()?.join(".pyenv")));
    let kept = kept.and_then(|root| fs::read_dir(root.join("versions")).ok()).into_iter().flatten().flatten();
    let mut found = BTreeMap::new();
    for host in on_path.chain(kept.map(|entry| entry.path().join("bin/python3").into_os_string())) {
        if let Some(minor) = version(&host).ok().and_then(|version| minor(&version)) {
            found.entry(minor).or_insert(host);
        }
    }
    let ends = [found.first_key_value(), found.last_key_value()];
    ends.into_iter().flatten().map(|(minor, host)| (*minor, host.clone())).collect()
}

/// The Python of the environment below a folder, which is made unless it stands there.
fn environment(host: &OsStr, folder: &Path) -> PathBuf {
    let version = version(host).unwrap_or_else(|why| {
        panic!("the tests of the Python package need Python 3.10 or later: {why} (set PYTHON to another)")
    });
    let place = folder.join("environment");
    let python = place.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    let stamp = place.join("stamp");
    let torch = env::var_os("SLIPRING_TORCH").is_some();
    let wanted = format!("{version}{REQUIREMENTS}{torch}");
    if fs::read_to_string(&stamp).is_ok_and(|found| found == wanted) {
        return python;
    }
    let _ = fs::remove_dir_all(&place);
    run(Command::new(host).args(["-m", "venv"]).arg(&place), "making an environment for the Python tests");
    let mut install = Command::new(&python);
    install.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r"]);
    install.arg(top().join("python/requirements-test.txt")).args(torch.then_some("torch"));
    run(&mut install, "installing what the Python tests need (is a package index reachable?)");
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

/// Runs the tests of the package with a Python, in an environment below a folder; with a `further` one those that depend on it.
fn tests_pass(host: &OsStr, folder: &Path, further: bool) {
    let (profile, _) = places();
    fs::create_dir_all(folder).expect("target is writable");
    let python = environment(host, folder);
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
            .envs(further.then_some(("SLIPRING_FURTHER_PYTHON", "1")))
            .current_dir(top()),
        &format!("the tests of the Python package with {host:?}"),
    );
}

#[test]
fn the_python_package() {
    tests_pass(&chosen(), &places().1, false);
}

/// The same with the oldest and the newest Python that this machine has, where they are others than the one above.
#[test]
fn the_oldest_and_the_newest_python() {
    let own = version(&chosen()).ok().and_then(|version| minor(&version));
    let others = oldest_and_newest().into_iter().filter(|(minor, _)| Some(*minor) != own);
    let mut tried = 0;
    for (minor, host) in others {
        tests_pass(&host, &places().1.join(format!("3.{minor}")), true);
        tried += 1;
    }
    if tried == 0 {
        println!("skipped: this machine has no other Python than 3.{}", own.unwrap_or_default());
    }
}
