//! From results to a verdict, with what hooks make of either.

use std::borrow::Cow;
use std::sync::Arc;

use contract::evaluation::{Evaluation, Verdict};
use contract::event::RunEvent;
use contract::ids::Key;
use contract::plan::Plan;
use contract::ports::hook::HookEvent;
use serde_json::{Value, json};

use super::TaskLoop;
use crate::evaluator::{self, Judging};
use crate::executor::StepOutcome;
use crate::hooks;
use crate::kernel::driver::{Halt, Outcome};
use crate::kernel::keys;
use crate::{results, task_data, verdict};

impl TaskLoop<'_> {
    pub(super) async fn judge(&mut self, cycle: u32, plan: &Plan, outcomes: &[StepOutcome]) -> Outcome<Evaluation> {
        let of = keys::judge(cycle);
        let mut n = 0;
        let (key, (evaluation, notes)) = loop {
            let key = keys::attempt(&of, n);
            let started = RunEvent::JudgingStarted { cycle };
            self.driver.journal.record(key.mark("started"), started).await?;
            let judging = self.judging(cycle, &key, plan, outcomes).await?;
            match evaluator::judge(self.driver, &key, &judging, &mut self.judged).await? {
                Ok(judged) => break (key, judged),
                Err(_) if self.driver.is_opened(&of, n + 1) => n += 1,
                Err(error) => return Ok(Err(error)),
            }
        };
        let judged = RunEvent::CycleJudged {
            cycle,
            evaluation: evaluation.clone(),
            notes: Some(notes).filter(|notes| !notes.is_empty()),
        };
        self.driver.reach(&key)?;
        self.driver.journal.record(key.clone(), judged).await?;
        self.post_evaluator(cycle, &key, evaluation).await
    }

    /// What is judged: the results, as hooks left them.
    pub(super) async fn judging<'j>(
        &self,
        cycle: u32,
        key: &Key,
        plan: &'j Plan,
        outcomes: &'j [StepOutcome],
    ) -> Result<Judging<'j>, Halt> {
        let mut judging = Judging {
            cycle,
            plan,
            task: self.driver.header.task.clone(),
            outcomes: Cow::Borrowed(outcomes),
            scratchpad: self.driver.scratchpad(),
        };
        let event = HookEvent::PreEvaluator;
        let data = || {
            let results: Vec<Value> = outcomes.iter().map(results::to_value).collect();
            json!({ "prompt": task_data::of(&judging.task), "results": results, "scratchpad": *judging.scratchpad })
        };
        if let Some(replaced) = hooks::fire(self.driver, key, event, cycle, data)
            .await?
            .map_err(Halt::Failed)?
        {
            judging.task = self.read_task(&replaced, event)?;
            let refuse = |problems: Vec<String>| Halt::Failed(replaced.refuse(event, &problems));
            judging.outcomes = Cow::Owned(results::read_all(&replaced.data["results"], outcomes).map_err(refuse)?);
            let pad = serde_json::from_value(replaced.data["scratchpad"].clone());
            judging.scratchpad =
                Arc::new(pad.map_err(|_| refuse(vec!["\"scratchpad\" must be an object".to_owned()]))?);
        }
        Ok(judging)
    }

    /// Lets the hooks see the verdict. Another one counts in its place, and the judge's stays in the history.
    pub(super) async fn post_evaluator(&self, cycle: u32, key: &Key, evaluation: Evaluation) -> Outcome<Evaluation> {
        let event = HookEvent::PostEvaluator;
        let data = || serde_json::to_value(&evaluation).unwrap_or_default();
        let replaced = match hooks::fire(self.driver, key, event, cycle, data).await? {
            Ok(None) => return Ok(Ok(evaluation)),
            Ok(Some(replaced)) => replaced,
            Err(error) => return Ok(Err(error)),
        };
        let changed =
            verdict::read(&replaced.data).map_err(|problem| Halt::Failed(replaced.refuse(event, &[problem])))?;
        if changed == evaluation {
            return Ok(Ok(evaluation));
        }
        let overlaid = changed.verdict != evaluation.verdict && changed.verdict == Verdict::Pass;
        let event = RunEvent::VerdictChanged {
            cycle,
            by: replaced.by,
            evaluation: changed.clone(),
        };
        let place = if overlaid {
            keys::changed_verdict(cycle)
        } else {
            key.mark("changed")
        };
        self.driver.journal.record(place, event).await?;
        Ok(Ok(changed))
    }
}
