//! The table, and the same as JSON.

use serde::Serialize;

use crate::figures::Figure;

/// One line of the table.
#[derive(Debug, Clone, Serialize)]
pub struct Row {
    /// The requirement, such as `P1`.
    pub id: &'static str,
    /// What was measured.
    pub what: String,
    /// What came of it.
    pub figure: Figure,
    /// In what.
    pub unit: &'static str,
    /// What it must not be above, or below; none for what is printed beside.
    pub must: Option<Must>,
}

/// What a median has to be.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Must {
    /// This, or less.
    AtMost(f64),
    /// This, or more.
    AtLeast(f64),
}

impl Row {
    /// Something that is printed beside what counts.
    pub fn beside(id: &'static str, what: impl Into<String>, figure: Figure, unit: &'static str) -> Self {
        Self {
            id,
            what: what.into(),
            figure,
            unit,
            must: None,
        }
    }

    /// Something that counts.
    pub fn must(id: &'static str, what: impl Into<String>, figure: Figure, unit: &'static str, must: Must) -> Self {
        Self {
            must: Some(must),
            ..Self::beside(id, what, figure, unit)
        }
    }

    /// Whether it is as it must be; always, for what is printed beside.
    pub fn holds(&self) -> bool {
        match self.must {
            Some(Must::AtMost(most)) => self.figure.median <= most,
            Some(Must::AtLeast(least)) => self.figure.median >= least,
            None => true,
        }
    }

    /// The line as it is printed.
    pub fn line(&self) -> String {
        let must = match self.must {
            Some(Must::AtMost(most)) => format!("<= {most}"),
            Some(Must::AtLeast(least)) => format!(">= {least}"),
            None => String::new(),
        };
        let verdict = match (self.must.is_some(), self.holds()) {
            (false, _) => "",
            (true, true) => "ok",
            (true, false) => "MISSED",
        };
        let spread = format!("{} .. {}", short(self.figure.min), short(self.figure.max));
        format!(
            "{:<4} {:<58} {:>10} {:<8} {:>22}  {:<10} {verdict}",
            self.id,
            self.what,
            short(self.figure.median),
            self.unit,
            spread,
            must
        )
        .trim_end()
        .to_owned()
    }
}

/// As many places as a reader needs.
fn short(number: f64) -> String {
    match number.abs() {
        size if size >= 100.0 => format!("{number:.0}"),
        size if size >= 10.0 => format!("{number:.1}"),
        _ => format!("{number:.3}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_beyond_its_bound_is_missed() {
        let row = |must| Row::must("P1", "overhead", Figure::of([0.3]), "ms", must);
        assert!(!row(Must::AtMost(0.25)).holds() && row(Must::AtMost(0.3)).holds());
        assert!(!row(Must::AtLeast(0.7)).holds() && row(Must::AtLeast(0.1)).holds());
        assert!(row(Must::AtMost(0.25)).line().ends_with("MISSED"));
        assert!(Row::beside("P1", "floor", Figure::of([9.0]), "ms").holds());
    }
}
