//! Unpacking bytes whose length may be a lie: a row that is damaged asks for no memory that its bytes do not fill.

use std::io::{self, Read};

/// As much is asked for at once; what is longer grows as it comes.
const AT_ONCE: usize = 16 * 1024 * 1024;

/// The content of one zstd frame, never more than `most` bytes of it.
pub(crate) fn inflate(packed: &[u8], most: usize) -> io::Result<Vec<u8>> {
    if most <= AT_ONCE {
        return zstd::bulk::decompress(packed, most);
    }
    let mut bytes = Vec::new();
    let stream = zstd::stream::read::Decoder::with_buffer(packed)?;
    stream.take(most as u64).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn asks_for_no_more_memory_than_there_is_to_fill() {
        let packed = zstd::bulk::compress(&[7; 5_000], 3).unwrap();
        let bytes = inflate(&packed, u32::MAX as usize).unwrap();
        assert_eq!(bytes, [7; 5_000]);
        assert!(bytes.capacity() < 1 << 20, "{}", bytes.capacity());
        assert!(inflate(&packed, 4_999).is_err());
        assert!(inflate(&packed[..packed.len() - 1], u32::MAX as usize).is_err());
    }

    #[test]
    fn a_long_content_comes_back_whole() {
        let long: Vec<u8> = (0..20_000_000_u32).map(|n| (n / 1_000) as u8).collect();
        let packed = zstd::bulk::compress(&long, 3).unwrap();
        assert!(inflate(&packed, long.len()).unwrap() == long);
    }
}
