//! The command that goes on with what this one began: the same once more.

use std::path::Path;

/// What was typed, as it can be typed again. Without what would begin something new, so that it goes on.
pub(crate) fn command() -> String {
    let words = std::env::args_os().skip(1).filter(|word| word != "--new");
    let words: Vec<String> = words.map(|word| quoted(Path::new(&word))).collect();
    format!("tepa {}", words.join(" "))
}

/// A word or a path as it can be typed again.
pub(crate) fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain =
        |letter: char| !letter.is_whitespace() && !letter.is_control() && !"'\"$&;()<>|*?`\\#!~{}[]".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text;
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_can_be_typed_again() {
        let check = |word: &str, typed: &str| assert_eq!(quoted(Path::new(word)), typed);
        check("task.yaml", "task.yaml");
        check("my task.yaml", "'my task.yaml'");
        check("it's", "'it'\\''s'");
        check("judge=local:m", "judge=local:m");
        check("--input={\"a\":1}", "'--input={\"a\":1}'");
        check("", "''");
    }
}
