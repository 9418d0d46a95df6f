//! Compression. What is small, and so nearly everything, goes through one compressor for each thread: to make one
//! costs more than to compress a page of text.

use std::cell::RefCell;
use std::io;

use zstd::bulk::Compressor;

const LEVEL: i32 = 3;
/// Up to so many bytes are small. A compressor keeps what its largest input took.
pub(crate) const SMALL: usize = 64 * 1024;

thread_local! {
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// Packs bytes with zstd.
pub(crate) fn deflate(bytes: &[u8]) -> io::Result<Vec<u8>> {
    if bytes.len() > SMALL {
        return zstd::bulk::compress(bytes, LEVEL);
    }
    COMPRESSOR.with_borrow_mut(|kept| {
        let compressor = match kept {
            Some(compressor) => compressor,
            None => kept.insert(Compressor::new(LEVEL)?),
        };
        let mut packed = compressor.compress(bytes)?;
        // Room is made for what cannot be packed.
        packed.shrink_to_fit();
        Ok(packed)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inflate::inflate;
    use crate::testing::incompressible;

    #[test]
    fn what_is_packed_comes_back_whatever_was_packed_before() {
        for length in [SMALL, 0, SMALL + 1, 1, 3_000] {
            for bytes in [vec![7; length], incompressible(length)] {
                let packed = deflate(&bytes).unwrap();
                assert_eq!(inflate(&packed, length).unwrap(), bytes, "{length}");
            }
        }
    }
}
