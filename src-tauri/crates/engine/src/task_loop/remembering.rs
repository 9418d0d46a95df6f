//! What a cycle leaves behind: results as hooks left them, the scratchpad, and outputs for later cycles.

use contract::event::{NamedValue, RunEvent};
use contract::ids::Key;
use contract::plan::Plan;
use contract::ports::hook::HookEvent;
use contract::ports::journal::Durability;
use contract::value_ref::Artifact;
use serde_json::{Value, json};

use super::TaskLoop;
use crate::executor::StepOutcome;
use crate::hooks::{self, Replaced};
use crate::kernel::driver::{Driver, Halt};
use crate::kernel::keys;
use crate::{prompts, results, scratchpad};

impl TaskLoop<'_> {
    /// Writes to the scratchpad what a hook put there, and takes out what a hook took out: what it returned is the
    /// scratchpad. In the history such an entry is null from then on.
    pub(super) async fn write_changed_pad(&self, key: &Key, replaced: &Replaced, event: HookEvent) -> Result<(), Halt> {
        let Some(entries) = replaced.data["scratchpad"].as_object() else {
            let problem = "\"scratchpad\" must be an object".to_owned();
            return Err(Halt::Failed(replaced.refuse(event, &[problem])));
        };
        let before = self.driver.scratchpad();
        for (name, value) in entries.iter().filter(|(name, value)| before.get(*name) != Some(*value)) {
            let mark = format!("scratchpad-{}", keys::safe(name));
            self.write(key.mark(mark), name, name, value.clone()).await?;
        }
        for name in before.keys().filter(|name| !entries.contains_key(*name)) {
            let mark = format!("scratchpad-{}", keys::safe(name));
            self.write(key.mark(mark), name, "", Value::Null).await?;
            self.driver.forget_in_scratchpad(name);
        }
        Ok(())
    }

    /// Lets the hooks see all results before they are remembered and judged.
    /// What they put in the place of an output comes with it, to be kept.
    pub(super) async fn post_executor(
        &self,
        cycle: u32,
        outcomes: Vec<StepOutcome>,
    ) -> Result<(Vec<StepOutcome>, Vec<Artifact>), Halt> {
        let event = HookEvent::PostExecutor;
        let data = || {
            let logs: Vec<Value> = outcomes.iter().map(|outcome| log_line(cycle, outcome)).collect();
            let results: Vec<Value> = outcomes.iter().map(results::to_value).collect();
            let tokens: u64 = outcomes.iter().map(|outcome| outcome.tokens_used).sum();
            json!({ "results": results, "logs": logs, "tokensUsed": tokens })
        };
        let fired = hooks::fire(self.driver, &keys::execution(cycle), event, cycle, data).await?;
        match fired.map_err(Halt::Failed)? {
            None => Ok((outcomes, Vec::new())),
            Some(replaced) => {
                let after = results::read_all(&replaced.data["results"], &outcomes)
                    .map_err(|problems| Halt::Failed(replaced.refuse(event, &problems)))?;
                let new = results::replaced_outputs(&outcomes, &after);
                Ok((after, new))
            }
        }
    }

    /// Writes what happened to the scratchpad and keeps results for later cycles. Each cycle's part is an entry of
    /// its own, so that the history does not hold the first cycle again for every later one. `new` are outputs that no
    /// step's own entry names.
    pub(super) async fn remember(
        &mut self,
        cycle: u32,
        plan: &Plan,
        outcomes: &[StepOutcome],
        new: Vec<Artifact>,
    ) -> Result<(), Halt> {
        let name = scratchpad::EXECUTION_SUMMARY;
        let summary = scratchpad::execution_summary(cycle, outcomes);
        let entry = scratchpad::summary_name(cycle);
        let key = keys::cycle(cycle).mark("summary");
        self.write_with(key, &entry, "", Value::Array(summary.clone()), new)
            .await?;
        let all = scratchpad::joined(self.driver.scratchpad().get(name), summary);
        self.driver.write_scratchpad(name.to_owned(), all);
        for outcome in outcomes.iter().filter(|outcome| outcome.succeeded()) {
            if let Some(hash) = &outcome.hash {
                let named = format!("cycle_{cycle}.{}", outcome.step_id);
                self.earlier.insert(named, (outcome.output.clone(), hash.clone()));
            }
        }
        self.last = Some((plan.clone(), outcomes.to_vec()));
        self.last_cycle = cycle;
        Ok(())
    }

    /// Writes an entry of the scratchpad to the journal, and under `shown` to what steps read; nowhere else when that
    /// is empty.
    pub(super) async fn write(&self, key: Key, name: &str, shown: &str, value: Value) -> Result<(), Halt> {
        self.write_with(key, name, shown, value, Vec::new()).await
    }

    /// The same, with artifacts that are kept in the same breath.
    async fn write_with(
        &self,
        key: Key,
        name: &str,
        shown: &str,
        value: Value,
        mut artifacts: Vec<Artifact>,
    ) -> Result<(), Halt> {
        let named = Driver::name_value("tool-output", &value, &mut artifacts).map_err(Halt::Failed)?;
        let entry = NamedValue {
            name: name.to_owned(),
            value: named,
        };
        self.driver
            .journal
            .record_all(
                vec![(key, RunEvent::ScratchpadWritten { entry })],
                artifacts,
                Durability::Commit,
            )
            .await?;
        if !shown.is_empty() {
            self.driver.write_scratchpad(shown.to_owned(), value);
        }
        Ok(())
    }
}

/// The seed's line about a step: `Step "id" completed: …`.
fn log_line(cycle: u32, outcome: &StepOutcome) -> Value {
    let message = match &outcome.error {
        Some(error) => format!("Step \"{}\" failed: {}", outcome.step_id, error.message),
        None => {
            let output = prompts::excerpt(&prompts::text_of(&outcome.output), 200);
            format!("Step \"{}\" completed: {output}", outcome.step_id)
        }
    };
    json!({ "cycle": cycle, "step": outcome.step_id, "message": message,
        "durationMs": outcome.duration_ms, "tokensUsed": outcome.tokens_used })
}
