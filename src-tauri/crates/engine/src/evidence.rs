//! Evidence is looked up: a quotation counts only if it stands in what the judge was shown, compared
//! after folding Unicode forms and whitespace.

use unicode_normalization::UnicodeNormalization;

/// Shorter quotations, in characters, stand in nearly every text: they must be a line of their own.
const SHORTEST: usize = 3;

/// Whether a quotation stands in the results as a judge was shown them. The lines that fence and
/// name a result are no part of it.
pub fn is_quoted_from(quotation: &str, shown: &str) -> bool {
    let wanted = fold(quotation);
    let is_fence = |line: &&str| line.starts_with("<data name=\"") || *line == "</data>";
    let results: Vec<&str> = shown.lines().filter(|line| !is_fence(line)).collect();
    if wanted.chars().count() < SHORTEST {
        return !wanted.is_empty() && results.iter().any(|line| fold(line) == wanted);
    }
    fold(&results.join("\n")).contains(&wanted)
}

/// Compatibility forms composed, typographic quotes and dashes as plain ones, whitespace as one space.
fn fold(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.nfkc() {
        let plain = match character {
            '\u{2018}' | '\u{2019}' | '\u{201B}' => '\'',
            '\u{201C}' | '\u{201D}' | '\u{201E}' | '\u{00AB}' | '\u{00BB}' => '"',
            '\u{2010}'..='\u{2015}' | '\u{2212}' => '-',
            other => other,
        };
        if plain.is_whitespace() {
            if !out.ends_with(' ') && !out.is_empty() {
                out.push(' ');
            }
        } else {
            out.push(plain);
        }
    }
    let trimmed = out.trim();
    // Models like to put a quotation in quotation marks.
    trimmed
        .strip_prefix('"')
        .and_then(|inner| inner.strip_suffix('"'))
        .unwrap_or(trimmed)
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_a_quotation_across_line_breaks_and_typography() {
        assert!(is_quoted_from(
            "“Travel rose – by a lot”",
            "So:\nTravel rose -\n  by a lot. The end"
        ));
        assert!(is_quoted_from("cafe\u{301}", "the caf\u{e9} bill"));
    }

    #[test]
    fn does_not_find_what_is_not_there() {
        assert!(!is_quoted_from("Travel fell", "Travel rose"));
        assert!(!is_quoted_from("  ", "anything"));
        assert!(!is_quoted_from("a", "Travel rose"));
        assert!(is_quoted_from("42", "Answer:\n42"));
        assert!(!is_quoted_from(
            "report.md",
            "<data name=\"report.md\">\nTravel rose\n</data>"
        ));
        assert!(is_quoted_from(
            "Travel rose",
            "<data name=\"report.md\">\nTravel rose\n</data>"
        ));
    }
}
