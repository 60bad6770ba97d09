use std::fs;
use std::io::Read;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::PathBuf;

use super::write;

/// A folder of its own, gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("slipring-files-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(&self.0).unwrap().map(|e| e.unwrap().file_name().to_string_lossy().into_owned());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn regular_files_keep_their_mode_and_old_readers_their_bytes() {
    let folder = Folder::new("regular");
    let file = folder.file("a");
    write(&file, &[b"one", b"", b" two"]).unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"one two");
    for mode in [0o600, 0o640, 0o755] {
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        let mut old = fs::File::open(&file).unwrap();
        let before = fs::read(&file).unwrap();
        write(&file, &[format!("{mode}").as_bytes()]).unwrap();
        assert_eq!(fs::metadata(&file).unwrap().mode() & 0o7777, mode);
        assert_eq!(fs::read(&file).unwrap(), format!("{mode}").as_bytes());
        let mut seen = Vec::new();
        old.read_to_end(&mut seen).unwrap();
        assert_eq!(seen, before);
    }
    assert_eq!(folder.names(), ["a"]);
}

#[test]
fn links_stay_links() {
    let folder = Folder::new("links");
    fs::create_dir(folder.file("sub")).unwrap();
    symlink("sub/b", folder.file("to-new")).unwrap();
    symlink("to-new", folder.file("to-link")).unwrap();
    for text in ["new", "old"] {
        write(&folder.file("to-link"), &[text.as_bytes()]).unwrap();
        assert_eq!(fs::read_link(folder.file("to-link")).unwrap(), PathBuf::from("to-new"));
        assert_eq!(fs::read_link(folder.file("to-new")).unwrap(), PathBuf::from("sub/b"));
        assert_eq!(fs::read(folder.file("sub/b")).unwrap(), text.as_bytes());
    }
    // Two names of one file stay names of one file, also where the new bytes are fewer.
    fs::hard_link(folder.file("sub/b"), folder.file("same")).unwrap();
    for text in ["a longer text", "x"] {
        write(&folder.file("same"), &[text.as_bytes()]).unwrap();
        assert_eq!(fs::read(folder.file("sub/b")).unwrap(), text.as_bytes());
    }
    symlink("loop", folder.file("loop")).unwrap();
    assert!(write(&folder.file("loop"), &[b"x"]).is_err());
    assert!(write(&folder.file("sub"), &[b"x"]).is_err());
    assert!(write(&folder.file("none/x"), &[b"x"]).is_err());
    assert_eq!(folder.names(), ["loop", "same", "sub", "to-link", "to-new"]);
}

#[test]
fn devices_take_the_bytes_and_stay() {
    let folder = Folder::new("devices");
    symlink("/dev/full", folder.file("full")).unwrap();
    symlink("/dev/null", folder.file("null")).unwrap();
    // Where a sandbox has plain files in their place they say nothing about devices.
    let devices = ["/dev/full", "/dev/null"].map(|path| fs::metadata(path).is_ok_and(|meta| !meta.is_file()));
    if devices[0] {
        assert!(write(&folder.file("full"), &[b"x"]).is_err());
    }
    if devices[1] {
        write(&folder.file("null"), &[b"x"]).unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
    }
    assert_eq!(folder.names(), ["full", "null"]);
}
