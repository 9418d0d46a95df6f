//! Times as people read them, counted in milliseconds since 1970.

/// A day in UTC: `2026-11-21`.
pub fn day(at_ms: i64) -> String {
    let (year, month, day) = civil(at_ms.div_euclid(86_400_000));
    format!("{year:04}-{month:02}-{day:02}")
}

/// A moment in UTC: `2026-11-21 12:31`.
pub fn moment(at_ms: i64) -> String {
    let minute = at_ms.div_euclid(60_000).rem_euclid(1440);
    format!("{} {:02}:{:02}", day(at_ms), minute / 60, minute % 60)
}

/// The date of a day counted from 1970 (Howard Hinnant, "chrono-compatible low-level date algorithms").
fn civil(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let of_era = day.rem_euclid(146_097);
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let date = of_year - (153 * shifted + 2) / 5 + 1;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    (year + era * 400 + i64::from(month <= 2), month, date)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_calendar() {
        let moments = [0, 951_782_399_000, 951_782_400_000, 1_795_264_260_000, -60_000].map(moment);
        let expected = [
            "1970-01-01 00:00",
            "2000-02-28 23:59",
            "2000-02-29 00:00",
            "2026-11-21 12:31",
            "1969-12-31 23:59",
        ];
        assert_eq!(moments, expected);
    }
}
