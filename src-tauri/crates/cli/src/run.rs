//! A task, or the sample, from its file to its verdict.

use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use app::commands::runs::{ReadEvents, events};
use app::commands::settings::Endpoint;
use app::{App, Config, Outcome, Pace, Signal, task_files};
use contract::run::{RunHeader, RunStatus, RunSummary};
use contract::run_state::RunState;
use contract::task::Approval;
use contract::{AppError, RunId};
use tokio::sync::Mutex;

use crate::Exit;
use crate::arguments::{ContinueArguments, How, RunArguments, SampleArguments};
use crate::history::find;
use crate::narrator::Narrator;
use crate::paint::{Screen, clean, number};
use crate::person::{Answering, Person};

/// How many events are read at once.
const PAGE: u32 = 500;

/// `tepa run FILE`.
pub(crate) async fn task(arguments: RunArguments) -> Result<Exit, AppError> {
    let desk = Desk::open(
        answering(&arguments.how),
        arguments.how.json,
        arguments.options.endpoint()?,
    )
    .await?;
    let (unfinished, header) = beginning(&desk, &arguments).await?;
    let again = format!("tepa run {}", quoted(&arguments.file));
    desk.carry_out(unfinished, || async { Ok(header) }, &again).await
}

/// `tepa plan FILE`: as far as the question whether the plan may run, which nobody answers here.
pub(crate) async fn plan(arguments: RunArguments) -> Result<Exit, AppError> {
    let desk = Desk::open(Answering::Nobody, arguments.how.json, arguments.options.endpoint()?).await?;
    let (unfinished, mut header) = beginning(&desk, &arguments).await?;
    // A plan that nobody is asked about would run.
    if header.task.approval == Approval::Never {
        header.task.approval = Approval::EveryPlan;
    }
    let again = format!("tepa run {}", quoted(&arguments.file));
    let run = desk.begin(unfinished, || async { Ok(header) }).await?;
    let outcome = desk.follow(&run).await?;
    let narrator = desk.narrator.lock().await;
    let exit = match &outcome {
        Outcome::Waiting => {
            narrator.aside(&estimate(narrator.state()));
            narrator.aside(&format!(
                "Nothing was done yet, and the run waits. To go on with this plan: {again}"
            ));
            Exit::Pass
        }
        Outcome::Finished(_) | Outcome::Paused | Outcome::Interrupted(_) => {
            drop(narrator);
            desk.end(&run, &outcome, &again).await
        }
    };
    desk.app.close().await?;
    Ok(exit)
}

/// What the plan is expected to cost, beside what is allowed.
fn estimate(state: &RunState) -> String {
    let plan = state.cycles.last().and_then(|cycle| cycle.plan.as_ref());
    let expected = plan.map_or(0.0, |plan| plan.estimated_tokens.max(0.0)) as u64;
    let allowed = state.header.as_ref().map_or(0, |header| header.envelope.max_tokens);
    format!(
        "\nPlanning took {} tokens. The planner expects about {} more for a cycle; at most {} in all are allowed.",
        number(state.tokens_used),
        number(expected),
        number(allowed)
    )
}

/// `tepa continue RUN`.
pub(crate) async fn go_on(arguments: ContinueArguments) -> Result<Exit, AppError> {
    let endpoint = arguments
        .url
        .zip(arguments.model)
        .map(|(base_url, model)| Endpoint { base_url, model });
    let answering = answering_as(arguments.yes, arguments.json);
    let desk = Desk::open(answering, arguments.json, endpoint).await?;
    let run = find(&desk.app, &arguments.run).await?;
    desk.app.resume(&run).await.map_err(for_terminals)?;
    let outcome = desk.follow(&run).await?;
    let exit = desk.end(&run, &outcome, &format!("tepa continue {run}")).await;
    desk.app.close().await?;
    Ok(exit)
}

/// How the run of a task's file begins, or the one that began like that and is not at its end.
async fn beginning(desk: &Desk, arguments: &RunArguments) -> Result<(Option<RunSummary>, RunHeader), AppError> {
    let file = app::task_files::load(&arguments.file).map_err(app::explain)?;
    let value = arguments.options.over(&file.value);
    let reading = task_files::read(&value);
    if !arguments.how.json {
        for warning in reading.problems.iter().filter(|problem| problem.warning) {
            Screen::err().wrapped(0, &clean(&format!("note: {warning}")));
        }
    }
    let asked = reading.task.as_ref().and_then(|task| task.working_folder.as_deref());
    let folder = match &arguments.how.folder {
        Some(folder) => absolute(folder)?,
        None => task_files::folder_of(&file.path, asked).map_err(|outside| folder_outside(&outside))?,
    };
    let mut header = desk
        .app
        .header(&value, &folder.display().to_string(), None)
        .await
        .map_err(for_terminals)?;
    match arguments.options.approval() {
        Some(approval) => header.task.approval = approval,
        // A file asks; only a person grants.
        None if header.task.approval == Approval::Never && !arguments.how.yes => {
            header.task.approval = Approval::EveryPlan;
        }
        None => {}
    }
    let unfinished = match arguments.how.new {
        true => None,
        false => desk.app.find_unfinished(&header).await?,
    };
    Ok((unfinished, header))
}

/// `tepa sample`.
pub(crate) async fn sample(arguments: SampleArguments) -> Result<Exit, AppError> {
    let desk = Desk::open(answering(&arguments.how), arguments.how.json, None).await?;
    let folder = arguments.how.folder.as_deref().map(absolute).transpose()?;
    let unfinished = match arguments.how.new {
        true => None,
        false => desk.app.find_unfinished_sample(folder.as_deref()).await?,
    };
    let again = match &arguments.how.folder {
        Some(folder) => format!("tepa sample --folder {}", quoted(folder)),
        None => "tepa sample".to_owned(),
    };
    let header = || async {
        match &folder {
            Some(folder) => desk.app.sample_in(folder).await,
            None => desk.app.new_sample().await,
        }
    };
    desk.carry_out(unfinished, header, &again).await
}

fn answering(how: &How) -> Answering {
    answering_as(how.yes, how.json)
}

fn answering_as(yes: bool, json: bool) -> Answering {
    let interactive = std::io::stdout().is_terminal() && std::io::stdin().is_terminal();
    match yes {
        true => Answering::Yes,
        false if interactive && !json => Answering::Keyboard,
        false => Answering::Nobody,
    }
}

/// The app, and who watches it here.
struct Desk {
    app: App,
    narrator: Arc<Mutex<Narrator>>,
    answering: Answering,
}

impl Desk {
    async fn open(answering: Answering, json: bool, endpoint: Option<Endpoint>) -> Result<Self, AppError> {
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
        })
    }

    /// Continues the run, or starts one, and follows it.
    async fn carry_out<F: Future<Output = Result<RunHeader, AppError>>>(
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
    async fn begin<F: Future<Output = Result<RunHeader, AppError>>>(
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

    /// Tells a run until it ends, waits, or somebody presses Ctrl-C.
    async fn follow(&self, run: &RunId) -> Result<Outcome, AppError> {
        let mut signals = self.app.signals();
        catch_up(&self.app, run, &self.narrator).await?;
        let outcome = tokio::select! {
            outcome = self.app.outcome(run) => outcome?,
            () = self.narrate(run, &mut signals) => self.app.outcome(run).await?,
            _ = tokio::signal::ctrl_c() => {
                self.app.leave(run).await;
                self.app.outcome(run).await?
            }
        };
        catch_up(&self.app, run, &self.narrator).await?;
        Ok(outcome)
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

    async fn end(&self, run: &RunId, outcome: &Outcome, again: &str) -> Exit {
        let narrator = self.narrator.lock().await;
        match outcome {
            Outcome::Finished(result) => {
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
            narrator.tell(record);
        }
        if page.len() < PAGE as usize {
            return Ok(());
        }
    }
}

fn absolute(folder: &Path) -> Result<std::path::PathBuf, AppError> {
    std::path::absolute(folder).map_err(|error| {
        AppError::new(
            "no_folder",
            format!("\"{}\" cannot be a folder: {error}", folder.display()),
        )
    })
}

fn folder_outside(outside: &Path) -> AppError {
    let message = format!(
        "the task asks to work in \"{}\", which is outside its own folder",
        outside.display()
    );
    AppError::new("folder_outside", message).hint("If that is right, say so: --folder DIR.")
}

/// What a person does in a window, they do otherwise here.
fn for_terminals(error: AppError) -> AppError {
    if error.code != "no_model" {
        return error;
    }
    error.hint("Name one: --url URL --model MODEL, such as --url http://localhost:11434 --model qwen3:8b.")
}

fn busy(run: &RunId) -> AppError {
    AppError::new("run_busy", format!("another Tepa is at work on this task (run {run})"))
        .hint("Answer or stop it there, or use --new to start another run.")
}

/// A path as it can be typed again.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    if text
        .chars()
        .any(|letter| letter.is_whitespace() || "'\"$&;()<>|*?`\\".contains(letter))
    {
        return format!("'{}'", text.replace('\'', "'\\''"));
    }
    text
}
