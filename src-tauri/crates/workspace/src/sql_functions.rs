//! The functions that a query may call. The clock of a query is looked at between the steps of SQLite's machine, and one
//! call of a function is one step: so each of them must end by itself in a time that grows with what it is given, and not
//! with its square.
//!
//! Those of SQLite that do not are made anew here (`instr`, `replace`, `trim`, `ltrim`, `rtrim`) or not allowed. `LIKE` and
//! `GLOB` are bounded by the length of their pattern (`crate::sql`).

use std::collections::HashSet;

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Result};

/// What may be called: its result can be repeated, and it ends soon.
const ALLOWED: &str = "\
    -> ->> abs acos acosh asin asinh atan atan2 atanh avg ceil ceiling char coalesce concat concat_ws cos cosh count \
    cume_dist date datetime degrees dense_rank exp first_value floor format glob group_concat hex if ifnull iif \
    instr json json_array json_array_length json_each json_error_position json_extract json_group_array \
    json_group_object json_object json_quote json_tree json_type json_valid julianday lag last_value lead length \
    like likelihood likely ln log log10 log2 lower ltrim max median min mod nth_value ntile nullif octet_length \
    percent_rank percentile percentile_cont percentile_disc pi pow power printf quote radians rank replace round \
    row_number rtrim sign sin sinh soundex sqrt strftime string_agg substr substring sum tan tanh time timediff \
    total trim trunc typeof unicode unixepoch unlikely upper zeroblob";

/// Whether a query may call this.
pub(crate) fn is_allowed(function: &str) -> bool {
    ALLOWED.split(' ').any(|name| name.eq_ignore_ascii_case(function))
}

/// Puts those in the place of SQLite's that end sooner.
pub(crate) fn make(connection: &Connection, longest: usize) -> Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    connection.create_scalar_function("instr", 2, flags, instr)?;
    connection.create_scalar_function("replace", 3, flags, move |context| replace(context, longest))?;
    for (name, ends) in [
        ("trim", (true, true)),
        ("ltrim", (true, false)),
        ("rtrim", (false, true)),
    ] {
        for arguments in [1, 2] {
            connection.create_scalar_function(name, arguments, flags, move |context| trim(context, ends))?;
        }
    }
    Ok(())
}

/// Where a text begins in another one, counted in characters from 1; 0 where it does not. Of bytes, counted in bytes.
fn instr(context: &Context<'_>) -> Result<Option<i64>> {
    if let (ValueRef::Blob(whole), ValueRef::Blob(part)) = (context.get_raw(0), context.get_raw(1)) {
        // Each byte as a character, so that the search is that of texts.
        let letters = |bytes: &[u8]| bytes.iter().copied().map(char::from).collect::<String>();
        return Ok(Some(place_of(&letters(part), &letters(whole))));
    }
    let (Some(whole), Some(part)) = (text(context, 0), text(context, 1)) else {
        return Ok(None);
    };
    Ok(Some(place_of(&part, &whole)))
}

fn place_of(part: &str, whole: &str) -> i64 {
    let before = whole.find(part).map(|place| whole[..place].chars().count());
    before
        .and_then(|count| i64::try_from(count).ok())
        .map_or(0, |count| count + 1)
}

fn replace(context: &Context<'_>, longest: usize) -> Result<Option<String>> {
    let (Some(whole), Some(part), Some(instead)) = (text(context, 0), text(context, 1), text(context, 2)) else {
        return Ok(None);
    };
    if part.is_empty() {
        return Ok(Some(whole));
    }
    let more = instead.len().saturating_sub(part.len());
    if more > 0
        && whole
            .matches(&part)
            .count()
            .saturating_mul(more)
            .saturating_add(whole.len())
            > longest
    {
        let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_TOOBIG);
        return Err(Error::SqliteFailure(code, None));
    }
    Ok(Some(whole.replace(&part, &instead)))
}

fn trim(context: &Context<'_>, (start, end): (bool, bool)) -> Result<Option<String>> {
    let Some(whole) = text(context, 0) else {
        return Ok(None);
    };
    let taken: HashSet<char> = match context.len() {
        1 => HashSet::from([' ']),
        _ => match text(context, 1) {
            Some(letters) => letters.chars().collect(),
            None => return Ok(None),
        },
    };
    // Most letters are of these, and a look at them costs next to nothing.
    let mut plain = [false; 128];
    for letter in taken.iter().filter(|letter| letter.is_ascii()) {
        plain[*letter as usize] = true;
    }
    let is_taken = |letter: char| match plain.get(letter as usize) {
        Some(is_taken) => *is_taken,
        None => taken.contains(&letter),
    };
    let mut rest = whole.as_str();
    if start {
        rest = rest.trim_start_matches(is_taken);
    }
    if end {
        rest = rest.trim_end_matches(is_taken);
    }
    Ok(Some(rest.to_owned()))
}

/// An argument as SQLite writes it as text; none for NULL.
fn text(context: &Context<'_>, place: usize) -> Option<String> {
    match context.get_raw(place) {
        ValueRef::Null => None,
        ValueRef::Integer(integer) => Some(integer.to_string()),
        ValueRef::Real(number) => Some(written(number)),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => Some(String::from_utf8_lossy(bytes).into_owned()),
    }
}

/// A number with 15 digits that count and always a point, as `%!.15g` writes it.
fn written(number: f64) -> String {
    if number.is_nan() {
        return String::new();
    }
    if number.is_infinite() {
        return if number > 0.0 { "Inf" } else { "-Inf" }.to_owned();
    }
    let scientific = format!("{number:.14e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let shortened = |digits: &str| {
        let digits = digits.trim_end_matches('0');
        if digits.ends_with('.') {
            format!("{digits}0")
        } else {
            digits.to_owned()
        }
    };
    if (-4..15).contains(&exponent) {
        let behind = usize::try_from(14 - exponent).unwrap_or_default().max(1);
        return shortened(&format!("{number:.behind$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", shortened(digits), exponent.abs())
}

#[cfg(test)]
mod tests {
    use rusqlite::types::Value;

    use super::*;

    /// What these functions say, beside what SQLite's own say.
    fn check(expression: &str) {
        let own = Connection::open_in_memory().unwrap();
        let ours = Connection::open_in_memory().unwrap();
        make(&ours, 1_000_000).unwrap();
        let ask = |connection: &Connection| -> Value {
            connection
                .query_row(&format!("SELECT {expression}"), [], |row| row.get(0))
                .unwrap()
        };
        assert_eq!(ask(&ours), ask(&own), "{expression}");
    }

    #[test]
    fn they_say_what_sqlites_own_say() {
        for expression in [
            "instr('Zoë wins', 'w')",
            "instr('abc', '')",
            "instr('', 'a')",
            "instr(NULL, 'a')",
            "instr('a', NULL)",
            "instr(12.5, '.')",
            "instr(1e20, 'e')",
            "instr(x'00ff01', x'01')",
            "instr('ABC', 'b')",
            "replace('a-b-c', '-', '+-+')",
            "replace('abc', '', 'x')",
            "replace(NULL, 'a', 'b')",
            "replace('abc', 'b', NULL)",
            "replace(1000000, '0', 'o')",
            "replace(0.1 + 0.2, '.', ',')",
            "replace(1.0, '.', ',')",
            "replace(-1234.5678, '.', ',')",
            "replace(1e15, '.', ',')",
            "replace(123456789012345678.0, '.', ',')",
            "replace(0.0001, '.', ',')",
            "replace(0.00001, '.', ',')",
            "replace(1e-300, '.', ',')",
            "replace(100.0, '.', ',')",
            "trim('  a b ')",
            "ltrim('  a b ')",
            "rtrim('  a b ')",
            "trim('xyaxyx', 'yx')",
            "ltrim('ëëa', 'ë')",
            "rtrim('a€€', '€')",
            "trim(NULL, 'a')",
            "trim('a', NULL)",
            "trim('aa', '')",
            "trim(010.50, '0')",
            "trim('\t a')",
        ] {
            check(expression);
        }
    }

    #[test]
    fn a_text_that_would_be_too_long_is_not_made() {
        let connection = Connection::open_in_memory().unwrap();
        make(&connection, 1_000).unwrap();
        let asked = connection.query_row("SELECT replace(printf('%.900c', 'a'), 'a', 'bb')", [], |row| {
            row.get::<_, String>(0)
        });
        let code = asked.unwrap_err().sqlite_error_code();
        assert_eq!(code, Some(rusqlite::ErrorCode::TooBig));
    }

    #[test]
    fn only_what_ends_soon_may_be_called() {
        for refused in [
            "json_patch",
            "jsonb_patch",
            "unhex",
            "random",
            "load_extension",
            "CURRENT_TIMESTAMP",
        ] {
            assert!(!is_allowed(refused), "{refused}");
        }
        assert!(is_allowed("SUM") && is_allowed("ROUND"));
    }
}
