//! The other side: one process, one document, one answer.

use std::io::{self, BufRead, Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook};
use std::process::ExitCode;

use contract::ports::documents::{DocumentError, LARGEST};

use crate::order::{Held, MOST, Order, Question, Report};
use crate::{docx, format, pdf, xlsx};

/// Shuts itself in, reads one order and its document, and answers.
pub(crate) fn serve() -> ExitCode {
    // Nobody listens, and a parser that breaks down is an answer.
    set_hook(Box::new(|_| {}));
    match answer() {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

fn answer() -> io::Result<()> {
    let held = shut_in();
    let mut said = io::stdout().lock();
    writeln!(said, "{}", serde_json::to_string(&held)?)?;
    said.flush()?;
    if held.missing().is_some() {
        // The app refuses too; whoever else asks is not served either.
        return Ok(());
    }
    let mut heard = io::stdin().lock();
    let mut line = String::new();
    (&mut heard).take(64 * 1024).read_line(&mut line)?;
    let order: Order = serde_json::from_str(&line)?;
    if !bound(&order) {
        return Err(io::Error::other("nothing counts its memory and time"));
    }
    let length = order.length.min(LARGEST);
    let mut bytes = Vec::with_capacity(usize::try_from(length).unwrap_or_default());
    heard.take(length).read_to_end(&mut bytes)?;
    let report = catch_unwind(AssertUnwindSafe(|| read(&order.question, &bytes)));
    let report = report
        .unwrap_or_else(|_| Err(broke_down()))
        .unwrap_or_else(Report::Failed);
    let mut line = serde_json::to_vec(&report)?;
    drop(report);
    if line.len() >= MOST {
        line = serde_json::to_vec(&Report::Failed(DocumentError::TooMuch))?;
    }
    said.write_all(&line)?;
    said.flush()
}

#[cfg(target_os = "linux")]
fn shut_in() -> Held {
    crate::shut_in::shut_in()
}

#[cfg(target_os = "linux")]
fn bound(order: &Order) -> bool {
    crate::shut_in::lower(order.megabytes, order.seconds)
}

#[cfg(not(target_os = "linux"))]
fn shut_in() -> Held {
    Held::default()
}

#[cfg(not(target_os = "linux"))]
fn bound(_order: &Order) -> bool {
    false
}

fn broke_down() -> DocumentError {
    DocumentError::NotReadable {
        what: "document".to_owned(),
        reason: "it is damaged in a way that its reader does not know".to_owned(),
    }
}

fn read(question: &Question, bytes: &[u8]) -> Result<Report, DocumentError> {
    use contract::ports::documents::Format;
    match question {
        Question::Facts => format::facts(bytes).map(Report::Facts),
        Question::Sheet { name } => match format::of(bytes)? {
            Format::Xlsx => xlsx::sheet(bytes, name.as_deref()).map(Report::Sheet),
            other => Err(DocumentError::Unsupported(format!(
                "{}, and not a table",
                other.words()
            ))),
        },
        Question::Text => match format::of(bytes)? {
            Format::Xlsx => xlsx::text(bytes).map(Report::Text),
            Format::Docx => docx::text(bytes).map(Report::Text),
            Format::Pdf => pdf::text(bytes).map(Report::Text),
            other => Err(DocumentError::Unsupported(format!(
                "{}, which has no text that can be read",
                other.words()
            ))),
        },
    }
}
