//! A plan is shown to hooks and to a person before it runs. What they saw and approved is what runs.

use std::collections::HashMap;

use contract::audit::AuditEvent;
use contract::event::{ApprovedBy, RunEvent};
use contract::hash::Hash;
use contract::ids::Key;
use contract::person::{Answer, Ask};
use contract::plan::{Plan, PlanStep};
use contract::ports::hook::HookEvent;
use contract::ports::journal::Durability;
use contract::step::{StepError, code};
use contract::task::Approval as ApprovalMode;
use serde_json::{Value, json};

use super::TaskLoop;
use super::planning::NoPlan;
use crate::approval::{Approval, must_see};
use crate::hooks::{self, Replaced};
use crate::kernel::driver::{Halt, Outcome};
use crate::kernel::keyed::{KeyBy, diff_by_id};
use crate::{plan_rules, planner, results, task_data};

impl TaskLoop<'_> {
    /// Lets the hooks see a plan, shows it, and gets it approved.
    pub(super) async fn propose(
        &mut self,
        cycle: u32,
        key: &Key,
        plan: Plan,
        notes: Vec<AuditEvent>,
    ) -> Result<Result<Plan, NoPlan>, Halt> {
        let event = HookEvent::PostPlanner;
        let data = || serde_json::to_value(&plan).unwrap_or_default();
        let plan = match hooks::fire(self.driver, key, event, cycle, data).await? {
            Ok(None) => plan,
            Ok(Some(replaced)) => self.read_plan(&replaced.data, &replaced, event)?,
            Err(error) => return Ok(Err(NoPlan::of(plan, error, false))),
        };
        let plan_hash = hash_of(&plan)?;
        // What a person saw and approved stands in the journal; another plan must not take its place.
        if let Some(RunEvent::PlanProposed { plan_hash: shown, .. }) = self.driver.journal.recorded(key).as_deref()
            && *shown != plan_hash
        {
            let message = format!("the history holds another plan at {key}");
            return Err(Halt::Failed(StepError::new(code::INPUT_HASH_MISMATCH, message)));
        }
        let proposed = RunEvent::PlanProposed {
            cycle,
            plan: plan.clone(),
            plan_hash: plan_hash.clone(),
            notes: Some(notes).filter(|notes| !notes.is_empty()),
        };
        self.driver.journal.record(key.clone(), proposed).await?;
        if let Err(error) = self.approve(cycle, key, &plan, &plan_hash).await? {
            return Ok(Err(NoPlan::of(plan, error, true)));
        }
        self.pre_executor(cycle, key, plan).await
    }

    /// A hook may have changed the plan: the same rules hold.
    pub(super) fn read_plan(&self, value: &Value, replaced: &Replaced, event: HookEvent) -> Result<Plan, Halt> {
        let models = planner::models(self.driver);
        let earlier: Vec<String> = self.earlier.keys().cloned().collect();
        plan_rules::read(value, &planner::known(self.driver, &models, &earlier))
            .map_err(|problems| Halt::Failed(replaced.refuse(event, &problems)))
    }

    pub(super) async fn approve(&mut self, cycle: u32, key: &Key, plan: &Plan, plan_hash: &Hash) -> Outcome<()> {
        let header = &self.driver.header;
        let by = match header.task.approval {
            _ if must_see(header, self.consent) => ApprovedBy::Person,
            ApprovalMode::Never => ApprovedBy::NoApprovalNeeded,
            ApprovalMode::EveryPlan | ApprovalMode::FirstPlan => ApprovedBy::EarlierApproval,
        };
        let approval = Approval {
            id: "approval",
            event: HookEvent::PostPlanner,
            ask: (by == ApprovedBy::Person).then(|| self.question(cycle, plan_hash)),
        };
        let data = serde_json::to_value(plan).unwrap_or_default();
        if let Err(error) = hooks::fire_one(self.driver, key, cycle, &approval, &data).await? {
            return Ok(Err(error));
        }
        self.consent |= by == ApprovedBy::Person
            && (header.task.approval == ApprovalMode::FirstPlan || self.revisions_allowed(key));
        let approved = RunEvent::PlanApproved {
            cycle,
            plan_hash: plan_hash.clone(),
            by,
        };
        self.driver
            .journal
            .record_all(vec![(key.mark("approved"), approved)], Vec::new(), Durability::Barrier)
            .await?;
        Ok(Ok(()))
    }

    pub(super) fn question(&self, cycle: u32, plan_hash: &Hash) -> Ask {
        Ask::ApprovePlan {
            cycle,
            plan_hash: plan_hash.clone(),
            envelope: self.driver.envelope(),
        }
    }

    pub(super) fn revisions_allowed(&self, key: &Key) -> bool {
        let ask = key.child("hook/postPlanner/approval/ask/0");
        matches!(
            self.driver.journal.recorded(&ask).as_deref(),
            Some(RunEvent::PersonAnswered {
                answer: Answer::Approve { revisions: true }
            })
        )
    }

    /// Lets the hooks see what is about to run. Another plan is held against the rules, recorded with what differs,
    /// and asked about again, unless a person allowed these hooks to change plans.
    pub(super) async fn pre_executor(
        &mut self,
        cycle: u32,
        key: &Key,
        plan: Plan,
    ) -> Result<Result<Plan, NoPlan>, Halt> {
        let driver = self.driver;
        let event = HookEvent::PreExecutor;
        let data = || {
            let before = self
                .last
                .as_ref()
                .map(|(_, outcomes)| outcomes.iter().map(results::to_value).collect::<Vec<_>>());
            json!({ "plan": plan, "prompt": task_data::of(&driver.header.task), "cycle": cycle,
                "scratchpad": *driver.scratchpad(), "previousResults": before })
        };
        driver.show_task(driver.header.task.clone());
        let replaced = match hooks::fire(driver, key, event, cycle, data).await? {
            Ok(None) => return Ok(Ok(plan)),
            Ok(Some(replaced)) => replaced,
            Err(error) => return Ok(Err(NoPlan::of(plan, error, false))),
        };
        driver.show_task(self.read_task(&replaced, event)?);
        self.write_changed_pad(key, &replaced, event).await?;
        let changed = self.read_plan(&replaced.data["plan"], &replaced, event)?;
        if changed == plan {
            return Ok(Ok(plan));
        }
        let plan_hash = hash_of(&changed)?;
        let event = RunEvent::PlanChanged {
            cycle,
            by: replaced.by.clone(),
            plan: changed.clone(),
            plan_hash: plan_hash.clone(),
            steps: differing(&plan, &changed),
            diff: diff(&plan, &changed),
        };
        driver.journal.record(key.mark("changed"), event).await?;
        if must_see(&driver.header, replaced.trusted) {
            let approval = Approval {
                id: "approval_of_change",
                event: HookEvent::PreExecutor,
                ask: Some(self.question(cycle, &plan_hash)),
            };
            let data = serde_json::to_value(&changed).unwrap_or_default();
            if let Err(error) = hooks::fire_one(driver, key, cycle, &approval, &data).await? {
                return Ok(Err(NoPlan::of(changed, error, true)));
            }
            let approved = RunEvent::PlanApproved {
                cycle,
                plan_hash,
                by: ApprovedBy::Person,
            };
            driver
                .journal
                .record_all(
                    vec![(key.mark("change-approved"), approved)],
                    Vec::new(),
                    Durability::Barrier,
                )
                .await?;
        }
        Ok(Ok(changed))
    }
}

fn hash_of(plan: &Plan) -> Result<Hash, Halt> {
    plan.hash()
        .map_err(|error| Halt::Failed(StepError::new(code::PLAN_INVALID, error.to_string())))
}

/// What changed from one plan to another, steps by their ids.
fn diff(before: &Plan, after: &Plan) -> Option<Value> {
    let by_id = KeyBy::from([("steps".to_owned(), "id".to_owned())]);
    let diff = diff_by_id(&json!(before), &json!(after), &by_id).ok()?;
    serde_json::to_value(diff).ok()
}

/// The ids of steps that are new, other or gone.
fn differing(before: &Plan, after: &Plan) -> Vec<String> {
    let by_id = |plan: &'_ Plan| -> HashMap<String, PlanStep> {
        plan.steps.iter().map(|step| (step.id.clone(), step.clone())).collect()
    };
    let (old, new) = (by_id(before), by_id(after));
    let changed = after.steps.iter().filter(|step| old.get(&step.id) != Some(step));
    let gone = before.steps.iter().filter(|step| !new.contains_key(&step.id));
    changed.chain(gone).map(|step| step.id.clone()).collect()
}
