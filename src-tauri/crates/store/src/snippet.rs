//! Cuts out of a text where the words of a search stand in it. The search index holds no text, so it cannot.
//!
//! A word is what it is for the index (`unicode61` without diacritics, found by its beginning), or it would be marked
//! where nothing was found. What comes out is plain text in one line, and places in it.

use std::ops::Range;

use contract::found::Marked;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// How many signs a piece has at most, and how many of them stand before what it shows.
const LENGTH: usize = 140;
const BEFORE: usize = 36;
/// Further into a text nothing is looked for, and not more is looked at than so many finds.
const LOOKED_AT: usize = 200_000;
const FINDS: usize = 200;

/// What a person searches for: each part must occur, its words one after the other, the last one as a beginning.
pub(crate) struct Wanted(Vec<Vec<String>>);

/// A piece of a text, and how many of the wanted parts stand in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    pub(crate) text: String,
    pub(crate) marks: Vec<Marked>,
    pub(crate) parts: usize,
}

impl Wanted {
    /// What was typed, as [`crate::run_search::expression`] reads it.
    pub(crate) fn new(typed: &str) -> Self {
        let parts = typed.split(|letter: char| letter.is_whitespace() || letter.is_control());
        let parts = parts.map(|part| words(part).into_iter().map(|word| word.folded).collect::<Vec<_>>());
        Self(parts.filter(|part: &Vec<String>| !part.is_empty()).collect())
    }

    /// How many parts there are.
    pub(crate) fn parts(&self) -> usize {
        self.0.len()
    }

    /// The piece of a text that shows most of what is wanted; none when nothing of it is there.
    pub(crate) fn piece(&self, text: &str) -> Option<Piece> {
        let text = beginning(text, LOOKED_AT);
        let finds = self.finds(text);
        let at = |find: &Find| window(text, &find.place);
        let best = finds.iter().map(|find| (self.count(&finds, &at(find)), find));
        // Of several that are as good, the first.
        let (parts, find) = best.rev().max_by_key(|(parts, _)| *parts)?;
        let window = at(find);
        let inside = finds.iter().filter(|other| window.contains(&other.place.start));
        let marks = merged(inside.map(|other| other.place.start..other.place.end.min(window.end)));
        let (text, marks) = line(text, &window, &marks);
        Some(Piece { text, marks, parts })
    }

    fn finds(&self, text: &str) -> Vec<Find> {
        let words = words(text);
        let mut finds = Vec::new();
        for start in 0..words.len() {
            for (part, wanted) in self.0.iter().enumerate() {
                let Some(there) = words.get(start..start + wanted.len()) else {
                    continue;
                };
                if is_there(there, wanted) {
                    let place = there[0].place.start..there[there.len() - 1].place.end;
                    finds.push(Find { part, place });
                }
            }
            if finds.len() >= FINDS {
                break;
            }
        }
        finds
    }

    fn count(&self, finds: &[Find], window: &Range<usize>) -> usize {
        let is_in = |part: usize| {
            finds
                .iter()
                .any(|find| find.part == part && window.contains(&find.place.start))
        };
        (0..self.0.len()).filter(|part| is_in(*part)).count()
    }
}

/// Where a wanted part stands, in bytes.
struct Find {
    part: usize,
    place: Range<usize>,
}

/// A word of a text: where it stands, and what it is for the index.
struct Word {
    place: Range<usize>,
    folded: String,
}

fn is_there(words: &[Word], wanted: &[String]) -> bool {
    let Some((last, whole)) = wanted.split_last() else {
        return false;
    };
    let Some((word, before)) = words.split_last() else {
        return false;
    };
    before.iter().map(|word| &word.folded).eq(whole) && word.folded.starts_with(last.as_str())
}

fn words(text: &str) -> Vec<Word> {
    let mut words: Vec<Word> = Vec::new();
    let mut begun: Option<usize> = None;
    for (place, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        let belongs = letter.is_alphanumeric() || (begun.is_some() && is_combining_mark(letter));
        match (begun, belongs) {
            (None, true) => begun = Some(place),
            (Some(start), false) => {
                begun = None;
                words.push(Word {
                    folded: folded(&text[start..place]),
                    place: start..place,
                });
            }
            (None, false) | (Some(_), true) => {}
        }
    }
    words
}

/// Without diacritics and in small letters.
fn folded(word: &str) -> String {
    let plain = word.nfd().filter(|letter| !is_combining_mark(*letter));
    plain.flat_map(char::to_lowercase).collect()
}

/// The part of a text around a find, cut where words begin and end if there are such places.
fn window(text: &str, find: &Range<usize>) -> Range<usize> {
    let before = text[..find.start]
        .char_indices()
        .rev()
        .nth(BEFORE - 1)
        .map_or(0, |(place, _)| place);
    let mut start = before;
    if before > 0
        && let Some(gap) = text[before..find.start].find(char::is_whitespace)
    {
        start = before + gap;
    }
    let whole = text[start..]
        .char_indices()
        .nth(LENGTH)
        .map_or(text.len(), |(place, _)| start + place);
    let mut end = whole;
    if whole < text.len()
        && let Some(gap) = text[start..whole].rfind(char::is_whitespace)
        && start + gap >= find.end
    {
        end = start + gap;
    }
    start..end
}

fn beginning(text: &str, bytes: usize) -> &str {
    let mut end = bytes.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Places in order, those that touch made one.
fn merged(places: impl Iterator<Item = Range<usize>>) -> Vec<Range<usize>> {
    let mut merged: Vec<Range<usize>> = Vec::new();
    for place in places {
        match merged.last_mut() {
            Some(last) if place.start <= last.end => last.end = last.end.max(place.end),
            _ => merged.push(place),
        }
    }
    merged
}

/// The window in one line, with the marks counted as JavaScript counts.
fn line(text: &str, window: &Range<usize>, marks: &[Range<usize>]) -> (String, Vec<Marked>) {
    let mut line = String::new();
    let mut length = 0_u32;
    let push = |line: &mut String, length: &mut u32, letter: char| {
        line.push(letter);
        *length += u32::try_from(letter.len_utf16()).unwrap_or(1);
    };
    if !text[..window.start].trim().is_empty() {
        push(&mut line, &mut length, '…');
    }
    let mut out: Vec<Marked> = Vec::new();
    let mut is_gap = true;
    for (place, letter) in text[window.clone()].char_indices() {
        let place = window.start + place;
        let is_space = letter.is_whitespace() || letter.is_control();
        let from = length;
        if !(is_space && is_gap) {
            push(&mut line, &mut length, if is_space { ' ' } else { letter });
        }
        is_gap = is_space;
        if let Some(mark) = marks.iter().position(|mark| mark.contains(&place)) {
            match out.get_mut(mark) {
                Some(marked) => marked.to = length,
                None => out.push(Marked { from, to: length }),
            }
        }
    }
    if line.ends_with(' ') {
        line.pop();
    }
    if !text[window.end..].trim().is_empty() {
        line.push('…');
    }
    (line, out)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The piece with its marks in brackets.
    fn shown(text: &str, typed: &str) -> Option<String> {
        let piece = Wanted::new(typed).piece(text)?;
        let units: Vec<u16> = piece.text.encode_utf16().collect();
        let mut out = String::new();
        let mut at = 0;
        for mark in &piece.marks {
            let (from, to) = (mark.from as usize, mark.to as usize);
            out += &String::from_utf16(&units[at..from]).unwrap();
            out += &format!("[{}]", String::from_utf16(&units[from..to]).unwrap());
            at = to;
        }
        Some(out + &String::from_utf16(&units[at..]).unwrap())
    }

    fn check(text: &str, typed: &str, expected: &str) {
        assert_eq!(shown(text, typed).as_deref(), Some(expected), "{typed}");
    }

    #[test]
    fn marks_words_by_their_beginnings_however_they_are_written() {
        check("Sum up the expenses.", "exp", "Sum up the [expenses].");
        check("Zoë and ZOE", "zoé", "[Zoë] and [ZOE]");
        check("Zoe\u{308} here", "zoe", "[Zoe\u{308}] here");
        check("one two three", "three one", "[one] two [three]");
        check("a-b and a b, not a-c", "a-b", "[a-b] and [a b], not a-c");
        check("<b>bold</b> & <i>", "bold", "<b>[bold]</b> & <i>");
    }

    #[test]
    fn counts_as_javascript_counts() {
        check("🎉🎉 found 🎉", "found", "🎉🎉 [found] 🎉");
    }

    #[test]
    fn shows_one_line() {
        check("first\n\n\tsecond\u{0}line  ", "second", "first [second] line");
    }

    #[test]
    fn cuts_at_words_and_says_that_something_is_left_out() {
        let before = "word ".repeat(40);
        let text = format!("{before}needle {}", "more ".repeat(60));
        let piece = shown(&text, "need").unwrap();
        assert!(piece.starts_with("…word word") && piece.ends_with("more…"), "{piece}");
        assert!(piece.contains(" [needle] "), "{piece}");
    }

    #[test]
    fn shows_the_place_with_most_of_what_is_wanted() {
        let text = format!("red alone. {}Here red and blue meet.", "nothing of note. ".repeat(20));
        let piece = shown(&text, "blue red").unwrap();
        assert!(piece.ends_with("Here [red] and [blue] meet."), "{piece}");
    }

    #[test]
    fn nothing_found_is_no_piece() {
        assert_eq!(shown("Sum up", "penses"), None);
        assert_eq!(shown("Sum up", " - "), None);
        assert_eq!(shown("", "a"), None);
    }

    proptest! {
        #[test]
        fn any_text_gives_a_short_line_whose_marks_are_inside(text in "(?s).{0,400}", typed in "(?s).{0,12}") {
            if let Some(piece) = Wanted::new(&typed).piece(&text) {
                prop_assert!(piece.text.chars().count() <= LENGTH + 2);
                prop_assert!(!piece.text.chars().any(|letter| letter.is_control() || letter == '\n'));
                prop_assert!(!piece.marks.is_empty() && piece.parts > 0);
                let length = piece.text.encode_utf16().count() as u32;
                let mut at = 0;
                for mark in &piece.marks {
                    prop_assert!(at <= mark.from && mark.from < mark.to && mark.to <= length, "{:?}", piece);
                    at = mark.to;
                }
            }
        }

        #[test]
        fn a_long_word_is_cut_too(length in 1usize..2_000) {
            let text = "ä".repeat(length);
            let piece = Wanted::new("a").piece(&text).unwrap();
            prop_assert!(piece.text.chars().count() <= LENGTH + 2);
            prop_assert_eq!(piece.marks.len(), 1);
        }
    }
}
