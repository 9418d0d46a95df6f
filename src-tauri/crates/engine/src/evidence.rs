//! Evidence is looked up: a quotation counts only if it stands in what the judge was shown, compared
//! after folding Unicode forms and whitespace.

use unicode_normalization::UnicodeNormalization;

/// Shorter quotations, in characters, stand in nearly every text: they must be a line of their own.
const SHORTEST: usize = 3;

/// The results as a judge was shown them, ready to be quoted from.
pub struct Quotable {
    /// Each result, folded as a whole and by its lines.
    results: Vec<(String, Vec<String>)>,
}

impl Quotable {
    /// What was sent: only what stands in a fence that names a result is part of one. The lines that fence it, and what
    /// the program says about it, are not.
    pub fn new(sent: &str) -> Self {
        let mut results = Vec::new();
        let mut inside: Option<Vec<&str>> = None;
        for line in sent.lines() {
            match &mut inside {
                None if line.starts_with("<data name=\"") => inside = Some(Vec::new()),
                None => {}
                Some(_) if line == "</data>" => results.extend(inside.take()),
                Some(lines) => lines.push(line),
            }
        }
        let folded = |lines: Vec<&str>| {
            (
                fold(&lines.join("\n")),
                lines.into_iter().map(|line| unquoted(fold(line))).collect(),
            )
        };
        Self {
            results: results.into_iter().map(folded).collect(),
        }
    }

    /// Whether a quotation stands in one of the results.
    pub fn holds(&self, quotation: &str) -> bool {
        let wanted = unquoted(fold(quotation));
        if wanted.chars().count() < SHORTEST {
            return !wanted.is_empty() && self.results.iter().any(|(_, lines)| lines.contains(&wanted));
        }
        self.results.iter().any(|(whole, _)| whole.contains(&wanted))
    }
}

/// A whole text, ready to look for something that must not be in it.
pub struct Searchable(String);

impl Searchable {
    /// This text.
    pub fn new(text: &str) -> Self {
        Self(fold(text))
    }

    /// Whether these words stand anywhere in it, however short they are.
    pub fn holds(&self, words: &str) -> bool {
        self.0.contains(&unquoted(fold(words)))
    }
}

/// Words that say that something must not be there, as far as we know them: enough to ask the app to look for its
/// absence. A criterion in another language is shown to hold by a passage, as any other.
const NEGATIONS: &[&str] = &[
    // English.
    "no",
    "not",
    "none",
    "never",
    "without",
    "nothing",
    "nobody",
    "nowhere",
    "neither",
    "nor",
    "cannot",
    "free",
    "absent",
    "absence",
    "avoid",
    "avoids",
    "avoided",
    "exclude",
    "excludes",
    "excluded",
    "excluding",
    "omit",
    "omits",
    "omitted",
    "remove",
    "removes",
    "removed",
    "delete",
    "deletes",
    "deleted",
    "lacks",
    "gone",
    // German.
    "kein",
    "keine",
    "keinen",
    "keiner",
    "keinem",
    "keines",
    "nicht",
    "nichts",
    "ohne",
    "nie",
    "niemals",
    "niemand",
    "weder",
    "entfernt",
    "frei",
    // French, Spanish, Italian, Portuguese.
    "pas",
    "sans",
    "aucun",
    "aucune",
    "jamais",
    "rien",
    "sin",
    "ningún",
    "ninguna",
    "ninguno",
    "nunca",
    "nada",
    "non",
    "senza",
    "nessun",
    "nessuno",
    "nessuna",
    "mai",
    "não",
    "sem",
    "nenhum",
    "nenhuma",
    // Dutch, the Scandinavian languages, Polish, Russian.
    "geen",
    "niet",
    "zonder",
    "nooit",
    "inte",
    "ingen",
    "inga",
    "utan",
    "ikke",
    "uden",
    "uten",
    "bez",
    "brak",
    "nigdy",
    "не",
    "нет",
    "без",
];

/// Whether a criterion asks for something that must not be there.
pub fn speaks_of_absence(criterion: &str) -> bool {
    let text = criterion.to_lowercase().replace('\u{2019}', "'");
    let mut words = text.split(|character: char| !(character.is_alphanumeric() || character == '\''));
    words.any(|word| NEGATIONS.contains(&word) || word.ends_with("n't"))
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
    out.truncate(out.trim_end().len());
    out
}

/// Models like to put a quotation in quotation marks.
fn unquoted(folded: String) -> String {
    match folded.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')) {
        Some(inner) => inner.to_owned(),
        None => folded,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(quotation: &str, result: &str) -> bool {
        let sent = format!(
            "<data name=\"report.md\">\n{result}\n</data>\n<data about=\"report.md\">\n12 more characters are not shown.\n</data>"
        );
        Quotable::new(&sent).holds(quotation)
    }

    #[test]
    fn finds_a_quotation_across_line_breaks_and_typography() {
        assert!(holds(
            "“Travel rose – by a lot”",
            "So:\nTravel rose -\n  by a lot. The end"
        ));
        assert!(holds("cafe\u{301}", "the caf\u{e9} bill"));
    }

    #[test]
    fn does_not_find_what_is_not_there() {
        assert!(!holds("Travel fell", "Travel rose"));
        assert!(!holds("  ", "anything"));
        assert!(!holds("a", "Travel rose"));
        assert!(holds("42", "Answer:\n42"));
    }

    #[test]
    fn the_programs_own_words_are_no_evidence() {
        for words in ["report.md", "12 more characters are not shown.", "</data>"] {
            assert!(!holds(words, "Travel rose"), "{words}");
        }
        assert!(holds(
            "12 more characters are not shown.",
            "12 more characters are not shown."
        ));
    }

    #[test]
    fn what_must_be_absent_is_found_however_short_it_is() {
        let text = Searchable::new("mail: ada@example.org");
        assert!(text.holds("@") && text.holds("\"ada\"") && !text.holds("bob"));
    }

    #[test]
    fn a_criterion_is_shown_by_absence_only_when_it_asks_for_it() {
        for text in [
            "No TODO is left",
            "Doesn’t name anyone",
            "Free of jargon",
            "Enthält keine Namen",
            "Sans fautes",
        ] {
            assert!(speaks_of_absence(text), "{text}");
        }
        for text in ["Names every month", "Notes are in English", "A known total"] {
            assert!(!speaks_of_absence(text), "{text}");
        }
    }
}
