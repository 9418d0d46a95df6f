//! What a command writes, with a bound: of more than 1 MB the beginning and the end are kept.

use std::collections::VecDeque;

use tokio::io::{AsyncRead, AsyncReadExt};

/// How much of a stream is kept, in bytes; half of it from the beginning.
pub(crate) const KEPT: usize = 1_000_000;

/// The beginning and the end of a stream.
#[derive(Debug, Default)]
struct Kept {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    left_out: u64,
}

impl Kept {
    fn add(&mut self, bytes: &[u8]) {
        let (first, rest) = bytes.split_at(bytes.len().min(KEPT / 2 - self.head.len()));
        self.head.extend_from_slice(first);
        self.tail.extend(rest);
        let surplus = self.tail.len().saturating_sub(KEPT / 2);
        self.tail.drain(..surplus);
        self.left_out += surplus as u64;
    }

    fn text(self) -> String {
        let Self {
            mut head,
            tail,
            left_out,
        } = self;
        if left_out == 0 {
            head.extend(tail);
            return String::from_utf8_lossy(&head).into_owned();
        }
        let tail: Vec<u8> = tail.into();
        format!(
            "{}\n... ({left_out} bytes are left out here) ...\n{}",
            String::from_utf8_lossy(&head),
            String::from_utf8_lossy(&tail)
        )
    }
}

/// Reads a stream to its end. What cannot be read any more counts as the end.
pub(crate) async fn read(mut stream: impl AsyncRead + Unpin) -> String {
    let mut kept = Kept::default();
    let mut piece = vec![0; 16 * 1024];
    while let Ok(read @ 1..) = stream.read(&mut piece).await {
        kept.add(&piece[..read]);
    }
    kept.text()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn keeps_all_of_what_is_short() {
        assert_eq!(read(&b"Zo\xC3\xAB\n"[..]).await, "Zoë\n");
        assert_eq!(read("x".repeat(KEPT).as_bytes()).await, "x".repeat(KEPT));
    }

    #[tokio::test]
    async fn keeps_beginning_and_end_of_what_is_long() {
        let text = format!("first{}last", "x".repeat(3 * KEPT));
        let kept = read(text.as_bytes()).await;
        assert!(kept.starts_with("first") && kept.ends_with("last"));
        assert!(
            kept.contains("\n... (2000009 bytes are left out here) ...\n"),
            "{}",
            &kept[KEPT / 2..KEPT / 2 + 60]
        );
        assert!(kept.len() < KEPT + 60);
    }

    #[tokio::test]
    async fn reads_what_is_no_text() {
        assert_eq!(read(&b"a\xFF\0b"[..]).await, "a\u{FFFD}\0b");
    }
}
