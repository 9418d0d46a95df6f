//! The newest lines of the log, without anything that came into them while the program ran.
//!
//! A line is `time LEVEL place: words name=value …`. The words are the program's own, as they stand in its source; the
//! values are not, and only the names of them stay. Lines of other programs' parts, whose words nobody here wrote, and
//! what is no such line at all, are counted and left out.

use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

/// How much of the end of the log is looked at, and how many lines of it stay.
const LOOKED_AT: u64 = 512 * 1024;
const LINES: usize = 400;
/// The parts of the program that write literal words; a test holds them to that.
const OWN: [&str; 16] = [
    "app",
    "checks",
    "cli",
    "contract",
    "documents",
    "engine",
    "mcp",
    "providers",
    "sandbox",
    "secrets",
    "store",
    "tepa",
    "tepa_desktop",
    "tools",
    "web",
    "workspace",
];
const LEVELS: [&str; 5] = ["ERROR", "WARN", "INFO", "DEBUG", "TRACE"];

/// The newest lines, oldest first.
pub(super) fn recent(log: &Path) -> String {
    match end_of(log) {
        Ok(text) => cleaned(&text),
        Err(error) => format!("The log cannot be read: {}\n", error.kind()),
    }
}

fn end_of(log: &Path) -> std::io::Result<String> {
    let mut file = std::fs::File::open(log)?;
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LOOKED_AT)))?;
    let mut bytes = Vec::new();
    file.take(LOOKED_AT).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn cleaned(text: &str) -> String {
    let all: Vec<Option<String>> = text.lines().map(line).collect();
    let left_out = all.iter().filter(|line| line.is_none()).count();
    let kept: Vec<String> = all.into_iter().flatten().collect();
    let newest = &kept[kept.len().saturating_sub(LINES)..];
    let mut out = newest.join("\n");
    out.push_str(&format!("\n({left_out} other lines are left out.)\n"));
    out
}

/// A line without its values; none for one that is not the program's own.
fn line(line: &str) -> Option<String> {
    let mut parts = line.split_whitespace();
    let (time, level, place) = (parts.next()?, parts.next()?, parts.next()?);
    let is_time = time.len() >= 20
        && time
            .bytes()
            .all(|sign| sign.is_ascii_digit() || b"-:.TZ".contains(&sign));
    let place = place.strip_suffix(':')?;
    let is_place = place
        .bytes()
        .all(|sign| sign.is_ascii_lowercase() || sign.is_ascii_digit() || b"_:".contains(&sign));
    let own = place.split("::").next().is_some_and(|first| OWN.contains(&first));
    if !is_time || !LEVELS.contains(&level) || !is_place || !own {
        return None;
    }
    let mut out = vec![time, level, place];
    let mut words = Vec::new();
    for part in parts {
        if let Some(name) = name_of_value(part) {
            words.push(format!("{name}=…"));
            // A value may have gaps: nothing after it is known to be words.
            break;
        }
        words.push(part.to_owned());
    }
    let words = words.join(" ");
    out.push(&words);
    Some(out.join(" "))
}

fn name_of_value(part: &str) -> Option<&str> {
    let (name, _) = part.split_once('=')?;
    let is_name = !name.is_empty()
        && name
            .bytes()
            .all(|sign| sign.is_ascii_lowercase() || b"_.".contains(&sign));
    Some(if is_name { name } else { "value" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(given: &str, expected: Option<&str>) {
        assert_eq!(line(given).as_deref(), expected);
    }

    #[test]
    fn words_stay_and_values_go() {
        check(
            "2026-11-22T09:00:00.123456Z  WARN app::runs: run interrupted run=0193 code=provider_down error=my salary list",
            Some("2026-11-22T09:00:00.123456Z WARN app::runs run interrupted run=…"),
        );
        check(
            "2026-11-22T09:00:00.123456Z  INFO store::open: the history is open",
            Some("2026-11-22T09:00:00.123456Z INFO store::open the history is open"),
        );
    }

    #[test]
    fn what_nobody_here_wrote_is_left_out() {
        check("2026-11-22T09:00:00.123456Z DEBUG hyper::proto: my salary list", None);
        check("my salary list", None);
        check("  second line of something", None);
        check("2026-11-22T09:00:00.123456Z WARN my: salary", None);
        check("", None);
    }

    #[test]
    fn only_the_newest_lines_are_kept() {
        let one = |number: usize| format!("2026-11-22T09:00:00.{number:06}Z INFO app::x: words\n");
        let text: String = (0..1_000).map(one).collect();
        let kept = cleaned(&(text + "stranger\n"));
        assert_eq!(kept.lines().count(), LINES + 1);
        assert!(kept.contains("00.000999Z") && !kept.contains("00.000599Z"), "{kept}");
        assert!(kept.ends_with("(1 other lines are left out.)\n"));
    }

    /// Whether every call of the log in a source has literal words, as this file relies on.
    fn interpolates(source: &str) -> Vec<String> {
        let calls = source.split("tracing::").skip(1);
        let calls = calls.filter(|call| {
            ["error!(", "warn!(", "info!(", "debug!("]
                .iter()
                .any(|kind| call.starts_with(kind))
        });
        let words = calls.map(|call| arguments(call).to_owned());
        words
            .filter(|call| call.split('"').skip(1).step_by(2).any(|literal| literal.contains('{')))
            .collect()
    }

    /// A call up to the bracket that ends it; brackets in its texts do not count.
    fn arguments(call: &str) -> &str {
        let (mut depth, mut in_text, mut escaped) = (0_i32, false, false);
        for (place, sign) in call.char_indices() {
            match sign {
                '"' if !escaped => in_text = !in_text,
                '(' if !in_text => depth += 1,
                ')' if !in_text => depth -= 1,
                _ => {}
            }
            escaped = in_text && sign == '\\' && !escaped;
            if sign == ')' && depth == 0 && !in_text {
                return &call[..=place];
            }
        }
        call
    }

    #[test]
    fn the_words_of_the_log_are_literal_everywhere() {
        assert_eq!(interpolates("tracing::warn!(%error, \"it is {error}\");").len(), 1);
        assert_eq!(interpolates("tracing::warn!(%error, \"it is\");").len(), 0);
        assert_eq!(
            interpolates("map_err(|e| tracing::warn!(%e, \"it (is\")); format!(\"{x}\");").len(),
            0
        );
        fn sources(folder: &Path, found: &mut Vec<std::path::PathBuf>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    sources(&path, found);
                } else if path.extension().is_some_and(|end| end == "rs") {
                    found.push(path);
                }
            }
        }
        let mut all = Vec::new();
        sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../.."), &mut all);
        assert!(all.len() > 200, "{}", all.len());
        let own = Path::new("diagnostics/log.rs");
        for path in all.iter().filter(|path| !path.ends_with(own)) {
            let source = std::fs::read_to_string(path).unwrap();
            assert_eq!(interpolates(&source), Vec::<String>::new(), "{}", path.display());
        }
    }
}
