//! Rules about events: sentences, each covered by a test of the engine's events.

use crate::case::{Case, Outcome};
use crate::prose::{Row, stated};

const ROWS: &[Row] = &[
    (&["stepboundary", "phasestarted"], "a_boundary_comes_before_every_phase"),
    (&["phasestarted"], "a_phase_starts_with_how_often_it_ran_before"),
    (
        &["phasecompleted"],
        "a_completed_phase_shows_the_beginning_of_its_output",
    ),
    (
        &["llmcallstart", "llmcallend"],
        "a_call_is_bracketed_and_its_end_says_what_it_cost",
    ),
    (&["llmcallstart"], "a_call_is_bracketed_and_its_end_says_what_it_cost"),
    (&["phaserouted"], "a_move_is_told_once_and_an_end_is_not"),
    (&["error", "usage"], "an_error_is_followed_by_the_usage_alone"),
    (&["error"], "an_error_is_followed_by_the_usage_alone"),
    (&["sub", "reasoningdelta"], "words_on_the_way_are_reasoning"),
    (&["reasoningdelta"], "words_on_the_way_are_reasoning"),
    (&["textdelta"], "only_the_answer_is_text"),
    (&["usage"], "the_usage_comes_last_and_counts_every_call"),
];

/// Names the test that covers a rule.
pub(crate) fn event_rules(case: &Case) -> Result<Outcome, String> {
    stated(case, ROWS)
}
