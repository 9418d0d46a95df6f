//! How a file stands towards what the run did to it: a pure decision about its changes and what is there now.

use contract::ports::undo::Found;
use contract::undo::{FileFace, UndoStanding};

use super::history::{Change, Touched};

/// What an undo or a redo of a file would be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// How it stands.
    pub standing: UndoStanding,
    /// What it gets; none when it goes.
    pub to: Option<FileFace>,
    /// What the run, or the undo, left.
    pub left: Option<FileFace>,
    /// Whether nothing but what was edited since stands between what was left and what it gets.
    pub may_merge: bool,
}

/// How a file stands before an undo, or before a redo.
pub fn standing(touched: &Touched, now: &Found, redo: bool) -> Standing {
    let (Some(first), Some(last)) = (touched.changes.first(), touched.changes.last()) else {
        return told(UndoStanding::Done, None, None);
    };
    let (to, left) = match redo {
        false => (&first.before, &last.after),
        true => (&last.after, &first.before),
    };
    if touched.undone != redo {
        return told(UndoStanding::Done, to.as_ref(), left.as_ref());
    }
    let here = match now {
        Found::Nothing => None,
        Found::Here(face) => Some(face),
        Found::Other => return told(UndoStanding::Blocked, to.as_ref(), left.as_ref()),
    };
    let standing = if is_same(here, to.as_ref()) && !changes_mode(here, to.as_ref()) {
        UndoStanding::Unchanged
    } else if !redo && to.is_some() && !first.kept {
        UndoStanding::NotKept
    } else if leads_back(touched, here, redo) {
        match to {
            Some(_) => UndoStanding::Restores,
            None => UndoStanding::Deletes,
        }
    } else if here.is_none() {
        UndoStanding::Missing
    } else {
        UndoStanding::Edited
    };
    Standing {
        may_merge: standing == UndoStanding::Edited && leads_back(touched, left.as_ref(), redo),
        ..told(standing, to.as_ref(), left.as_ref())
    }
}

fn told(standing: UndoStanding, to: Option<&FileFace>, left: Option<&FileFace>) -> Standing {
    Standing {
        standing,
        to: to.cloned(),
        left: left.cloned(),
        may_merge: false,
    }
}

/// Whether nobody else touched the file: from what is there the changes lead back, one after the other, to what was
/// before them. A change that may not have been made is passed by when the file is as it was before it.
fn leads_back(touched: &Touched, here: Option<&FileFace>, redo: bool) -> bool {
    if redo {
        return touched
            .changes
            .first()
            .is_some_and(|change| is_same(here, change.before.as_ref()));
    }
    let mut here = here;
    touched.changes.iter().rev().all(
        |Change {
             before, after, certain, ..
         }| {
            if is_same(here, after.as_ref()) {
                here = before.as_ref();
                return true;
            }
            !certain && is_same(here, before.as_ref())
        },
    )
}

fn is_same(one: Option<&FileFace>, other: Option<&FileFace>) -> bool {
    one.map(|face| (&face.hash, face.link)) == other.map(|face| (&face.hash, face.link))
}

/// Whether only the permissions are others: a command may have changed just these.
fn changes_mode(here: Option<&FileFace>, to: Option<&FileFace>) -> bool {
    match (here.and_then(|face| face.mode), to.and_then(|face| face.mode)) {
        (Some(here), Some(to)) => here != to,
        (_, None) | (None, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use contract::Hash;

    use super::*;

    fn face(text: &str) -> Option<FileFace> {
        (!text.is_empty()).then(|| FileFace::of(Hash::of_bytes(text.as_bytes())))
    }

    /// Changes as `before after`, with a question mark where it is not known whether they were made; nothing is `""`.
    fn check(changes: &[(&str, &str, bool)], now: &str, expected: UndoStanding) {
        let changes = changes.iter().map(|(before, after, certain)| Change {
            before: face(before),
            after: face(after),
            certain: *certain,
            kept: true,
        });
        let touched = Touched {
            changes: changes.collect(),
            undone: false,
        };
        let now = face(now).map_or(Found::Nothing, Found::Here);
        assert_eq!(standing(&touched, &now, false).standing, expected);
    }

    #[test]
    fn what_the_run_left_is_restored_or_goes() {
        check(&[("a", "b", true)], "b", UndoStanding::Restores);
        check(&[("a", "b", true), ("b", "c", true)], "c", UndoStanding::Restores);
        check(&[("", "b", true)], "b", UndoStanding::Deletes);
    }

    #[test]
    fn what_is_as_it_was_stays() {
        check(&[("a", "b", true)], "a", UndoStanding::Unchanged);
        check(&[("", "b", true)], "", UndoStanding::Unchanged);
        check(&[("a", "b", true), ("b", "a", true)], "a", UndoStanding::Unchanged);
    }

    #[test]
    fn what_somebody_touched_since_is_theirs() {
        check(&[("a", "b", true)], "x", UndoStanding::Edited);
        check(&[("", "b", true)], "x", UndoStanding::Edited);
        check(&[("a", "b", true)], "", UndoStanding::Missing);
    }

    #[test]
    fn an_edit_in_the_middle_of_the_run_is_theirs_too() {
        let touched = [("a", "b", true), ("mine", "c", true)];
        check(&touched, "c", UndoStanding::Edited);
    }

    #[test]
    fn a_change_that_was_never_made_is_passed_by() {
        check(&[("a", "b", true), ("b", "c", false)], "b", UndoStanding::Restores);
        check(&[("a", "b", true), ("b", "c", false)], "c", UndoStanding::Restores);
        check(&[("a", "b", false)], "a", UndoStanding::Unchanged);
        check(&[("a", "b", true), ("b", "c", true)], "b", UndoStanding::Edited);
    }
}
