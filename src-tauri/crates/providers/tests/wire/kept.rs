//! What the fakes of the tests were asked and what they answered, for the test that holds it against the providers' own
//! clients (`tests/vendors`): one JSON object a line, in the file that `$TEPA_BODIES` names. Without that name nothing is kept.

use std::fs::OpenOptions;
use std::io::Write;

use serde_json::{Value, json};

/// Keeps a request's body, under the route that it was sent to.
pub(crate) fn body(line: &str, body: &Value) {
    if let Some(("POST", route)) = line.trim_end_matches(" HTTP/1.1").split_once(' ')
        && body.is_object()
    {
        keep(&json!({ "route": route, "body": body }));
    }
}

/// Keeps what was answered on a route: the events of a stream, or one answer.
pub(crate) fn answer(line: &str, events: &[Value], whole: Option<&Value>) {
    if let Some(("POST", route)) = line.trim_end_matches(" HTTP/1.1").split_once(' ') {
        keep(&json!({ "route": route, "events": events, "answer": whole }));
    }
}

fn keep(line: &Value) {
    let Some(path) = std::env::var_os("TEPA_BODIES") else {
        return;
    };
    // In one piece, since several tests write at once.
    let mut file = OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}
