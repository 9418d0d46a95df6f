//! Images: what they are and how large. They are decoded, so that half a picture is not taken for one.

use std::io::Cursor;

use contract::ports::documents::{DocumentError, Format};
use image::error::ImageError;
use image::{ImageFormat, ImageReader};

use crate::package::not_readable;

/// What decoding may take, in bytes. Of a larger picture only the beginning is looked at.
const ROOM: u64 = 160 * 1024 * 1024;

/// Which kind of image begins like this.
pub(crate) fn format(bytes: &[u8]) -> Option<Format> {
    match image::guess_format(bytes).ok()? {
        ImageFormat::Png => Some(Format::Png),
        ImageFormat::Jpeg => Some(Format::Jpeg),
        ImageFormat::Gif => Some(Format::Gif),
        ImageFormat::WebP => Some(Format::Webp),
        ImageFormat::Bmp => Some(Format::Bmp),
        _ => None,
    }
}

/// Width and height in pixels.
pub(crate) fn size(bytes: &[u8], format: Format) -> Result<(u32, u32), DocumentError> {
    let what = format.words().split_once(' ').map_or("image", |(_, words)| words);
    let failed = |error: ImageError| not_readable(what, &error);
    let reader = || {
        ImageReader::new(Cursor::new(bytes))
            .with_guessed_format()
            .map_err(|error| not_readable(what, &error))
    };
    let size = reader()?.into_dimensions().map_err(failed)?;
    let mut limited = reader()?;
    let mut limits = image::Limits::default();
    limits.max_alloc = Some(ROOM);
    limited.limits(limits);
    match limited.decode() {
        Ok(_) | Err(ImageError::Limits(_)) => Ok(size),
        Err(error) => Err(failed(error)),
    }
}
