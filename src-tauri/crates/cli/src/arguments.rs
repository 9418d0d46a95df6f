//! What can be asked in a terminal.

use std::path::PathBuf;

use app::bench::Workload;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::options::Options;
use crate::permissions::Permissions;

const ENVIRONMENT: &str = "\
Environment:
  ANTHROPIC_API_KEY, OPENAI_API_KEY, GEMINI_API_KEY
                             The key of that provider, where none is in the system's keychain
  OPENAI_COMPATIBLE_API_KEY  The key of the server at --url
  TEPA_SEARCH_KEY            The key of the search service
  TEPA_DATA_DIR              Where the history and the settings are kept";

/// Hands a task to a model, checks what comes back, and tries again until the criteria hold.
///
/// Ends with 0 when the task passed (`tepa plan`: when there is a plan, which waits), 1 when it failed, 2 when it could not
/// start as asked, 3 when it was stopped, and 4 when it waits for a person.
#[derive(Debug, Parser)]
#[command(name = "tepa", version, max_term_width = 100, after_help = ENVIRONMENT)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Runs the task in a file, or continues the run of it that is not at its end.
    Run(RunArguments),
    /// Runs the sample that ships with Tepa: real files and real checks, recorded model replies, no network.
    Sample(SampleArguments),
    /// Makes a plan for the task in a file, says what it would do and cost, and stops. The run waits: `tepa run` goes on
    /// with it.
    ///
    /// Ends with 0 when a plan was made, and with 1 when none was.
    Plan(RunArguments),
    /// Goes on with a run that was interrupted, waits, or ended because a planner or a judge failed.
    Continue(ContinueArguments),
    /// Tells the next planner of a run something, and goes on with it; a run that ended gets one more cycle.
    Guide(GuideArguments),
    /// Accepts what a run made, whatever its judge said. A run that is not at its end is stopped first.
    Accept(AcceptArguments),
    /// Undoes what a run changed in files. What it overwrites is kept: --redo brings it back, any number of times.
    ///
    /// Nothing is undone when somebody edited a file since and --edited does not say what to do with it. Ends with 0 when
    /// everything was done, with 1 when a file could not be restored, and with 2 when nothing was undone.
    Undo(UndoArguments),
    /// Lists the runs, newest first.
    History(HistoryArguments),
    /// Shows a run from its beginning.
    Show(ShowArguments),
    /// Writes facts about the app to a zip for somebody who helps: versions, settings without names and keys, the state
    /// of the history, codes of errors, the program's own words of the log. Nothing of tasks, files and answers.
    Diagnostics(DiagnosticsArguments),
    /// Measures a workload of known shape against a model server, and prints one line of JSON.
    ///
    /// What it prints: the workload's letter (wl), milliseconds in all (wall_ms) and per step (ms_step), the number of
    /// steps, the most memory in kB (rss_kb), and how much the database grew per step in bytes (db_b_step). Killed in
    /// the middle and started again with the same --db it goes on; after its end it starts anew.
    Bench(BenchArguments),
    /// Sets two runs side by side: criteria, plans, results, tokens, time.
    Compare(CompareArguments),
    /// Writes a run that is at its end to a file, for another machine.
    Export(ExportArguments),
    /// Takes a run from such a file into the history.
    Import(ImportArguments),
    /// Writes what the models of a run answered to a file, to be played in their place: `tepa run TASK --recording FILE`, for a flow `tepa flow run FLOW --recording FILE`.
    Record(RecordArguments),
    /// Plays a run that is at its end once more, with everything that models, tools, checks and people said taken from
    /// it, and says whether it comes to the same. Nothing is asked, executed or changed.
    ///
    /// Ends with 0 when it does, and with 1 when it does not.
    Replay(ReplayArguments),
    /// Asks the models of a run once more what they were asked, and shows what they answer differently. Nothing is
    /// written.
    ///
    /// Ends with 0 when every answer is the same, and with 1 when one is not.
    Recompute(RecomputeArguments),
    /// Looks at a flow's file, or runs it.
    #[command(subcommand)]
    Flow(FlowCommand),
    /// Lists what a criterion can be checked by, or says how one check is written.
    Checks(ChecksArguments),
    /// Lists the models that can be asked.
    Models(ModelsArguments),
    /// Lists what you allowed for every run of a task; `tepa grants revoke ID` takes one back.
    Grants(GrantsArguments),
    /// Lists the MCP servers; `add`, `test`, `allow` and `remove` do what they say.
    Mcp(McpArguments),
    /// Shows the service that searches the web, sets one up, keeps its key, tries it out, or removes it.
    Search(SearchArguments),
}

impl Command {
    pub(crate) fn json(&self) -> bool {
        match self {
            Self::Run(arguments) | Self::Plan(arguments) => arguments.how.json,
            Self::Continue(arguments) => arguments.how.json,
            Self::Guide(arguments) => arguments.how.json,
            Self::Accept(arguments) => arguments.json,
            Self::Undo(arguments) => arguments.json,
            Self::Compare(arguments) => arguments.json,
            Self::Export(arguments) => arguments.json,
            Self::Record(arguments) => arguments.json,
            Self::Replay(arguments) => arguments.json,
            Self::Recompute(arguments) => arguments.json,
            Self::Flow(FlowCommand::Check(arguments)) => arguments.json,
            Self::Flow(FlowCommand::Run(arguments)) => arguments.json,
            Self::Flow(FlowCommand::Save(arguments)) => arguments.json,
            Self::Import(arguments) => arguments.json,
            Self::Checks(arguments) => arguments.json,
            Self::Models(arguments) => arguments.json,
            Self::Grants(arguments) => arguments.json,
            Self::Mcp(arguments) => arguments.json,
            Self::Search(arguments) => arguments.json,
            Self::Sample(arguments) => arguments.how.json,
            Self::History(arguments) => arguments.json,
            Self::Show(arguments) => arguments.json,
            Self::Diagnostics(arguments) => arguments.json,
            Self::Bench(_) => true,
        }
    }
}

#[derive(Debug, Args)]
pub(crate) struct DiagnosticsArguments {
    /// The file to write; it must not be there yet.
    #[arg(long, value_name = "FILE", default_value = "tepa-diagnostics.zip")]
    pub(crate) out: PathBuf,
    /// Print what was written as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RecordArguments {
    /// The run's id, or "last".
    pub(crate) run: String,
    /// The file to write; it must not be there yet.
    pub(crate) file: PathBuf,
    /// Print what was written as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RunArguments {
    /// The task: a .yaml, .yml or .json file.
    pub(crate) file: PathBuf,
    /// Play this recording in the place of the models, as `tepa record` wrote it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "model"])]
    pub(crate) recording: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) how: How,
    #[command(flatten)]
    pub(crate) options: Options,
}

#[derive(Debug, Args)]
pub(crate) struct SampleArguments {
    #[command(flatten)]
    pub(crate) how: How,
}

/// How a run is carried out.
#[derive(Debug, Args)]
pub(crate) struct How {
    /// Approve every plan without asking.
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Work in this folder; otherwise in the task file's own.
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Start a new run even if one is not at its end.
    #[arg(long)]
    pub(crate) new: bool,
    /// Print every event as a line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ContinueArguments {
    /// The run's id, or "last".
    pub(crate) run: String,
    /// Go on as another run with its history up to the place where that and what would be done now part.
    #[arg(long, conflicts_with_all = ["max_cycles", "max_tokens", "max_cost", "no_max_cost", "max_minutes", "no_max_minutes"])]
    pub(crate) fork: bool,
    /// The most cycles from now on.
    #[arg(long, value_name = "N")]
    pub(crate) max_cycles: Option<u32>,
    /// The most tokens from now on.
    #[arg(long, value_name = "N")]
    pub(crate) max_tokens: Option<u64>,
    /// The most money from now on, in the currency of the settings.
    #[arg(long, value_name = "AMOUNT")]
    pub(crate) max_cost: Option<f64>,
    /// Take the limit of money away.
    #[arg(long, conflicts_with = "max_cost")]
    pub(crate) no_max_cost: bool,
    /// The most minutes at work, with those that it was at work already.
    #[arg(long, value_name = "N")]
    pub(crate) max_minutes: Option<u32>,
    /// Take the limit of time away.
    #[arg(long, conflicts_with = "max_minutes")]
    pub(crate) no_max_minutes: bool,
    #[command(flatten)]
    pub(crate) how: GoOnHow,
}

#[derive(Debug, Args)]
pub(crate) struct GuideArguments {
    /// The run's id, or "last".
    pub(crate) run: String,
    /// What it should do differently.
    #[arg(required = true)]
    pub(crate) words: Vec<String>,
    #[command(flatten)]
    pub(crate) how: GoOnHow,
}

#[derive(Debug, Args)]
pub(crate) struct AcceptArguments {
    /// The run's id, or "last".
    pub(crate) run: String,
    /// Why, for the record.
    pub(crate) words: Vec<String>,
    /// Print its result as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct UndoArguments {
    /// The run's id, or "last".
    pub(crate) run: String,
    /// Only these files, as the run names them; all when left out.
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<String>,
    /// Only say what would be done.
    #[arg(long)]
    pub(crate) preview: bool,
    /// Bring back what was undone.
    #[arg(long)]
    pub(crate) redo: bool,
    /// What happens to files that somebody edited or removed since.
    #[arg(long, value_enum, value_name = "WHAT")]
    pub(crate) edited: Option<EditedFiles>,
    /// Print what was done, or would be, as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// What happens to files that somebody edited or removed since.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EditedFiles {
    /// They stay as they are.
    Keep,
    /// They are restored anyway.
    Restore,
    /// Both: what was edited since stays and what the run changed goes.
    Merge,
}

/// How a run goes on.
#[derive(Debug, Args)]
pub(crate) struct GoOnHow {
    /// Approve every plan without asking.
    #[arg(short, long)]
    pub(crate) yes: bool,
    /// Ask the model server at this address.
    #[arg(long, value_name = "URL", requires = "model")]
    pub(crate) url: Option<String>,
    /// Ask this model there.
    #[arg(long, value_name = "MODEL", requires = "url")]
    pub(crate) model: Option<String>,
    /// Print every event as a line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct CompareArguments {
    /// A run's id, or "last".
    pub(crate) left: String,
    /// The other run's id, or "last".
    pub(crate) right: String,
    /// Print the comparison as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

/// As what a run is written to a file.
#[derive(Debug, Clone, Copy, Default, ValueEnum)]
pub(crate) enum ExportAs {
    #[default]
    Run,
    Html,
    Markdown,
    Steps,
    Calls,
}

#[derive(Debug, Args)]
pub(crate) struct ExportArguments {
    /// The run's id, or "last".
    pub(crate) run: String,
    /// The file to write, which must not be there yet; called as the run is when left out.
    pub(crate) file: Option<PathBuf>,
    /// As what it is written: the whole run, which "tepa import" reads, or something for those who do not have Tepa: a
    /// page for a browser, the same as Markdown, its steps as a table (CSV), its model calls (a line of JSON each).
    #[arg(long = "as", value_enum, default_value_t)]
    pub(crate) form: ExportAs,
    /// Print what was written as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ImportArguments {
    /// A .tepa file.
    pub(crate) file: PathBuf,
    /// Print what was read as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ReplayArguments {
    /// The run's id, or "last".
    pub(crate) run: String,
    /// Print what it came to as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct RecomputeArguments {
    /// The run's id, or "last".
    pub(crate) run: String,
    /// The id of a step, "plan", "judge", or the address of a call, such as cycle/1/plan#0/call/0.
    pub(crate) step: String,
    /// Ask this model, in the place of the one that answered.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Ask the model server at this address.
    #[arg(long, value_name = "URL", requires = "model")]
    pub(crate) url: Option<String>,
    /// Print the answers as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum FlowCommand {
    /// Says what is wrong in a flow's file, and where. Ends with 0 when the flow can run and with 2 when not.
    Check(FlowCheckArguments),
    /// Runs a flow, and prints its answer.
    Run(Box<FlowRunArguments>),
    /// Keeps the plan of a run that passed as a flow, which does the same again without planning.
    Save(FlowSaveArguments),
}

#[derive(Debug, Args)]
pub(crate) struct FlowSaveArguments {
    /// The run's id, or "last".
    pub(crate) run: String,
    /// The .yaml, .yml or .json file to write, which must not be there yet.
    pub(crate) file: PathBuf,
    /// Print what was written as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FlowCheckArguments {
    /// The flow: a .yaml, .yml or .json file.
    pub(crate) file: PathBuf,
    /// Print what was found as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct FlowRunArguments {
    /// The flow: a .yaml, .yml or .json file.
    pub(crate) file: PathBuf,
    /// What it is given: JSON, or one of its keys with a value. May be given several times.
    #[arg(long, value_name = "JSON|KEY=VALUE")]
    pub(crate) input: Vec<String>,
    /// What you say to it.
    #[arg(long, value_name = "TEXT")]
    pub(crate) message: Option<String>,
    /// Work in this folder; otherwise in the file's own.
    #[arg(long, value_name = "DIR")]
    pub(crate) folder: Option<PathBuf>,
    /// Ask the model server at this address.
    #[arg(long, value_name = "URL", requires = "model")]
    pub(crate) url: Option<String>,
    /// The model of every step that names none.
    #[arg(long, value_name = "MODEL")]
    pub(crate) model: Option<String>,
    /// Play this recording in the place of the models, as `tepa record` wrote it.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["url", "model"])]
    pub(crate) recording: Option<PathBuf>,
    /// Allow what the flow may change, and say yes at every gate that asks for yes or no.
    #[arg(short, long)]
    pub(crate) yes: bool,
    #[command(flatten)]
    pub(crate) permissions: Permissions,
    /// Try again what failed when a tool was too slow or it failed in a way that may pass, at most so often. What was done
    /// stays done.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) retries: u32,
    /// Start a new run even if one is not at its end.
    #[arg(long)]
    pub(crate) new: bool,
    /// Print every event as a line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Whose names these events have: those of the history, or latent's (PhaseStarted, TextDelta, Usage, …).
    #[arg(long, value_enum, value_name = "NAMES", requires = "json", default_value_t = EventNames::History)]
    pub(crate) events: EventNames,
}

/// Whose names the events of a flow have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum EventNames {
    /// Those of the run's history.
    History,
    /// Those of latent's event stream.
    Latent,
}

#[derive(Debug, Args)]
pub(crate) struct ChecksArguments {
    /// Only this check, with its arguments.
    pub(crate) name: Option<String>,
    /// Print them as one JSON document, with their schemas.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct GrantsArguments {
    #[command(subcommand)]
    what: Option<GrantsCommand>,
    /// Print them as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
enum GrantsCommand {
    /// Takes one back: runs that begin later ask again.
    Revoke {
        /// Its number in the list.
        id: i64,
    },
}

impl GrantsArguments {
    /// The grant to take back.
    pub(crate) fn revoked(&self) -> Option<i64> {
        self.what.as_ref().map(|GrantsCommand::Revoke { id }| *id)
    }
}

#[derive(Debug, Args)]
pub(crate) struct McpArguments {
    #[command(subcommand)]
    pub(crate) what: Option<McpCommand>,
    /// Print what comes of it as one JSON document.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum McpCommand {
    /// Adds the servers of an mcpServers file; their env and headers go to the keychain. Nothing is started.
    Add {
        /// The file, or - for what comes in.
        file: String,
    },
    /// Starts a server and shows what it offers.
    Test {
        /// Its name in the list.
        name: String,
    },
    /// Starts a server, shows what it offers, and allows exactly that when you say yes.
    Allow {
        /// Its name in the list.
        name: String,
        /// Do not ask: allow whatever it offers now.
        #[arg(long)]
        yes: bool,
    },
    /// Forgets a server and its values.
    Remove {
        /// Its name in the list.
        name: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct SearchArguments {
    #[command(subcommand)]
    pub(crate) what: Option<SearchCommand>,
    /// Print what comes of it as one JSON document.
    #[arg(long, global = true)]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum SearchCommand {
    /// Sets a service up.
    Use {
        /// Its kind: searxng, brave or tavily.
        kind: String,
        /// Where it is, such as http://localhost:8888; the service's own address without it.
        address: Option<String>,
    },
    /// Keeps the key of the service, which comes in as a line; it is not shown again.
    Key,
    /// Asks the service once.
    Test,
    /// Forgets the service and its key.
    Remove,
}

#[derive(Debug, Args)]
pub(crate) struct ModelsArguments {
    /// The model server at this address, in the place of the settings' one.
    #[arg(long, value_name = "URL")]
    pub(crate) url: Option<String>,
    /// Print them as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct HistoryArguments {
    /// Only runs that have all of these words.
    pub(crate) words: Vec<String>,
    /// Only runs that ended for this reason, such as error or budget.
    #[arg(long, value_name = "REASON")]
    pub(crate) ended: Option<String>,
    /// Only runs that asked this model, such as anthropic:claude-sonnet-4-5.
    #[arg(long, value_name = "PROVIDER:MODEL")]
    pub(crate) model: Option<String>,
    /// Only runs that cost this or more, in the currency of their prices.
    #[arg(long, value_name = "AMOUNT")]
    pub(crate) cost_from: Option<f64>,
    /// Only runs that cost less than this.
    #[arg(long, value_name = "AMOUNT")]
    pub(crate) cost_below: Option<f64>,
    /// The most runs to list.
    #[arg(long, default_value_t = 20, value_name = "N")]
    pub(crate) limit: u32,
    /// Print the runs as one JSON document.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct ShowArguments {
    /// The run's id, or "last".
    pub(crate) run: String,
    /// Print every event as a line of JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Args)]
pub(crate) struct BenchArguments {
    /// A, D, K: chains of 100, 1,000 and 30 steps; B: 64 steps at once and one that joins them; C: a loop of 20 rounds of
    /// writing and reviewing; E: 50 chains of 20 steps at once.
    #[arg(long, value_name = "A|B|C|D|E|K", value_parser = workload, ignore_case = true)]
    pub(crate) workload: Workload,
    /// The model server, such as http://localhost:11434. Requests carry the headers x-step (s0, s1, …) and x-run (r0, …).
    #[arg(long, value_name = "URL")]
    pub(crate) model_url: String,
    /// The model to ask for there.
    #[arg(long, value_name = "MODEL", default_value = "bench")]
    pub(crate) model: String,
    /// The database; it is made when it is not there.
    #[arg(long, value_name = "FILE")]
    pub(crate) db: PathBuf,
    /// How many steps of workload B are independent.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=4_096))]
    pub(crate) width: u32,
    /// Sync every step to the disk, and not only the end.
    #[arg(long)]
    pub(crate) strict: bool,
    /// One line of JSON is what is printed, with or without this.
    #[arg(long)]
    pub(crate) json: bool,
}

fn workload(text: &str) -> Result<Workload, String> {
    match text.to_ascii_uppercase().as_str() {
        "A" => Ok(Workload::A),
        "B" => Ok(Workload::B),
        "C" => Ok(Workload::C),
        "D" => Ok(Workload::D),
        "E" => Ok(Workload::E),
        "K" => Ok(Workload::K),
        _ => Err("a workload is one of A, B, C, D, E and K".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn an_address_needs_a_model() {
        let endpoint = |arguments: &[&str]| {
            let line = ["tepa", "run", "a.yaml"].iter().chain(arguments);
            let Command::Run(arguments) = Arguments::try_parse_from(line).unwrap().command else {
                panic!("it is a run")
            };
            arguments.options.endpoint()
        };
        let url = ["--url", "http://localhost"];
        assert!(endpoint(&url).is_err());
        assert_eq!(endpoint(&["--model", "anthropic:m"]), Ok(None));
        assert!(endpoint(&[url[0], url[1], "--model", "judge=j"]).is_err());
        assert_eq!(endpoint(&[]), Ok(None));
        let named = endpoint(&[url[0], url[1], "--model", "m", "--model", "judge=j"]);
        assert_eq!(named.unwrap().unwrap().model, "m");
    }
}
