//! The app's side: a process for each document, and what it says.

use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use contract::ports::documents::{DocumentError, DocumentText, Documents, Facts, LARGEST, Sheet};
use futures::future::join;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, Command};
use tokio::sync::Semaphore;
use tokio::time::timeout;

pub use crate::order::Held;
use crate::order::{MOST, Order, Question, Report};
use crate::{MEMORY, SECONDS, WORD};

/// How many documents are read at once: each may take [`MEMORY`].
const AT_ONCE: usize = 3;

/// How long a process may take until it begins. A busy machine is not a document's fault.
const UNTIL_IT_BEGINS: Duration = Duration::from_secs(60);

/// What reading one document may take. Only tests want other limits than the default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Of memory, in MB.
    pub megabytes: u64,
    /// Of time, in seconds.
    pub seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            megabytes: MEMORY,
            seconds: SECONDS,
        }
    }
}

/// Reads documents in processes of their own.
#[derive(Debug)]
pub struct Reader {
    /// The program that is started; it must begin with [`crate::serve_if_asked`].
    program: PathBuf,
    limits: Limits,
    places: Semaphore,
    /// How the processes were held so far; of several the weakest.
    seen: Mutex<Option<Held>>,
}

impl Reader {
    /// A reader that starts this program for each document.
    pub fn new(program: PathBuf) -> Self {
        Self {
            program,
            limits: Limits::default(),
            places: Semaphore::new(AT_ONCE),
            seen: Mutex::default(),
        }
    }

    /// The same with other limits, to see what they are good for.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How the processes are held on this system.
    ///
    /// # Errors
    /// `Unavailable` when there is no process.
    pub async fn held(&self) -> Result<Held, DocumentError> {
        let mut helper = self.start()?;
        Ok(begin(&mut helper).await?.0)
    }

    fn start(&self) -> Result<Child, DocumentError> {
        Command::new(&self.program)
            .arg(WORD)
            .env_clear()
            .current_dir(if cfg!(unix) { "/" } else { "." })
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .kill_on_drop(true)
            .spawn()
            .map_err(|error| unavailable(&error))
    }

    async fn ask(&self, bytes: Vec<u8>, question: Question) -> Result<Report, DocumentError> {
        let size = bytes.len() as u64;
        if size > LARGEST {
            return Err(DocumentError::TooLarge { size });
        }
        // It is never closed, so that there is always a place in the end.
        let _place = self.places.acquire().await.map_err(|error| unavailable(&error))?;
        let mut helper = self.start()?;
        let (held, mut said) = begin(&mut helper).await?;
        if let Some(missing) = held.missing() {
            let _ = helper.kill().await;
            return Err(DocumentError::NotHeld(missing.to_owned()));
        }
        self.saw(held);
        let order = Order {
            question,
            length: size,
            megabytes: self.limits.megabytes,
            seconds: self.limits.seconds,
        };
        let work = async { join(tell(&mut helper, &order, &bytes), hear(&mut said)).await.1 };
        let heard = timeout(Duration::from_secs(self.limits.seconds), work).await;
        let Ok(heard) = heard else {
            let _ = helper.kill().await;
            return Err(self.took_too_long());
        };
        if heard.len() > MOST {
            let _ = helper.kill().await;
            return Err(DocumentError::TooMuch);
        }
        let status = helper.wait().await.map_err(|error| unavailable(&error))?;
        match serde_json::from_slice(&heard) {
            Ok(Report::Failed(error)) => Err(error),
            Ok(report) => Ok(report),
            Err(_) => Err(self.ended_by(status)),
        }
    }

    fn saw(&self, held: Held) {
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen = Some(match *seen {
            Some(before) if before.landlock < held.landlock => before,
            _ => held,
        });
    }

    fn took_too_long(&self) -> DocumentError {
        DocumentError::TookTooLong {
            seconds: self.limits.seconds,
        }
    }

    /// Why a process ended without an answer: the kernel ends one that uses up its time, and one that gets no more memory
    /// ends itself.
    fn ended_by(&self, status: ExitStatus) -> DocumentError {
        #[cfg(unix)]
        {
            use std::os::unix::process::ExitStatusExt;
            const ABORTED: i32 = 6;
            const BUS: i32 = 7;
            const KILLED: i32 = 9;
            const SEGMENT: i32 = 11;
            const TIME_IS_UP: i32 = 24;
            match status.signal() {
                Some(TIME_IS_UP) => return self.took_too_long(),
                Some(ABORTED | BUS | KILLED | SEGMENT) => {
                    return DocumentError::NeedsTooMuchMemory {
                        megabytes: self.limits.megabytes,
                    };
                }
                Some(_) | None => {}
            }
        }
        DocumentError::Unavailable(format!("the process that reads them ended with {status}"))
    }
}

fn unavailable(error: &dyn std::error::Error) -> DocumentError {
    DocumentError::Unavailable(error.to_string())
}

type Said = BufReader<tokio::process::ChildStdout>;

/// Waits until the process has shut itself in.
async fn begin(helper: &mut Child) -> Result<(Held, Said), DocumentError> {
    let failed = |why: &str| DocumentError::Unavailable(format!("the process that reads them {why}"));
    let stdout = helper.stdout.take().ok_or_else(|| failed("says nothing"))?;
    let mut said = BufReader::new(stdout);
    let mut line = String::new();
    let begun = timeout(UNTIL_IT_BEGINS, said.read_line(&mut line)).await;
    begun
        .map_err(|_| failed("does not begin"))?
        .map_err(|error| unavailable(&error))?;
    let held = serde_json::from_str(&line).map_err(|_| failed("does not begin"))?;
    Ok((held, said))
}

/// A process that has seen enough closes its ear; what it says then counts.
async fn tell(helper: &mut Child, order: &Order, bytes: &[u8]) {
    let (Some(mut ear), Ok(mut line)) = (helper.stdin.take(), serde_json::to_vec(order)) else {
        return;
    };
    line.push(b'\n');
    if ear.write_all(&line).await.is_ok() && ear.write_all(bytes).await.is_ok() {
        let _ = ear.shutdown().await;
    }
}

async fn hear(said: &mut Said) -> Vec<u8> {
    let mut heard = Vec::new();
    // What breaks off is no answer.
    let _ = said.take(MOST as u64 + 1).read_to_end(&mut heard).await;
    heard
}

/// A process that answers another question than it was asked.
fn astray<T>() -> Result<T, DocumentError> {
    Err(DocumentError::Unavailable(
        "the process that reads them answered something else".to_owned(),
    ))
}

#[async_trait]
impl Documents for Reader {
    async fn text(&self, bytes: Vec<u8>) -> Result<DocumentText, DocumentError> {
        match self.ask(bytes, Question::Text).await? {
            Report::Text(text) => Ok(text),
            Report::Sheet(_) | Report::Facts(_) | Report::Failed(_) => astray(),
        }
    }

    async fn sheet(&self, bytes: Vec<u8>, sheet: Option<&str>) -> Result<Sheet, DocumentError> {
        let name = sheet.map(str::to_owned);
        match self.ask(bytes, Question::Sheet { name }).await? {
            Report::Sheet(sheet) => Ok(sheet),
            Report::Text(_) | Report::Facts(_) | Report::Failed(_) => astray(),
        }
    }

    async fn facts(&self, bytes: Vec<u8>) -> Result<Facts, DocumentError> {
        match self.ask(bytes, Question::Facts).await? {
            Report::Facts(facts) => Ok(facts),
            Report::Text(_) | Report::Sheet(_) | Report::Failed(_) => astray(),
        }
    }

    fn containment(&self) -> Option<String> {
        let seen = *self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        seen.map(Held::words)
    }
}
