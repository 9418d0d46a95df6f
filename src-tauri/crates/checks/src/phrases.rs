//! Numbers and lists as people write them.

/// `412 words`, `1 word`.
pub(crate) fn count(number: usize, one: &str, many: &str) -> String {
    format!(
        "{} {}",
        self::number(number as f64),
        if number == 1 { one } else { many }
    )
}

/// `17,954.10`, `4`, `0.125`.
pub(crate) fn number(value: f64) -> String {
    let whole = value.fract() == 0.0;
    let cents = (value * 100.0 - (value * 100.0).round()).abs() < 1e-6;
    let text = if whole {
        format!("{value:.0}")
    } else if cents {
        format!("{value:.2}")
    } else {
        format!("{value:.6}").trim_end_matches('0').to_owned()
    };
    let (sign, digits) = text
        .strip_prefix('-')
        .map_or(("", text.as_str()), |digits| ("-", digits));
    let (integer, fraction) = digits.split_once('.').map_or((digits, None), |(i, f)| (i, Some(f)));
    let groups: Vec<&str> = integer
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|group| std::str::from_utf8(group).ok())
        .collect();
    let sign = if text == "-0" { "" } else { sign };
    format!(
        "{sign}{}{}",
        groups.join(","),
        fraction.map(|fraction| format!(".{fraction}")).unwrap_or_default()
    )
}

/// The first few of these, and how many more there are.
pub(crate) fn some_of(items: &[String], separator: &str) -> String {
    const SHOWN: usize = 3;
    let shown = items.iter().take(SHOWN).cloned().collect::<Vec<_>>().join(separator);
    match items.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown}{separator}and {more} more"),
    }
}

/// A text in quotation marks, shortened.
pub(crate) fn quote(text: &str) -> String {
    format!("\"{}\"", shortened(text))
}

/// A text in one line, shortened.
pub(crate) fn shortened(text: &str) -> String {
    const SHOWN: usize = 80;
    let line = text.trim().replace(['\n', '\r'], " ");
    if line.chars().count() <= SHOWN {
        return line;
    }
    format!("{}…", line.chars().take(SHOWN).collect::<String>())
}

/// What is wrong with a regular expression. The last line of its error says it; the ones before draw it.
pub(crate) fn syntax(pattern: &str, error: &regex::Error) -> String {
    let text = error.to_string();
    let reason = text.lines().last().unwrap_or(&text).trim_start_matches("error: ");
    format!("{} is not a regular expression: {reason}", quote(pattern))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_numbers_as_people_do() {
        let written: Vec<String> = [17954.1, 0.0, -0.0, -1234.5, 999.0, 1e6, 0.125, 0.1 + 0.2]
            .map(number)
            .into();
        assert_eq!(
            written,
            ["17,954.10", "0", "0", "-1,234.50", "999", "1,000,000", "0.125", "0.30"]
        );
    }

    #[test]
    fn counts_and_shortens() {
        assert_eq!(count(1, "word", "words"), "1 word");
        assert_eq!(count(1200, "word", "words"), "1,200 words");
        let items: Vec<String> = ["a", "b", "c", "d"].map(str::to_owned).into();
        assert_eq!(some_of(&items, "; "), "a; b; c; and 1 more");
        assert_eq!(quote(&"ë".repeat(100)).chars().count(), 83);
    }
}
