//! Evidence is looked up: a quotation counts only if it stands in what the judge was shown, compared
//! after folding Unicode forms and whitespace.

use unicode_normalization::UnicodeNormalization;

/// Whether a quotation stands in a text.
pub fn is_quoted_from(quotation: &str, text: &str) -> bool {
    let wanted = fold(quotation);
    !wanted.is_empty() && fold(text).contains(&wanted)
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
    }
}
