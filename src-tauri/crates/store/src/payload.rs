//! How an entry's event is written down: packed, and when that is still long, compressed. Rows of the first format are
//! JSON text; all of them can be read.

use std::sync::Arc;

use contract::event::RunEvent;
use contract::packed;
use contract::ports::journal::NewEntry;

use crate::deflate::deflate;
use crate::inflate::inflate;

/// Packed events of more bytes than this are compressed when that makes them smaller.
const COMPRESS_ABOVE: usize = 512;
/// The first byte of a compressed one. Four bytes follow: how long it is when it is not.
const COMPRESSED: u8 = 2;
const HEAD: usize = 5;

/// The event in the bytes of its row; otherwise why that cannot be.
pub(crate) fn write(entry: &NewEntry) -> Result<Arc<[u8]>, String> {
    let Some(packed) = entry.packed() else {
        let why = packed::pack(&*entry.event).err();
        return Err(why.map_or_else(String::new, |error| error.to_string()));
    };
    let Ok(length) = u32::try_from(packed.len()) else {
        return Err("it is larger than 4 GB".to_owned());
    };
    if packed.len() <= COMPRESS_ABOVE {
        return Ok(Arc::clone(packed));
    }
    match deflate(packed) {
        Ok(compressed) if compressed.len() + HEAD < packed.len() => {
            let mut out = Vec::with_capacity(compressed.len() + HEAD);
            out.push(COMPRESSED);
            out.extend(length.to_le_bytes());
            out.extend(compressed);
            Ok(out.into())
        }
        Ok(_) | Err(_) => Ok(Arc::clone(packed)),
    }
}

/// The event in a row; otherwise why it is none.
pub(crate) fn read(bytes: &[u8]) -> Result<RunEvent, String> {
    let value = match bytes {
        [COMPRESSED, a, b, c, d, compressed @ ..] => {
            let length = u32::from_le_bytes([*a, *b, *c, *d]);
            let packed = inflate(compressed, length as usize).map_err(|error| error.to_string())?;
            packed::unpack(&packed).map_err(|error| error.to_string())?
        }
        _ if packed::is_packed(bytes) => packed::unpack(bytes).map_err(|error| error.to_string())?,
        _ => return serde_json::from_slice(bytes).map_err(|error| error.to_string()),
    };
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use contract::run::StopReason;

    use super::*;
    use crate::testing::{attempted, finished, started};

    fn check(entry: &NewEntry) -> usize {
        let event = &*entry.event;
        let bytes = write(entry).unwrap();
        assert_eq!(read(&bytes).as_ref(), Ok(event));
        assert_eq!(
            read(serde_json::to_string(event).unwrap().as_bytes()).as_ref(),
            Ok(event)
        );
        bytes.len()
    }

    #[test]
    fn an_event_comes_back_from_every_way_to_write_it() {
        assert!(check(&attempted(70)) < 40);
        assert!(check(&started("Expenses of Zoë")) < 500);
        let long = finished(StopReason::Passed, &"again and again ".repeat(1_000));
        assert!(check(&long) < 300);
    }

    #[test]
    fn what_is_damaged_is_an_error() {
        let long = write(&finished(StopReason::Passed, &"word ".repeat(1_000))).unwrap();
        assert_eq!(long[0], COMPRESSED);
        assert!(read(&long[..long.len() - 1]).is_err());
        assert!(read(&long[..3]).is_err());
        let mut endless = long.to_vec();
        endless[1..5].copy_from_slice(&[0xff; 4]);
        assert!(
            read(&endless).is_ok(),
            "a length that is too large allocates nothing of the sort"
        );
        assert!(read(b"").is_err());
        assert!(read(br#"{"type":"moonLanded"}"#).is_err());
    }
}
