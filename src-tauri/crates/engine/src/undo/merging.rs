//! Putting together what a person changed in a text and what an undo takes out of it.

use contract::undo::Merging;

/// The longest text that is compared, in bytes and in lines: comparing costs the square of what differs.
const MOST: (usize, usize) = (1024 * 1024, 5_000);

/// What `now` is with the change from `left` to `to` made in it too.
///
/// # Errors
/// Why there is no such text: never [`Merging::Clean`].
pub fn merged(left: &[u8], now: &[u8], to: &[u8]) -> Result<Vec<u8>, Merging> {
    if [left, now, to].into_iter().any(|text| !is_comparable(text)) {
        return Err(Merging::Impossible);
    }
    diffy::merge_bytes(left, now, to).map_err(|_| Merging::Overlaps)
}

/// How many lines came and how many went from one text to the other; none for what is no text, or differs in too many
/// lines to be compared.
pub fn line_counts(before: &[u8], after: &[u8]) -> Option<(u32, u32)> {
    if before.contains(&0) || after.contains(&0) {
        return None;
    }
    let (before, after) = (lines(before), lines(after));
    let same = before
        .iter()
        .zip(&after)
        .take_while(|(one, other)| one == other)
        .count();
    let (before, after) = (&before[same..], &after[same..]);
    let from_end = before.iter().rev().zip(after.iter().rev());
    let same = from_end.take_while(|(one, other)| one == other).count();
    let (before, after) = (&before[..before.len() - same], &after[..after.len() - same]);
    if before.is_empty() || after.is_empty() {
        return Some((u32::try_from(after.len()).ok()?, u32::try_from(before.len()).ok()?));
    }
    if before.len().max(after.len()) > MOST.1 {
        return None;
    }
    let (before, after) = (before.concat(), after.concat());
    let patch = diffy::create_patch_bytes(&before, &after);
    let (mut added, mut removed) = (0, 0);
    for line in patch.hunks().iter().flat_map(diffy::Hunk::lines) {
        match line {
            diffy::Line::Insert(_) => added += 1,
            diffy::Line::Delete(_) => removed += 1,
            diffy::Line::Context(_) => {}
        }
    }
    Some((added, removed))
}

/// The lines of a text, each with its end.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

fn is_comparable(text: &[u8]) -> bool {
    text.len() <= MOST.0 && !text.contains(&0) && text.split(|byte| *byte == b'\n').nth(MOST.1).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(left: &str, now: &str, to: &str, expected: Result<&str, Merging>) {
        let found = merged(left.as_bytes(), now.as_bytes(), to.as_bytes());
        assert_eq!(found, expected.map(|text| text.as_bytes().to_vec()));
    }

    #[test]
    fn what_lies_apart_is_put_together() {
        check(
            "1\nRUN\n3\n4\n5\n",
            "1\nRUN\n3\n4\nmine\n",
            "1\n2\n3\n4\n5\n",
            Ok("1\n2\n3\n4\nmine\n"),
        );
        check(
            "1\r\nRUN\r\n3\r\n4\r\n",
            "1\r\nRUN\r\n3\r\nmine\r\n",
            "1\r\n2\r\n3\r\n4\r\n",
            Ok("1\r\n2\r\n3\r\nmine\r\n"),
        );
    }

    #[test]
    fn what_touches_the_same_lines_overlaps() {
        check("1\nRUN\n3\n", "1\nmine\n3\n", "1\n2\n3\n", Err(Merging::Overlaps));
    }

    #[test]
    fn counts_the_lines_that_came_and_went() {
        let count = |before: &str, after: &str| line_counts(before.as_bytes(), after.as_bytes());
        assert_eq!(count("", "1\n2\n3"), Some((3, 0)));
        assert_eq!(count("1\n2\n", ""), Some((0, 2)));
        assert_eq!(count("1\n2\n3\n4\n", "1\nb\n3\nd\ne\n"), Some((3, 2)));
        assert_eq!(count("1\n", "1"), Some((1, 1)));
        assert_eq!(count("a\0", "b"), None);
        let long = "x\n".repeat(1_000_000);
        assert_eq!(count(&long, &format!("{long}end\n")), Some((1, 0)));
        assert_eq!(count(&long, &"y\n".repeat(1_000_000)), None);
    }

    #[test]
    fn what_is_no_text_or_too_long_is_not_compared() {
        check("1\0", "2\0", "3\0", Err(Merging::Impossible));
        let long = "x\n".repeat(MOST.1 + 1);
        check(&long, &long, "1\n", Err(Merging::Impossible));
    }
}
