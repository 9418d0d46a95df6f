//! What a server writes, as long as it has ends of lines. The protocol's own reader would pass over a line that is too
//! long, and go on reading for ever where no line ends.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};

/// Reads until a line is longer than it may be; then the talk is over.
pub(crate) struct Lines<R> {
    from: R,
    longest: usize,
    /// How much there is of the line that has not ended yet, in bytes.
    begun: usize,
    /// Whether a line was too long.
    pub(crate) is_over: Arc<AtomicBool>,
}

impl<R> Lines<R> {
    pub(crate) fn new(from: R, longest: usize) -> Self {
        Self {
            from,
            longest,
            begun: 0,
            is_over: Arc::default(),
        }
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Lines<R> {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let too_long = || Poll::Ready(Err(io::Error::other("a line is too long")));
        if self.is_over.load(Ordering::SeqCst) {
            return too_long();
        }
        let before = into.filled().len();
        ready!(Pin::new(&mut self.from).poll_read(context, into))?;
        let mut begun = self.begun;
        for line in into.filled()[before..].split_inclusive(|byte| *byte == b'\n') {
            begun += line.len();
            if begun > self.longest {
                // What is told of is not handed on.
                into.set_filled(before);
                self.is_over.store(true, Ordering::SeqCst);
                return too_long();
            }
            if line.ends_with(b"\n") {
                begun = 0;
            }
        }
        self.begun = begun;
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    async fn check(said: &[u8], expected: bool) {
        let mut lines = Lines::new(said, 4);
        let mut heard = Vec::new();
        let all = lines.read_to_end(&mut heard).await.is_ok();
        assert_eq!(
            (all, lines.is_over.load(Ordering::SeqCst)),
            (expected, !expected),
            "{said:?}"
        );
    }

    #[tokio::test]
    async fn only_a_line_that_is_too_long_ends_it() {
        check(b"abc\nabc\n\nabcd", true).await;
        check(b"", true).await;
        check(b"abc\nabcd\n", false).await;
        check(b"abcde", false).await;
    }

    #[tokio::test]
    async fn a_line_that_comes_in_pieces_is_one() {
        let (mut says, hears) = tokio::io::duplex(2);
        let mut lines = Lines::new(hears, 4);
        let saying = async move { says.write_all(b"ab\nabcde").await };
        let mut heard = Vec::new();
        let (_, read) = tokio::join!(saying, lines.read_to_end(&mut heard));
        assert!(read.is_err());
    }
}
