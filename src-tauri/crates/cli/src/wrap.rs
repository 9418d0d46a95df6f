//! Words into lines.

/// Breaks a text at its spaces into lines of at most this many letters; its own line ends stay. A longer word has a
/// line of its own.
pub(crate) fn wrap(text: &str, width: usize) -> Vec<String> {
    text.lines().flat_map(|line| wrap_line(line, width)).collect()
}

fn wrap_line(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut length = 0;
    for word in text.split_whitespace() {
        let letters = word.chars().count();
        if length > 0 && length + 1 + letters > width {
            lines.push(String::new());
            length = 0;
        }
        if let Some(line) = lines.last_mut() {
            if length > 0 {
                line.push(' ');
                length += 1;
            }
            line.push_str(word);
            length += letters;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(wrap(text, 10), expected);
    }

    #[test]
    fn breaks_at_spaces() {
        check("one two three four", &["one two", "three four"]);
        check("a verylongwordindeed b", &["a", "verylongwordindeed", "b"]);
        check("one\n\ntwo", &["one", "", "two"]);
        check("", &[]);
        check("ééééé ééééé é", &["ééééé", "ééééé é"]);
    }
}
