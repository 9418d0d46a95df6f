//! The app in a terminal: who answers, who tells, and a run followed until it ends, waits, or somebody presses Ctrl-C or
//! has the program ended.

use std::io::IsTerminal;
use std::sync::Arc;

use app::commands::files::{ReadArtifact, artifact};
use app::commands::runs::{ReadEvents, events};
use app::commands::settings::Endpoint;
use app::{App, Config, Outcome, Pace, Signal};
use contract::run::{RunHeader, RunResult, RunStatus, RunSummary};
use contract::{AppError, RunId};
use tokio::sync::Mutex;

use crate::Exit;
use crate::narrator::Narrator;
use crate::paint::Screen;
use crate::person::{Answering, Person};
use crate::run::settings_here;

/// How many events are read at once.
const PAGE: u32 = 500;

/// Who answers, when these were the options.
pub(crate) fn answering_as(yes: bool, json: bool) -> Answering {
    let interactive = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    match yes {
        true => Answering::Yes,
        false if interactive && !json => Answering::Keyboard,
        false => Answering::Nobody,
    }
}

/// The app, and who watches it here.
pub(crate) struct Desk {
    pub(crate) app: App,
    pub(crate) narrator: Arc<Mutex<Narrator>>,
    answering: Answering,
    person: Arc<Person>,
    ending: Mutex<Ending>,
}

/// Hears that the program is to end (SIGTERM), from when this is made on: a run is left then as with Ctrl-C, and can be
/// continued. Where nobody says so in this way, nothing is heard.
struct Ending {
    #[cfg(unix)]
    asked: Option<tokio::signal::unix::Signal>,
}

impl Ending {
    fn listen() -> Self {
        Self {
            #[cfg(unix)]
            asked: tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate()).ok(),
        }
    }

    /// Returns when it is.
    async fn is_asked_for(&mut self) {
        #[cfg(unix)]
        if let Some(asked) = &mut self.asked
            && asked.recv().await.is_some()
        {
            return;
        }
        std::future::pending().await
    }
}

impl Desk {
    pub(crate) async fn open(answering: Answering, json: bool, endpoint: Option<Endpoint>) -> Result<Self, AppError> {
        let narrator = Arc::new(Mutex::new(Narrator::new(Screen::out(), json)));
        let person = Arc::new(Person::new(answering, Arc::clone(&narrator)));
        // Nobody watches a file being typed into.
        let pace = if std::io::stdout().is_terminal() {
            Pace::Natural
        } else {
            Pace::Instant
        };
        let config = Config {
            endpoint,
            people: Some(Arc::clone(&person) as _),
            pace,
            ..Config::default()
        };
        let app = App::open(config).await?;
        // A log that cannot be written is no reason not to run.
        let _ = app::logging::start(app.data_folder());
        let _ = person.app.set(app.clone());
        Ok(Self {
            app,
            narrator,
            answering,
            person,
            ending: Mutex::new(Ending::listen()),
        })
    }

    /// Whether the person says yes to something that stands on the screen; none when nobody is there to say it.
    pub(crate) async fn confirm(&self, question: &str) -> Option<bool> {
        match self.answering {
            Answering::Yes => Some(true),
            Answering::Keyboard => self.person.confirm(question).await,
            Answering::Nobody => None,
        }
    }

    /// Continues the run, or starts one, and follows it.
    pub(crate) async fn carry_out<F: Future<Output = Result<RunHeader, AppError>>>(
        &self,
        unfinished: Option<RunSummary>,
        header: impl FnOnce() -> F,
        again: &str,
    ) -> Result<Exit, AppError> {
        let run = self.begin(unfinished, header).await?;
        let outcome = self.follow(&run).await?;
        let exit = self.end(&run, &outcome, again).await;
        self.app.close().await?;
        Ok(exit)
    }

    /// Continues the run, or starts one.
    pub(crate) async fn begin<F: Future<Output = Result<RunHeader, AppError>>>(
        &self,
        unfinished: Option<RunSummary>,
        header: impl FnOnce() -> F,
    ) -> Result<RunId, AppError> {
        match unfinished {
            Some(summary) if summary.driven => Err(busy(&summary.run_id)),
            Some(summary) => {
                let stood = if summary.status == RunStatus::Waiting {
                    "waits for you"
                } else {
                    "was interrupted"
                };
                let words = format!("Continuing the run that {stood} (use --new to start another one).");
                self.narrator.lock().await.aside(&words);
                self.app.resume(&summary.run_id).await?;
                Ok(summary.run_id)
            }
            None => self.app.start(header().await?).await,
        }
    }

    /// Tells a run until it ends, waits, or somebody presses Ctrl-C or has the program ended.
    pub(crate) async fn follow(&self, run: &RunId) -> Result<Outcome, AppError> {
        let mut signals = self.app.signals();
        catch_up(&self.app, run, &self.narrator).await?;
        let mut ending = self.ending.lock().await;
        let outcome = tokio::select! {
            outcome = self.app.outcome(run) => outcome?,
            () = self.narrate(run, &mut signals) => self.app.outcome(run).await?,
            _ = tokio::signal::ctrl_c() => {
                self.app.leave(run).await;
                self.app.outcome(run).await?
            }
            () = ending.is_asked_for() => {
                self.app.leave(run).await;
                self.app.outcome(run).await?
            }
        };
        drop(ending);
        catch_up(&self.app, run, &self.narrator).await?;
        Ok(outcome)
    }

    /// Tells the whole of each answer that is too long to stand in the run's last event.
    async fn tell_long_answers(&self, narrator: &Narrator, result: &RunResult) {
        let values = result.outputs.iter().filter_map(|output| output.value.as_ref());
        for value in values.filter(|value| value.inline.is_none()) {
            let request = ReadArtifact {
                hash: value.hash.clone(),
            };
            match artifact(&self.app, request).await {
                Ok(whole) => narrator.whole_answer(&whole.value),
                Err(error) => narrator.aside(&format!("\nThe rest of the answer cannot be read: {error}")),
            }
        }
    }

    /// Tells what is new, for as long as there is a run.
    async fn narrate(&self, run: &RunId, signals: &mut app::Signals) {
        while let Some(signal) = signals.next().await {
            let news = matches!(&signal, Signal::Advanced { run_id, .. } if run_id == run);
            if news && catch_up(&self.app, run, &self.narrator).await.is_err() {
                // The run itself goes on; its end says what is wrong with the history.
                return;
            }
        }
    }

    pub(crate) async fn end(&self, run: &RunId, outcome: &Outcome, again: &str) -> Exit {
        let narrator = self.narrator.lock().await;
        match outcome {
            Outcome::Finished(result) => {
                self.tell_long_answers(&narrator, result).await;
                if let Some(here) = settings_here(&result.feedback) {
                    narrator.aside(here);
                }
                narrator.aside(&format!("\nThe whole run: tepa show {run}"));
                match result.status {
                    RunStatus::Pass => Exit::Pass,
                    RunStatus::Fail => Exit::Fail,
                    RunStatus::Terminated | RunStatus::Running | RunStatus::Waiting | RunStatus::Paused => {
                        Exit::Stopped
                    }
                }
            }
            Outcome::Waiting => {
                let how = match self.answering {
                    Answering::Nobody => "add --yes to approve its plans, or start it in a terminal to be asked",
                    Answering::Yes => "start it without --yes in a terminal to be asked",
                    Answering::Keyboard => "start it again in a terminal to be asked",
                };
                narrator.aside(&format!("\nThe run waits for you. To continue it: {again}\n({how})"));
                Exit::Waiting
            }
            Outcome::Paused => {
                narrator.aside(&format!("\nThe run is paused. To continue it: {again}"));
                Exit::Waiting
            }
            Outcome::Interrupted(error) => {
                narrator.interrupted(error);
                narrator.aside(&format!("To continue it: {again}"));
                Exit::Stopped
            }
        }
    }
}

/// Tells everything that was not told yet.
pub(crate) async fn catch_up(app: &App, run: &RunId, narrator: &Mutex<Narrator>) -> Result<(), AppError> {
    let mut narrator = narrator.lock().await;
    loop {
        let request = ReadEvents {
            run_id: run.clone(),
            from_seq: narrator.last_seq() + 1,
            limit: PAGE,
        };
        let page = events(app, request).await?.events;
        for record in &page {
            let whole = match narrator.needs(record).cloned() {
                Some(hash) => Some(artifact(app, ReadArtifact { hash }).await?.value),
                None => None,
            };
            narrator.tell(record, whole.as_ref());
        }
        if page.len() < PAGE as usize {
            return Ok(());
        }
    }
}

fn busy(run: &RunId) -> AppError {
    AppError::new("run_busy", format!("another Tepa is at work on this task (run {run})"))
        .hint("Answer or stop it there, or use --new to start another run.")
}
