//! How much an archive may hold (quality page, R10: a bomb is stopped in 5 s and 256 MB). A run that is exported keeps to
//! the same bounds, so that whatever was written can be read.

/// As much may come out of a file in all, in bytes.
pub(super) const MOST_BYTES: u64 = 512 * 1024 * 1024;
/// As many things may be in a file.
pub(super) const MOST_ENTRIES: usize = 50_000;
/// The largest manifest in bytes: twice what that many things need.
pub(super) const MOST_MANIFEST: u64 = 16 * 1024 * 1024;
/// The longest event in bytes.
pub(super) const MOST_LINE: u64 = 16 * 1024 * 1024;
/// As much memory the events may take in all, in bytes.
const MOST_WEIGHT: u64 = 256 * 1024 * 1024;
/// As much may come out of any file, however small it is.
const SLACK: u64 = 32 * 1024 * 1024;
/// As many times its own length may come out of a file besides: texts shrink to a third, journals to a tenth.
const RATIO: u64 = 10;
/// What a value takes in memory, about, besides its text.
const VALUE: u64 = 64;

/// The most that may come out of a file of this length, in bytes.
pub(super) fn most_of(length: u64) -> u64 {
    length.saturating_mul(RATIO).saturating_add(SLACK).min(MOST_BYTES)
}

/// What events take in memory when they are read, guessed from their text: a thousand empty lists are short in a file.
#[derive(Debug, Default)]
pub(super) struct Weight(u64);

impl Weight {
    /// Adds an event; false when it is too long, or when all of them are too heavy.
    pub(super) fn takes(&mut self, line: &[u8]) -> bool {
        let values = line.iter().filter(|byte| matches!(byte, b',' | b'[' | b'{')).count() as u64;
        let length = line.len() as u64;
        self.0 = self.0.saturating_add(length + values * VALUE);
        length <= MOST_LINE && self.0 <= MOST_WEIGHT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_file_holds_little_and_a_large_one_not_everything() {
        assert_eq!(most_of(500_000), 5_000_000 + SLACK);
        assert_eq!(most_of(u64::MAX), MOST_BYTES);
    }

    #[test]
    fn many_empty_lists_are_heavy() {
        let line = "[],".repeat(1_000_000);
        let mut weight = Weight::default();
        let taken = (0..10).take_while(|_| weight.takes(line.as_bytes())).count();
        assert_eq!(taken, 2);
        assert!(!Weight::default().takes(&vec![b' '; 16 * 1024 * 1024 + 1]));
    }
}
