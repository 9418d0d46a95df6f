//! The window's types, written from the Rust ones: the command table, the signals, and everything that they reach.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use contract::AppError;
use contract::llm::LlmResponse;
use contract::run_state::{CallState, PhaseState, RunState, StepState, ToolState};
use ts_rs::{Config, TS, TypeVisitor};

use crate::event_log::Signal;
use crate::ipc;

const HEADING: &str = "// Generated from the Rust types by `cargo run -p app --bin bindings`. Do not edit: change the \
                       Rust type\n// and run it again; `./check` fails when this file is not what it writes.\n";

/// The text of the one file that the window reads its types from.
pub fn bindings() -> String {
    let config = Config::new().with_large_int("number");
    let mut types = Types {
        config: &config,
        declared: BTreeMap::new(),
    };
    let commands = ipc::table(&config, &mut types);
    types.visit::<Signal>();
    types.visit::<RunState>();
    // The fold keeps these in maps, whose contents ts-rs does not follow.
    types.visit::<StepState>();
    types.visit::<CallState>();
    types.visit::<ToolState>();
    types.visit::<PhaseState>();
    types.visit::<AppError>();
    // What an artifact of a finished call holds.
    types.visit::<LlmResponse>();
    let mut text = HEADING.to_owned();
    for declaration in types.declared.values() {
        let _ = write!(text, "\n{declaration}");
    }
    let _ = write!(
        text,
        "\n/** Every command that the app answers: what it is asked with, and what it replies. */\n\
         export type Commands = {{\n{commands}}};\n"
    );
    text.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}

/// Collects declarations by name, each with all that it depends on.
struct Types<'a> {
    config: &'a Config,
    declared: BTreeMap<String, String>,
}

impl TypeVisitor for Types<'_> {
    fn visit<T: TS + 'static + ?Sized>(&mut self) {
        if T::output_path().is_none() {
            // A list or an option: only what it holds has a name.
            T::visit_generics(self);
            return;
        }
        let name = T::ident(self.config);
        if self.declared.contains_key(&name) {
            return;
        }
        let docs = T::docs().unwrap_or_default();
        self.declared
            .insert(name, format!("{docs}export {}\n", T::decl(self.config)));
        T::visit_dependencies(self);
    }
}
