//! The terminal as a screen: lines, a few colours where they are welcome, and words that fit its width.

use std::io::{IsTerminal, Write};

use crate::wrap::wrap;

/// Lines are never longer than this, however wide the terminal is: long ones are hard to read.
const WIDEST: usize = 100;

/// Where lines go, and whether colours do.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    errors: bool,
    colours: bool,
    width: usize,
}

impl Screen {
    /// What was asked for.
    pub(crate) fn out() -> Self {
        Self::new(false, std::io::stdout().is_terminal())
    }

    /// What went wrong.
    pub(crate) fn err() -> Self {
        Self::new(true, std::io::stderr().is_terminal())
    }

    fn new(errors: bool, terminal: bool) -> Self {
        // https://no-color.org: set and not empty.
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let plain = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
        let width = columns.unwrap_or(WIDEST).clamp(40, WIDEST);
        Self {
            errors,
            colours: terminal && !refused && !plain,
            width,
        }
    }

    /// One line as it is.
    pub(crate) fn line(self, text: &str) {
        self.write(&format!("{text}\n"));
    }

    /// One JSON document, for programs.
    pub(crate) fn document(self, value: &impl serde::Serialize) {
        self.line(&quiet(&serde_json::to_string_pretty(value).unwrap_or_default()));
    }

    /// The same in one line.
    pub(crate) fn json(self, value: &impl serde::Serialize) {
        self.line(&quiet(&serde_json::to_string(value).unwrap_or_default()));
    }

    /// Words without an end of line, so that an answer can follow.
    pub(crate) fn prompt(self, text: &str) {
        self.write(text);
    }

    /// Words over as many lines as they need, each this far from the left.
    pub(crate) fn wrapped(self, indent: usize, text: &str) {
        for line in wrap(text, self.width.saturating_sub(indent)) {
            self.line(&format!("{:indent$}{line}", ""));
        }
    }

    /// Whoever reads may have gone; that is no reason to stop a run.
    fn write(self, text: &str) {
        if self.errors {
            let _ = std::io::stderr().lock().write_all(text.as_bytes());
        } else {
            let mut out = std::io::stdout().lock();
            let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
        }
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        if self.colours {
            format!("\u{1b}[{code}m{text}\u{1b}[0m")
        } else {
            text.to_owned()
        }
    }
}

/// JSON in which nothing moves the cursor of a terminal that it is shown on: JSON itself lets the control signs from
/// U+007F on stand as they are. Only texts hold them, so that each may be written as its number.
fn quiet(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for letter in json.chars() {
        match letter {
            '\u{7f}'..='\u{9f}' => out.push_str(&format!("\\u{:04x}", u32::from(letter))),
            _ => out.push(letter),
        }
    }
    out
}

/// Text from a model or a file, without what could move the cursor, repaint the terminal, or show words in another
/// order than they have.
pub(crate) fn clean(text: &str) -> String {
    text.chars()
        .filter(|letter| !turns(*letter))
        .map(|letter| {
            if letter.is_control() && letter != '\n' {
                ' '
            } else {
                letter
            }
        })
        .collect()
}

/// Signs that change the direction of the words after them (Unicode UAX 9, explicit formatting and marks).
fn turns(letter: char) -> bool {
    matches!(letter, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A number as people write it: 12,400.
pub(crate) fn number(value: u64) -> String {
    let digits = value.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A duration at a glance: 0.4 s, 12 s, 3 min 5 s.
pub(crate) fn duration(milliseconds: u64) -> String {
    let seconds = milliseconds / 1000;
    match seconds {
        0..10 => format!("{:.1} s", milliseconds as f64 / 1000.0),
        10..60 => format!("{seconds} s"),
        _ => format!("{} min {} s", seconds / 60, seconds % 60),
    }
}

/// One or many.
pub(crate) fn count(number_of: u64, one: &str, many: &str) -> String {
    if number_of == 1 {
        format!("1 {one}")
    } else {
        format!("{} {many}", number(number_of))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_numbers_as_people_do() {
        let written = [0, 999, 1000, 64_000, 1_234_567].map(number);
        assert_eq!(written, ["0", "999", "1,000", "64,000", "1,234,567"]);
    }

    #[test]
    fn writes_durations_at_a_glance() {
        assert_eq!(
            [40, 9_940, 12_345, 185_000].map(duration),
            ["0.0 s", "9.9 s", "12 s", "3 min 5 s"]
        );
    }

    #[test]
    fn a_model_cannot_repaint_the_terminal() {
        assert_eq!(clean("a\u{1b}[2Jb\r\nc"), "a [2Jb \nc");
        assert_eq!(clean("a\u{9b}2Jb\u{7}"), "a 2Jb ");
    }

    #[test]
    fn a_model_cannot_turn_words_round() {
        assert_eq!(clean("report\u{202e}fdp.exe\u{2066}\u{2069}"), "reportfdp.exe");
        assert_eq!(clean("\u{200f}שלום עולם"), "שלום עולם");
    }
}
