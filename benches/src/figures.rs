//! Many runs of one thing: their median, and how far they were apart.

use serde::Serialize;

/// A figure, from the same measurement made several times.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Figure {
    /// The one in the middle.
    pub median: f64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
    /// How many there were.
    pub runs: usize,
}

impl Figure {
    /// The figure of these measurements; all nothing when there are none.
    pub fn of(measured: impl IntoIterator<Item = f64>) -> Self {
        let mut sorted: Vec<f64> = measured.into_iter().collect();
        sorted.sort_by(f64::total_cmp);
        let runs = sorted.len();
        let at = |place: usize| sorted.get(place).copied().unwrap_or_default();
        let median = match runs % 2 {
            1 => at(runs / 2),
            _ => (at((runs / 2).saturating_sub(1)) + at(runs / 2)) / 2.0,
        };
        Self {
            median,
            min: at(0),
            max: at(runs.saturating_sub(1)),
            runs,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_is_the_middle_one_and_outliers_do_not_move_it() {
        let figure = Figure::of([3.0, 1.0, 900.0, 2.0, 4.0]);
        assert_eq!(
            (figure.median, figure.min, figure.max, figure.runs),
            (3.0, 1.0, 900.0, 5)
        );
        assert_eq!(Figure::of([1.0, 2.0]).median, 1.5);
        assert_eq!(Figure::of([]).median, 0.0);
    }
}
