//! Cases that are sentences: which test of the repository covers which.
//!
//! A table holds rows of words and a test. The first row whose words all stand in the case, in any
//! case of letters, names the test. That the test exists is checked for every stated case.

use crate::case::{Case, Outcome};

/// Words that a sentence holds, and the test that covers it.
pub type Row = (&'static [&'static str], &'static str);

/// Sentences of the four systems that may stand in any group.
pub const OF_ANY_GROUP: &[Row] = &[
    (&["fence"], "data_stands_alone_or_in_a_fence"),
    (&["no json"], "no_json_is_worth_another_try_and_another_shape_is_not"),
    (
        &["json", "parse"],
        "no_json_is_worth_another_try_and_another_shape_is_not",
    ),
    (&["json_error"], "no_json_is_worth_another_try_and_another_shape_is_not"),
    (
        &["full schema"],
        "no_json_is_worth_another_try_and_another_shape_is_not",
    ),
    (
        &["schema_error"],
        "no_json_is_worth_another_try_and_another_shape_is_not",
    ),
    (
        &["llm-input"],
        "request_and_answer_are_artifacts_at_the_addresses_of_the_trace",
    ),
    (
        &["trace"],
        "request_and_answer_are_artifacts_at_the_addresses_of_the_trace",
    ),
    (&["reserved"], "the_kinds_of_the_kernel_are_refused"),
    (&["hash-only"], "outputs_that_were_not_kept_are_not_compared"),
    (&["hash only"], "outputs_that_were_not_kept_are_not_compared"),
    (&["orthogonal"], "a_changed_decision_is_no_changed_value"),
    (&["commands", "status"], "a_changed_decision_is_no_changed_value"),
    (&["partial"], "only_the_top_level_of_the_output_is_partial"),
    (
        &["retryable", "recompute"],
        "a_failure_keeps_its_code_when_the_step_runs_again",
    ),
    (&["retryable"], "a_code_of_the_kernel_is_never_safe_to_repeat"),
    (&["cause"], "a_failure_keeps_its_code_and_its_cause"),
    (&["throw"], "a_panic_is_an_execution_that_failed_in_its_own_words"),
    (&["input_validation"], "the_body_never_sees_an_input_that_does_not_fit"),
    (&["input", "valid"], "the_body_never_sees_an_input_that_does_not_fit"),
    (&["events", "order"], "emitted_events_come_before_returned_ones"),
    (&["events", "before"], "emitted_events_come_before_returned_ones"),
    (
        &["artifact"],
        "artifacts_are_in_the_result_and_were_handed_on_as_they_came",
    ),
    (
        &["default", "run id"],
        "a_step_by_itself_has_its_name_no_version_and_a_fresh_run",
    ),
    (&["0.0.0"], "a_step_by_itself_has_its_name_no_version_and_a_fresh_run"),
    (&["gravest"], "the_gravest_finding_is_the_status"),
    (&["schema_violation"], "the_gravest_finding_is_the_status"),
    (&["highest"], "a_hundred_thousand_removals_cost_one_pass"),
    (&["removal"], "a_hundred_thousand_removals_cost_one_pass"),
    (&["apply", "diff"], "applying_a_diff_makes_the_target_of_the_base"),
    (
        &["overlay", "recompute"],
        "a_correction_survives_what_is_computed_later",
    ),
    (&["overlay"], "only_what_counts_is_compared"),
    (&["reorder"], "another_order_is_no_change"),
    (&["keyby"], "a_list_without_ids_is_an_error"),
    (&["dedupe"], "a_command_that_is_delivered_twice_is_carried_out_once"),
    (&["blocking"], "at_most_one_command_may_block"),
];

/// The test that covers a prose case: of the first row whose words all stand in it.
///
/// # Errors
/// No row fits.
pub fn stated(case: &Case, rows: &[Row]) -> Result<Outcome, String> {
    let words = case.value.to_string().to_lowercase();
    let row = rows
        .iter()
        .find(|(needed, _)| needed.iter().all(|word| words.contains(&word.to_lowercase())));
    match row {
        Some((_, test)) => Ok(Outcome::Stated(test)),
        None => Err("it only states something, and no test is known that covers it".to_owned()),
    }
}
