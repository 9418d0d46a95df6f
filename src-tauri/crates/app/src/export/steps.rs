//! The steps of a run as a table: a row for each step of each cycle, or for each visit of a flow's step. Times are
//! milliseconds since 1970, durations milliseconds.

use contract::run_state::RunState;

use super::page::status;

const HEAD: [&str; 9] = [
    "cycle",
    "step",
    "name",
    "status",
    "tools",
    "started_at_ms",
    "duration_ms",
    "tokens",
    "error",
];

/// The table as CSV, with a header.
pub(super) fn table(state: &RunState) -> Result<String, String> {
    let mut table = csv::Writer::from_writer(Vec::new());
    let mut row = |cells: [String; 9]| table.write_record(cells.map(plain)).map_err(|error| error.to_string());
    row(HEAD.map(str::to_owned))?;
    for cycle in &state.cycles {
        for planned in cycle.plan.iter().flat_map(|plan| &plan.steps) {
            let step = cycle.steps.get(&planned.id);
            row([
                cycle.number.to_string(),
                planned.id.clone(),
                planned.name.clone().unwrap_or_else(|| planned.description.clone()),
                step.map_or("not started", |step| status(step.status)).to_owned(),
                planned.tools.join(" "),
                number(step.and_then(|step| step.started_at_ms)),
                number(step.and_then(|step| step.duration_ms)),
                number(step.map(|step| step.tokens_used)),
                step.and_then(|step| step.error.as_ref())
                    .map(|error| error.message.clone())
                    .unwrap_or_default(),
            ])?;
        }
    }
    for phase in state.phases.values() {
        row([
            phase.visit.to_string(),
            phase.phase.clone(),
            phase.kind.clone().unwrap_or_default(),
            status(phase.status).to_owned(),
            String::new(),
            phase.started_at_ms.to_string(),
            number(phase.duration_ms),
            String::new(),
            phase
                .error
                .as_ref()
                .map(|error| error.message.clone())
                .unwrap_or_default(),
        ])?;
    }
    let bytes = table.into_inner().map_err(|error| error.to_string())?;
    String::from_utf8(bytes).map_err(|error| error.to_string())
}

fn number(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

/// A text that a spreadsheet does not take for a formula: a model or a file has written it.
fn plain(text: String) -> String {
    match text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        true => format!("'{text}"),
        false => text,
    }
}
