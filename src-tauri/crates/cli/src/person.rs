//! Who answers in a terminal: the person at the keyboard, the word `--yes`, or nobody.

use std::sync::{Arc, OnceLock};

use app::App;
use async_trait::async_trait;
use contract::access::Envelope;
use contract::person::{AllowedFor, Answer, Ask};
use contract::ports::people::People;
use contract::{Key, RunId};
use serde_json::{Map, Value};
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::sync::Mutex;

use crate::desk::catch_up;
use crate::estimate_words;
use crate::form::{self, Field};
use crate::narrator::Narrator;
use crate::paint::{Screen, clean};

/// How questions are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answering {
    /// Every plan is approved; other questions wait.
    Yes,
    /// Somebody is at the keyboard.
    Keyboard,
    /// Questions wait.
    Nobody,
}

/// The person, as far as there is one.
pub(crate) struct Person {
    pub(crate) answering: Answering,
    pub(crate) narrator: Arc<Mutex<Narrator>>,
    /// The app that asks, once it is open.
    pub(crate) app: OnceLock<App>,
    pub(crate) keyboard: Mutex<BufReader<tokio::io::Stdin>>,
}

impl Person {
    /// Answers in this way.
    pub(crate) fn new(answering: Answering, narrator: Arc<Mutex<Narrator>>) -> Self {
        let keyboard = Mutex::new(BufReader::new(tokio::io::stdin()));
        Self {
            answering,
            narrator,
            app: OnceLock::new(),
            keyboard,
        }
    }

    async fn at_the_keyboard(&self, run: &RunId, ask: &Ask) -> Option<Answer> {
        // The plan is told before it is asked for.
        if let Some(app) = self.app.get() {
            catch_up(app, run, &self.narrator).await.ok()?;
        }
        let screen = Screen::out();
        if let (Ask::ApprovePlan { .. }, Some(app)) = (ask, self.app.get())
            && let Ok(Some(estimate)) = app.estimate(run).await
        {
            screen.wrapped(2, &screen.dim(&estimate_words::of(&estimate)));
        }
        if let Ask::Gate {
            question: Some(schema), ..
        } = ask
            && let form = form::fields(schema)
            && !form.is_empty()
        {
            return self.filled_in(&form).await;
        }
        loop {
            screen.prompt(question(ask));
            let line = self.line().await?;
            match read(ask, &line) {
                Ok(answer) => {
                    self.keep(run, ask, &answer).await;
                    return Some(answer);
                }
                Err(what) => screen.line(what),
            }
        }
    }

    /// A form as it is filled in.
    async fn filled_in(&self, form: &[Field]) -> Option<Answer> {
        let screen = Screen::out();
        let mut filled = Map::new();
        for field in form {
            loop {
                screen.prompt(&format!("  {}: ", clean(&field.question())));
                match field.read(&self.line().await?) {
                    Ok(Some(value)) => drop(filled.insert(field.name.clone(), value)),
                    Ok(None) => {}
                    Err(what) => {
                        screen.line(&format!("  {}", clean(&what)));
                        continue;
                    }
                }
                break;
            }
        }
        Some(Answer::Reply {
            value: Value::Object(filled),
        })
    }

    /// Keeps what is allowed for every run of the task. Where that fails it is allowed for this run at least.
    async fn keep(&self, run: &RunId, ask: &Ask, answer: &Answer) {
        if let Some(app) = self.app.get()
            && let Err(error) = app.keep_if_for_task(run, ask, answer).await
        {
            Screen::err().wrapped(2, &format!("It could not be kept for other runs: {error}"));
        }
    }

    /// Whether the person says yes; none when the keyboard is gone.
    pub(crate) async fn confirm(&self, question: &str) -> Option<bool> {
        let screen = Screen::out();
        loop {
            screen.prompt(&format!("{question} (y)es or (n)o: "));
            match self.line().await?.trim().to_lowercase().as_str() {
                "y" | "yes" => return Some(true),
                "n" | "no" => return Some(false),
                _ => screen.line("Answer y or n."),
            }
        }
    }

    /// Whether a plan wants no MCP server that the person did not name: a yes to whatever may come is none to a stranger's
    /// program.
    async fn names_nothing_new(&self, run: &RunId, wanted: &Envelope) -> bool {
        let Some(app) = self.app.get() else { return false };
        let Ok(header) = app.header_of(run).await else {
            return false;
        };
        let granted = &header.envelope.mcp_servers;
        let mut new = wanted.mcp_servers.iter().filter(|server| !granted.contains(server));
        let Some(server) = new.next() else { return true };
        let words = format!(
            "The plan wants to use the MCP server \"{}\". That is not in --yes: add --allow-server {} if it may.",
            clean(server),
            clean(server)
        );
        self.narrator.lock().await.aside(&words);
        false
    }

    /// None when the keyboard is gone.
    async fn line(&self) -> Option<String> {
        let mut line = String::new();
        match self.keyboard.lock().await.read_line(&mut line).await {
            Ok(0) | Err(_) => None,
            Ok(_) => Some(line),
        }
    }
}

#[async_trait]
impl People for Person {
    async fn answer(&self, run: &RunId, _key: &Key, ask: &Ask) -> Option<Answer> {
        match (self.answering, ask) {
            (Answering::Yes, Ask::ApprovePlan { envelope, .. }) => self
                .names_nothing_new(run, envelope)
                .await
                .then_some(Answer::Approve { revisions: true }),
            (Answering::Yes, Ask::Gate { question: None, .. }) => Some(Answer::Approve { revisions: false }),
            // A rule that asks was allowed by the person who is to be asked.
            // What lies outside the envelope is granted by name, with --allow options.
            (
                Answering::Yes,
                Ask::UncertainEffect { .. }
                | Ask::RunStep { .. }
                | Ask::Gate { .. }
                | Ask::Permission { .. }
                | Ask::AllowEffect { .. },
            )
            | (Answering::Nobody, _) => None,
            (Answering::Keyboard, _) => self.at_the_keyboard(run, ask).await,
        }
    }
}

fn question(ask: &Ask) -> &'static str {
    match ask {
        Ask::ApprovePlan { .. } => "  Run this plan? (y)es, (n)o, (a)lways, or what should be different: ",
        Ask::RunStep { .. } => "  Run this step? (y)es, or (n)o and end the run: ",
        Ask::Permission { .. } => "  Allow it? (y)es this once, for this (r)un, for this (t)ask, or (n)o and why: ",
        Ask::AllowEffect { .. } => "  Allow exactly this? for this (r)un, for this (t)ask, or (n)o and why: ",
        Ask::UncertainEffect { .. } => "  Was it (d)one, should it be done (a)gain, or (s)top the run? ",
        Ask::Gate { question: None, .. } => "  Go on? (y)es or (n)o: ",
        Ask::Gate { question: Some(_), .. } => "  Your answer: ",
    }
}

fn allow(scope: AllowedFor) -> Answer {
    Answer::Allow { scope }
}

/// What stands after a no.
fn why(words: &str) -> Option<String> {
    let (_, why) = words.split_once(char::is_whitespace)?;
    Some(why.trim().to_owned())
}

/// What a line of the keyboard means; the error says what would be understood.
fn read(ask: &Ask, line: &str) -> Result<Answer, &'static str> {
    let words = line.trim();
    let word = words.to_lowercase();
    match ask {
        Ask::ApprovePlan { .. } => match word.as_str() {
            "y" | "yes" => Ok(Answer::Approve { revisions: false }),
            "a" | "always" => Ok(Answer::Approve { revisions: true }),
            "n" | "no" => Ok(Answer::Reject { reason: None }),
            "" => Err("  Answer y or n, a for this plan and its revisions, or say in words what should be different."),
            _ if words.chars().count() < 4 => {
                Err("  Answer y, n or a, or use a few more words for what should be different.")
            }
            _ => Ok(Answer::AskForChanges {
                words: words.to_owned(),
            }),
        },
        Ask::RunStep { .. } => match word.as_str() {
            "y" | "yes" => Ok(Answer::Approve { revisions: false }),
            "n" | "no" => Ok(Answer::Reject { reason: None }),
            _ => Err("  Answer y or n."),
        },
        Ask::Permission { .. } => match word.split_whitespace().next().unwrap_or_default() {
            "y" | "yes" => Ok(allow(AllowedFor::Once)),
            "r" | "run" => Ok(allow(AllowedFor::Run)),
            "t" | "task" => Ok(allow(AllowedFor::Task)),
            "n" | "no" => Ok(Answer::Reject { reason: why(words) }),
            _ => Err("  Answer y, r, t, or n and why not."),
        },
        Ask::AllowEffect { .. } => match word.split_whitespace().next().unwrap_or_default() {
            "r" | "run" => Ok(allow(AllowedFor::Run)),
            "t" | "task" => Ok(allow(AllowedFor::Task)),
            "n" | "no" => Ok(Answer::Reject { reason: why(words) }),
            _ => Err("  Answer r, t, or n and why not."),
        },
        Ask::UncertainEffect { .. } => match word.as_str() {
            "d" | "done" => Ok(Answer::MarkDone),
            "a" | "again" => Ok(Answer::RunAgain),
            "s" | "stop" => Ok(Answer::StopRun),
            _ => Err("  Answer d, a or s."),
        },
        Ask::Gate { question: None, .. } => match word.as_str() {
            "y" | "yes" => Ok(Answer::Approve { revisions: false }),
            "n" | "no" => Ok(Answer::Reject { reason: None }),
            _ => Err("  Answer y or n."),
        },
        // Whether it fits what was asked for, the flow decides, and asks again.
        Ask::Gate { question: Some(_), .. } => Ok(Answer::Reply {
            value: serde_json::from_str(words).unwrap_or_else(|_| Value::String(words.to_owned())),
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(plan: bool) -> Ask {
        if plan {
            let envelope = contract::access::Envelope {
                folder: String::new(),
                write: true,
                max_tokens: 1,
                max_cycles: 1,
                ..contract::access::Envelope::default()
            };
            return Ask::ApprovePlan {
                cycle: 1,
                plan_hash: contract::Hash(String::new()),
                envelope,
            };
        }
        Ask::UncertainEffect {
            cycle: 1,
            step: String::new(),
            tool: String::new(),
            path: String::new(),
        }
    }

    #[test]
    fn understands_what_is_typed_about_a_plan() {
        let read = |line| read(&ask(true), line);
        assert_eq!(read(" Y \n"), Ok(Answer::Approve { revisions: false }));
        assert_eq!(read("always"), Ok(Answer::Approve { revisions: true }));
        assert_eq!(read("no"), Ok(Answer::Reject { reason: None }));
        assert_eq!(
            read("use fewer steps\n"),
            Ok(Answer::AskForChanges {
                words: "use fewer steps".to_owned()
            })
        );
        assert!(read("\n").is_err());
        assert!(read("q").is_err());
    }

    #[test]
    fn understands_what_is_typed_about_a_permission() {
        let ask = Ask::Permission {
            cycle: 1,
            step: String::new(),
            tool: String::new(),
            access: Vec::new(),
            wants: String::new(),
            reason: String::new(),
        };
        let read = |line| read(&ask, line);
        assert_eq!(read("Y\n"), Ok(allow(AllowedFor::Once)));
        assert_eq!(read("run"), Ok(allow(AllowedFor::Run)));
        assert_eq!(read("t"), Ok(allow(AllowedFor::Task)));
        let no = |reason: Option<&str>| {
            Ok(Answer::Reject {
                reason: reason.map(str::to_owned),
            })
        };
        assert_eq!(read("n"), no(None));
        assert_eq!(read("no  not that File\n"), no(Some("not that File")));
        assert!(read("").is_err());
    }

    #[test]
    fn what_a_task_brings_is_allowed_for_the_run_or_the_task_and_by_no_bare_yes() {
        let effect = contract::task_effect::TaskEffect::Check { run: "make".to_owned() };
        let ask = Ask::AllowEffect {
            hash: effect.hash(),
            wants: effect.wants(),
            effect,
        };
        let read = |line| read(&ask, line);
        assert_eq!(read("r\n"), Ok(allow(AllowedFor::Run)));
        assert_eq!(read("Task"), Ok(allow(AllowedFor::Task)));
        let reason = Some("not here".to_owned());
        assert_eq!(read("no not here"), Ok(Answer::Reject { reason }));
        assert!(read("y").is_err() && read("").is_err());
    }

    #[test]
    fn understands_what_is_typed_about_an_uncertain_change() {
        let read = |line| read(&ask(false), line);
        assert_eq!(
            [read("d"), read("again"), read("S")],
            [Ok(Answer::MarkDone), Ok(Answer::RunAgain), Ok(Answer::StopRun)]
        );
        assert!(read("yes").is_err());
    }
}
