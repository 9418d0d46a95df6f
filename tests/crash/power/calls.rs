//! Reading what strace wrote down: the calls that changed files below a folder, in the order in which they happened.
//!
//! strace is asked for hexadecimal everywhere (`-xx`), so that a path or content can contain anything.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// The calls that are written down.
pub(super) const TRACED: &str = "openat,openat2,open,creat,pwrite64,write,writev,pwritev,fsync,fdatasync,ftruncate,\
    rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,link,linkat,lseek,close,truncate,fallocate,pwritev2,\
    copy_file_range,sendfile";

/// One call, paths relative to the folder.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Call {
    /// A file is there; it was made now if it was not.
    Made(PathBuf),
    /// A file was emptied when it was opened.
    Emptied(PathBuf),
    /// A folder was made.
    Folder(PathBuf),
    /// Bytes were written at this place.
    Written(PathBuf, u64, Vec<u8>),
    /// A file has this length from now on.
    Cut(PathBuf, u64),
    /// A file or folder is on the disk.
    Synced(PathBuf),
    /// A file has another name.
    Renamed(PathBuf, PathBuf),
    /// A file is gone.
    Removed(PathBuf),
    /// The process was told that the journal is synced up to here.
    Promised(u64),
}

/// Every call below the folder.
pub(super) fn read(text: &str, root: &Path) -> Vec<Call> {
    let mut reader = Reader {
        root: root.to_owned(),
        places: HashMap::new(),
        lengths: HashMap::new(),
    };
    whole_lines(text).iter().flat_map(|line| reader.calls(line)).collect()
}

/// Lines that strace broke because threads took turns, put together where the call ended. Writes count from their
/// beginning on: at worst they are lost, and they may be.
fn whole_lines(text: &str) -> Vec<String> {
    let mut begun: HashMap<&str, String> = HashMap::new();
    let mut lines = Vec::new();
    for line in text.lines() {
        let Some((thread, rest)) = line.split_once(' ') else {
            continue;
        };
        let rest = rest.trim_start();
        if let Some(beginning) = rest.strip_suffix(" <unfinished ...>") {
            begun.insert(thread, beginning.to_owned());
        } else if rest.starts_with("<... ") {
            let end = rest.split_once(" resumed>").map_or("", |(_, end)| end);
            let beginning = begun.remove(thread).unwrap_or_default();
            lines.push(format!("{beginning}{end}"));
        } else {
            lines.push(rest.to_owned());
        }
    }
    lines
}

struct Reader {
    root: PathBuf,
    /// How far each open file is written.
    places: HashMap<String, u64>,
    lengths: HashMap<PathBuf, u64>,
}

impl Reader {
    fn calls(&mut self, line: &str) -> Vec<Call> {
        let Some((name, rest)) = line.split_once('(') else {
            return Vec::new();
        };
        let Some((arguments, result)) = rest.rsplit_once(" = ") else {
            return Vec::new();
        };
        if result.starts_with('-') {
            return Vec::new();
        }
        // strace lines results up with spaces before them, most of all behind what it broke.
        let arguments = arguments.trim_end();
        let arguments = arguments.strip_suffix(')').unwrap_or(arguments);
        // What has no name any more is not on the disk.
        if arguments.contains(">(deleted)") {
            return Vec::new();
        }
        let files = arguments_of(arguments);
        match name {
            "open" | "openat" | "openat2" | "creat" => self.opened(arguments, result),
            "write" => self.written(&files, result),
            "pwrite64" => self.put(files.first(), last_number(arguments), &files, result),
            "fsync" | "fdatasync" => self.each(&files, Call::Synced),
            "ftruncate" => self.each(&files, |path| Call::Cut(path, last_number(arguments))),
            "unlink" | "unlinkat" => self.removed(&files),
            "mkdir" | "mkdirat" => self.last_path(&files).map(Call::Folder).into_iter().collect(),
            "rename" | "renameat" | "renameat2" => self.renamed(&files),
            "writev" | "pwritev" | "pwritev2" | "link" | "linkat" | "lseek" | "truncate" | "fallocate"
            | "copy_file_range" | "sendfile" => {
                let touched = files.iter().any(|file| self.inside(&file.path()).is_some());
                assert!(!touched, "the victim used {name}, which is not understood: {line}");
                Vec::new()
            }
            _ => Vec::new(),
        }
    }

    fn opened(&mut self, arguments: &str, result: &str) -> Vec<Call> {
        let Some(file) = arguments_of(result).into_iter().next() else {
            return Vec::new();
        };
        let Some(path) = self.inside(&file.path()) else {
            return Vec::new();
        };
        let has = |flag: &str| arguments.contains(flag);
        let start = if has("O_APPEND") {
            self.lengths.get(&path).copied()
        } else {
            None
        };
        self.places.insert(file.number.clone(), start.unwrap_or(0));
        let mut calls = Vec::new();
        if has("O_CREAT") {
            calls.push(Call::Made(path.clone()));
        }
        if has("O_TRUNC") {
            self.lengths.remove(&path);
            calls.push(Call::Emptied(path));
        }
        calls
    }

    fn written(&mut self, files: &[Argument], result: &str) -> Vec<Call> {
        let Some(file) = files.first() else {
            return Vec::new();
        };
        if file.number == "1" {
            let said = files.get(1).map(|said| said.bytes.clone()).unwrap_or_default();
            let said = String::from_utf8_lossy(&said).into_owned();
            let numbers = said
                .lines()
                .filter_map(|line| line.strip_prefix("barrier ")?.parse().ok());
            return numbers.map(Call::Promised).collect();
        }
        let place = self.places.get(&file.number).copied().unwrap_or(0);
        let calls = self.put(Some(file), place, files, result);
        if let Some(Call::Written(_, _, bytes)) = calls.first() {
            self.places.insert(file.number.clone(), place + bytes.len() as u64);
        }
        calls
    }

    fn put(&mut self, file: Option<&Argument>, place: u64, files: &[Argument], result: &str) -> Vec<Call> {
        let Some(path) = file.and_then(|file| self.inside(&file.path())) else {
            return Vec::new();
        };
        let count: usize = result.trim().parse().unwrap();
        let mut bytes = files.get(1).map(|bytes| bytes.bytes.clone()).unwrap_or_default();
        bytes.truncate(count);
        let length = self.lengths.entry(path.clone()).or_default();
        *length = (*length).max(place + bytes.len() as u64);
        vec![Call::Written(path, place, bytes)]
    }

    fn removed(&mut self, files: &[Argument]) -> Vec<Call> {
        let path = self.last_path(files);
        path.iter().for_each(|path| _ = self.lengths.remove(path));
        path.map(Call::Removed).into_iter().collect()
    }

    fn each(&self, files: &[Argument], call: impl Fn(PathBuf) -> Call) -> Vec<Call> {
        let path = files.first().and_then(|file| self.inside(&file.path()));
        path.map(call).into_iter().collect()
    }

    /// The path that a call names last, from the folder it names before.
    fn last_path(&self, files: &[Argument]) -> Option<PathBuf> {
        let [before @ .., last] = files else {
            return None;
        };
        let from = before.last().map(Argument::path).unwrap_or_default();
        self.inside(&from.join(last.path()))
    }

    fn renamed(&self, files: &[Argument]) -> Vec<Call> {
        let (from, to) = files.split_at(files.len() / 2);
        match (self.last_path(from), self.last_path(to)) {
            (Some(from), Some(to)) => vec![Call::Renamed(from, to)],
            _ => Vec::new(),
        }
    }

    /// The path from the folder, when it is below it and kept over a restart.
    fn inside(&self, path: &Path) -> Option<PathBuf> {
        let mut plain = PathBuf::new();
        for part in path.components() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => {
                    plain.pop();
                }
                other => plain.push(other),
            }
        }
        let below = plain.strip_prefix(&self.root).ok()?;
        let name = below
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        // The log is the test's own. The index of the write-ahead log is memory, and made anew.
        let kept = name != "log" && !name.ends_with("-shm");
        kept.then(|| below.to_owned())
    }
}

/// A file number with its path, or a string.
#[derive(Debug, Clone, PartialEq)]
struct Argument {
    number: String,
    bytes: Vec<u8>,
}

impl Argument {
    fn path(&self) -> PathBuf {
        PathBuf::from(String::from_utf8_lossy(&self.bytes).into_owned())
    }
}

/// The place or length at the end of the arguments. One that is misread would make the disk a wrong one.
fn last_number(arguments: &str) -> u64 {
    let number = arguments.rsplit_once(", ").map_or(arguments, |(_, number)| number);
    number.parse().unwrap()
}

/// Everything between `<` and `>` or quotes, as bytes.
fn arguments_of(text: &str) -> Vec<Argument> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(place) = rest.find(['<', '"']) {
        let closing = if rest.as_bytes()[place] == b'<' { '>' } else { '"' };
        let Some(length) = rest[place + 1..].find(closing) else {
            break;
        };
        let number = rest[..place].rsplit([' ', '(', ',', '{']).next().unwrap_or_default();
        found.push(Argument {
            number: number.to_owned(),
            bytes: from_hex(&rest[place + 1..place + 1 + length]),
        });
        rest = &rest[place + length + 2..];
    }
    found
}

/// `\x61\x62`, as strace prints it; what is no such number stands for itself.
fn from_hex(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4);
    let raw = text.as_bytes();
    let mut place = 0;
    while place < raw.len() {
        let pair = raw.get(place..place + 4).filter(|four| four.starts_with(b"\\x"));
        let number = pair.and_then(|four| u8::from_str_radix(std::str::from_utf8(&four[2..]).ok()?, 16).ok());
        bytes.push(number.unwrap_or(raw[place]));
        place += if number.is_some() { 4 } else { 1 };
    }
    bytes
}

#[test]
fn reads_what_strace_writes() {
    let text = concat!(
        "7  openat(AT_FDCWD<\\x2f>, \"\\x2f\\x72\\x2f\\x61\", O_RDWR|O_CREAT, 0777) = 3<\\x2f\\x72\\x2f\\x61>\n",
        "7  pwrite64(3<\\x2f\\x72\\x2f\\x61>, \"\\x68\\x0a\", 2, 3 <unfinished ...>\n",
        "8  write(1<\\x2f\\x6f>, \"\\x62\\x61\\x72\\x72\\x69\\x65\\x72\\x20\\x33\\x0a\", 10) = 10\n",
        "7  <... pwrite64 resumed>)           = 2\n",
        "7  ftruncate(3<\\x2f\\x72\\x2f\\x61>, 4)  = 0\n",
        "7  fsync(3<\\x2f\\x72\\x2f\\x61>)      = 0\n",
        "7  rename(\"\\x2f\\x72\\x2f\\x61\", \"\\x2f\\x72\\x2f\\x62\") = 0\n",
        "7  unlink(\"\\x2f\\x72\\x2f\\x63\") = -1 ENOENT (No such file or directory)\n",
    );
    let expected = [
        Call::Made("a".into()),
        Call::Promised(3),
        Call::Written("a".into(), 3, b"h\n".to_vec()),
        Call::Cut("a".into(), 4),
        Call::Synced("a".into()),
        Call::Renamed("a".into(), "b".into()),
    ];
    assert_eq!(read(text, Path::new("/r")), expected);
}
