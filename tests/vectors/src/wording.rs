//! Whether a problem is the one that a case expects: in other words perhaps, but about the same item.

/// Words that stand for each other.
const ALIKE: [&[&str]; 11] = [
    &["respond", "answer"],
    &["phase", "phases", "step", "steps", "agent", "branch"],
    &["name", "key", "id"],
    &["initial", "start", "first"],
    &["extra", "unexpected", "undeclared", "unknown"],
    &["unmatched", "unbalanced", "unclosed", "mismatched"],
    &[
        "unknown",
        "undefined",
        "unresolved",
        "nowhere",
        "invalid",
        "nonexistent",
    ],
    &["reference", "references", "ref", "target"],
    &["required", "requires", "missing", "needs", "must", "neither"],
    &["forward", "later", "yet"],
    &["sibling", "branch"],
];
/// Words that say nothing of their own.
const FILLING: [&str; 12] = [
    "the", "and", "for", "has", "have", "not", "with", "from", "that", "are", "its", "does",
];

/// How like the expected words what was said is. The less exact is the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Likeness {
    /// The same words in a row.
    Same,
    /// Every item that is named between quotation marks or looks like a name of code, and at least half of the other
    /// words, or words like them.
    OtherWords,
}

/// How the likest of what was said is like what is wanted; none when nothing is.
pub fn likest<'a>(wanted: &str, said: impl IntoIterator<Item = &'a String>) -> Option<Likeness> {
    said.into_iter().filter_map(|said| likeness(wanted, said)).min()
}

/// How like what is wanted an error is.
///
/// # Errors
/// It is another one.
pub fn says(wanted: &str, said: &str) -> Result<Likeness, String> {
    likeness(wanted, said).ok_or_else(|| format!("the error says \"{said}\", and should say: {wanted}"))
}

/// How what was said is like what is wanted; none when it is something else.
pub fn likeness(wanted: &str, said: &str) -> Option<Likeness> {
    let said = words(said);
    let plain = words(wanted);
    if !plain.is_empty() && said.windows(plain.len()).any(|row| row == plain) {
        return Some(Likeness::Same);
    }
    let items = items(wanted);
    let rest: Vec<&String> = plain
        .iter()
        .filter(|word| word.len() > 2 && !items.contains(word) && !FILLING.contains(&word.as_str()))
        .collect();
    let found = rest.iter().filter(|word| is_said(word, &said)).count();
    let names_the_items = items.iter().all(|item| said.contains(item));
    let is_alike = names_the_items && found * 2 >= rest.len() && (!items.is_empty() || found > 0);
    is_alike.then_some(Likeness::OtherWords)
}

fn is_said(word: &str, said: &[String]) -> bool {
    let mut alike = ALIKE
        .iter()
        .filter(|words| words.contains(&word))
        .flat_map(|words| words.iter());
    said.iter().any(|other| other == word) || alike.any(|other| said.iter().any(|said| said == other))
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|character: char| !character.is_alphanumeric() && !"_-.".contains(character));
    words
        .map(|word| word.trim_matches('.').to_lowercase())
        .filter(|word| !word.is_empty())
        .collect()
}

/// What is named: between quotation marks, or a word with a large letter, a line or a dot inside.
fn items(text: &str) -> Vec<String> {
    let quoted = text.split(['\'', '"', '`']).skip(1).step_by(2).flat_map(words);
    let is_code = |word: &&str| {
        word.chars()
            .skip(1)
            .any(|character| character.is_uppercase() || "_.".contains(character))
    };
    let code = text
        .split(|character: char| !character.is_alphanumeric() && !"_-.".contains(character))
        .map(|word| word.trim_matches('.'))
        .filter(is_code)
        .map(str::to_lowercase);
    quoted.chain(code).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_the_problem(wanted: &str, said: &str) -> bool {
        likeness(wanted, said).is_some()
    }

    #[test]
    fn the_same_words_in_a_row_are_more_than_words_like_them() {
        let (same, alike) = ("unknown target \"ghost\"", "\"ghost\" leads nowhere: no such target");
        assert_eq!(likeness("unknown target \"ghost\"", same), Some(Likeness::Same));
        assert_eq!(likeness("unknown target \"ghost\"", alike), Some(Likeness::OtherWords));
        let both = [alike.to_owned(), same.to_owned()];
        assert_eq!(likest("unknown target \"ghost\"", &both), Some(Likeness::Same));
        assert_eq!(
            likest("unknown target \"ghost\"", &both[..1]),
            Some(Likeness::OtherWords)
        );
        assert_eq!(likest("duplicate key", &both), None);
    }

    #[test]
    fn other_words_about_the_same_item_are_the_same_problem() {
        assert!(is_the_problem(
            "both 'ref' and 'agent'",
            "steps[0]: the step has both \"ref\" and \"agent\": it runs one"
        ));
        assert!(is_the_problem(
            "no reachable respond",
            "steps: no reachable answer: a flow ends"
        ));
        assert!(is_the_problem(
            "unknown target phase",
            "steps[0].routes[0].to: unknown target \"ghost\""
        ));
        assert!(is_the_problem(
            "unexpected key 'x'",
            "steps[0].input.x: extra key \"x\""
        ));
        assert!(is_the_problem("agentB", "{{agentB}} is not there yet"));
        assert!(is_the_problem("Unmatched", "instruction: unmatched {{"));
    }

    #[test]
    fn the_same_words_about_another_item_are_another_problem() {
        assert!(!is_the_problem("missing key 'style'", "missing key \"topic\""));
        assert!(!is_the_problem("'b'", "\"bee\" is a branch"));
        assert!(!is_the_problem("agentB", "{{agentA}} is not there yet"));
        assert!(!is_the_problem("maxIterations", "the loop needs max"));
        assert!(!is_the_problem("no reachable respond", "duplicate key \"a\""));
        assert!(!is_the_problem("duplicate phase name", "unknown target \"ghost\""));
    }
}
