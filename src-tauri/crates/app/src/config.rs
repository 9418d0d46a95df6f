//! What the app is opened with: nothing for a window, a few wishes for a terminal, seams for tests.

use std::path::PathBuf;
use std::sync::Arc;

use contract::ports::clock::Clock;
use contract::ports::hook::Hook;
use contract::ports::journal::Journal;
use contract::ports::people::People;
use contract::ports::provider::LlmProvider;
use contract::ports::tool::Tool;
use contract::secret::KeyStore;

use crate::commands::settings::Endpoint;

/// How the app is opened. The default is what the window uses.
#[derive(Default)]
pub struct Config {
    /// Another data folder than the one in the environment or the platform's own.
    pub data_folder: Option<PathBuf>,
    /// The version of what draws the window, where there is one.
    pub webview: Option<String>,
    /// Where keys are kept.
    pub keys: KeyPlace,
    /// Another keychain than the system's, for tests; `keys` then counts for nothing.
    pub keychain: Option<Arc<dyn KeyStore>>,
    /// How fast the sample's recording plays.
    pub pace: Pace,
    /// A model server for this process only, in the place of the settings' one.
    pub endpoint: Option<Endpoint>,
    /// Who answers questions; without one they wait for `run_answer`.
    pub people: Option<Arc<dyn People>>,
    /// More providers, for tests. Tasks name their models `provider:model`.
    pub providers: Vec<Arc<dyn LlmProvider>>,
    /// More tools, for tests. Of two with the same name this one counts.
    pub tools: Vec<Arc<dyn Tool>>,
    /// The program that is started beside each command and for each document, for tests; otherwise this one, whose `main` must begin with
    /// [`crate::serve_if_asked`].
    pub keeper: Option<PathBuf>,
    /// Another clock than the machine's, for tests.
    pub clock: Option<Arc<dyn Clock>>,
    /// Hooks of this process, in the order in which they are called; before the rules of a task.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// Put around the journal, for tests.
    pub journal: Option<JournalDecorator>,
}

/// Makes a journal that does something more than the one it is given.
pub type JournalDecorator = Box<dyn Fn(Arc<dyn Journal>) -> Arc<dyn Journal> + Send + Sync>;

/// Where keys are kept.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeyPlace {
    /// The keychain of the system.
    #[default]
    Keychain,
    /// Memory, until the app closes.
    Memory,
}

/// How fast the sample's recording plays.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Pace {
    /// As a model would answer, so that a window shows it at work.
    #[default]
    Natural,
    /// At once.
    Instant,
}
