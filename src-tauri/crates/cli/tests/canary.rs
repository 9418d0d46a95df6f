//! R8 in the terminal: a key of the environment, a server that repeats it in every refusal, and a log that writes down
//! everything. Nothing of the key is printed or kept.

#![allow(clippy::unwrap_used)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

const KEY: &str = "sk-canary-93d1a7b2c4e8";
const TASK: &str = "goal: Say hello\ncontext: {}\nexpectedOutput: A greeting\n";

/// The key as it is, in hexadecimal, as a URL and as JSON may write every character, in base64, and backwards.
fn writings() -> [String; 6] {
    let hex: String = KEY.bytes().map(|byte| format!("{byte:02x}")).collect();
    let percent: String = KEY.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let json: String = KEY.chars().map(|sign| format!("\\u{:04x}", u32::from(sign))).collect();
    let base64 = "c2stY2FuYXJ5LTkzZDFhN2IyYzRlOA==".to_owned();
    [KEY.to_owned(), hex, percent, json, base64, KEY.chars().rev().collect()]
}

/// Refuses every request, with the key in its words.
fn server() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let mut length = 0;
            let mut line = String::new();
            while stream.read_line(&mut line).unwrap_or(0) > 2 {
                if let Some(bytes) = line.to_lowercase().strip_prefix("content-length:") {
                    length = bytes.trim().parse().unwrap();
                }
                line.clear();
            }
            let mut body = vec![0; length];
            let _ = stream.read_exact(&mut body);
            let words = writings().join(" ").replace('\\', "\\\\");
            let said = format!("{{\"error\":{{\"message\":\"your key is {words}\",\"code\":\"invalid_api_key\"}}}}");
            let head = format!(
                "HTTP/1.1 401 X\r\nconnection: close\r\ncontent-length: {}\r\n\r\n",
                said.len()
            );
            let _ = write!(stream.get_mut(), "{head}{said}");
        }
    });
    url
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] })
        .collect()
}

#[test]
fn a_key_of_the_environment_is_neither_printed_nor_kept_nor_logged() {
    let (data, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    std::fs::write(work.path().join("task.yaml"), TASK).unwrap();
    let url = server();
    let tepa = |arguments: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_tepa"))
            .args(arguments)
            .current_dir(work.path())
            .env("TEPA_DATA_DIR", data.path())
            .env("TEPA_LOG", "trace")
            .env("OPENAI_COMPATIBLE_API_KEY", KEY)
            .env("TEPA_SEARCH_KEY", KEY)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        format!(
            "{}{}",
            String::from_utf8_lossy(&done.stdout),
            String::from_utf8_lossy(&done.stderr)
        )
    };
    let mut texts = vec![
        tepa(&["run", "task.yaml", "--url", &url, "--model", "m", "--yes"]),
        tepa(&["models", "--url", &url]),
        tepa(&["show", "last"]),
        tepa(&["history", "--json"]),
        tepa(&["export", "last", "run.tepa"]),
        tepa(&["record", "last", "run.json"]),
        tepa(&["search", "use", "brave", &url]),
        tepa(&["search", "test"]),
        tepa(&["search", "--json"]),
    ];
    assert!(texts[0].contains("refused the key"), "{}", texts[0]);
    assert!(texts[7].contains("refused the key"), "{}", texts[7]);
    let files = [files_below(data.path()), files_below(work.path())].concat();
    let log = files.iter().find(|file| file.ends_with("tepa.log")).unwrap();
    let logged = std::fs::read_to_string(log).unwrap();
    assert!(
        logged.contains("TRACE") || logged.contains("DEBUG"),
        "nothing was logged in full: {logged}"
    );
    texts.extend(
        files
            .iter()
            .map(|file| String::from_utf8_lossy(&std::fs::read(file).unwrap()).into_owned()),
    );
    println!("R8 in the terminal: {} texts searched", texts.len());
    for text in &texts {
        for written in writings() {
            let place = text.find(&written).map(|at| {
                let from = text[..at].char_indices().rev().nth(120).map_or(0, |(at, _)| at);
                &text[from..at]
            });
            assert_eq!(place, None, "the key stands there as {written}");
        }
    }
}

/// The texts of a zip by their names.
fn unzipped(file: &Path) -> Vec<(String, String)> {
    let mut zip = zip::ZipArchive::new(std::fs::File::open(file).unwrap()).unwrap();
    let names: Vec<String> = zip.file_names().map(|name| name.unwrap().into_owned()).collect();
    let text = |name: &String| {
        let mut text = String::new();
        zip.by_name(name).unwrap().read_to_string(&mut text).unwrap();
        (name.clone(), text)
    };
    names.iter().map(text).collect()
}

#[test]
fn nothing_of_a_key_a_goal_a_file_or_a_folder_is_in_the_diagnostics() {
    let (data, work) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let folder = work.path().join("canary-folder");
    std::fs::create_dir(&folder).unwrap();
    std::fs::write(folder.join("canary-file.txt"), "canary-content").unwrap();
    let task = "goal: canary-goal of the year\nname: canary-name\ncontext: { x: canary-context }\nexpectedOutput: canary-output\n";
    std::fs::write(folder.join("task.yaml"), task).unwrap();
    let url = server();
    let tepa = |arguments: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_tepa"))
            .args(arguments)
            .current_dir(&folder)
            .env("TEPA_DATA_DIR", data.path())
            .env("TEPA_LOG", "trace")
            .env("OPENAI_COMPATIBLE_API_KEY", KEY)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        String::from_utf8_lossy(&done.stdout).into_owned()
    };
    tepa(&["run", "task.yaml", "--url", &url, "--model", "canary-model", "--yes"]);
    let said = tepa(&["diagnostics", "--out", "facts.zip"]);
    assert!(said.contains("Written to"), "{said}");
    let log = std::fs::read_to_string(data.path().join("logs").join("tepa.log")).unwrap_or_default();
    let home = dirs::home_dir().unwrap().display().to_string();
    let texts = unzipped(&folder.join("facts.zip"));
    let names: Vec<&str> = texts.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "README.txt",
            "versions.json",
            "settings.json",
            "history.json",
            "runs.json",
            "log.txt"
        ]
    );
    for (name, text) in &texts {
        for canary in ["canary", &url, data.path().to_str().unwrap(), home.as_str()] {
            assert!(!text.contains(canary), "{canary} stands in {name}: {text}");
        }
        for written in writings() {
            assert!(!text.contains(&written), "the key stands in {name} as {written}");
        }
    }
    let of = |wanted: &str| &texts.iter().find(|(name, _)| name == wanted).unwrap().1;
    assert!(of("runs.json").contains("\"status\": \"fail\""), "{}", of("runs.json"));
    assert!(
        of("history.json").contains("\"isWhole\": true"),
        "{}",
        of("history.json")
    );
    assert!(
        of("versions.json").contains("\"sqlite\": \"3."),
        "{}",
        of("versions.json")
    );
    assert!(of("log.txt").contains(" app::") || log.is_empty(), "{}", of("log.txt"));
    let again = tepa(&["diagnostics", "--out", "facts.zip", "--json"]);
    assert!(again.contains("diagnostics_unwritable"), "{again}");
}
