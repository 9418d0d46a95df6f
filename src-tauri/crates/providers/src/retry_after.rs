//! How long a server asks to wait: `retry-after-ms`, or `retry-after` in seconds or as a date.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use reqwest::header::HeaderMap;

/// The wait in milliseconds from `now_ms` on; none when the server does not say, or not readably.
pub(crate) fn retry_after_ms(headers: &HeaderMap, now_ms: i64) -> Option<u64> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    if let Some(milliseconds) = text("retry-after-ms").and_then(number) {
        return Some(whole(milliseconds));
    }
    let asked = text("retry-after")?;
    number(asked)
        .map(|seconds| whole(seconds * 1_000.0))
        .or_else(|| until(asked, now_ms))
}

fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite())
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates"
)]
fn whole(milliseconds: f64) -> u64 {
    milliseconds.ceil().max(0.0) as u64
}

fn until(date: &str, now_ms: i64) -> Option<u64> {
    let date: SystemTime = httpdate::parse_http_date(date).ok()?;
    let now = UNIX_EPOCH + Duration::from_millis(u64::try_from(now_ms).ok()?);
    let wait = date.duration_since(now).unwrap_or_default();
    u64::try_from(wait.as_millis()).ok()
}

#[cfg(test)]
mod tests {
    use reqwest::header::{HeaderName, HeaderValue};

    use super::*;

    fn check(headers: &[(&'static str, &'static str)], expected: Option<u64>) {
        let headers = headers
            .iter()
            .map(|(name, value)| (HeaderName::from_static(name), HeaderValue::from_static(value)))
            .collect();
        // Sunday, 6 November 1994, 08:49:37.
        assert_eq!(retry_after_ms(&headers, 784_111_777_000), expected);
    }

    #[test]
    fn reads_seconds_and_milliseconds() {
        check(&[("retry-after", "20")], Some(20_000));
        check(&[("retry-after", " 1.5 ")], Some(1_500));
        check(&[("retry-after-ms", "250")], Some(250));
        check(&[("retry-after", "20"), ("retry-after-ms", "250")], Some(250));
    }

    #[test]
    fn reads_a_date_against_the_clock() {
        check(&[("retry-after", "Sun, 06 Nov 1994 08:50:07 GMT")], Some(30_000));
        check(&[("retry-after", "Sun, 06 Nov 1994 08:00:00 GMT")], Some(0));
    }

    #[test]
    fn ignores_what_it_cannot_read() {
        check(&[], None);
        check(&[("retry-after", "soon")], None);
        check(&[("retry-after", "NaN")], None);
        check(&[("retry-after", "-5")], Some(0));
        check(&[("retry-after", "1e300")], Some(u64::MAX));
    }
}
