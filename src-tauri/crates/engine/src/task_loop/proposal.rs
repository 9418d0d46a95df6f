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
use crate::kernel::history_differs;
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
            return Err(history_differs("plan", key));
        }
        let proposed = RunEvent::PlanProposed {
            cycle,
            plan: plan.clone(),
            plan_hash: plan_hash.clone(),
            notes: Some(notes).filter(|notes| !notes.is_empty()),
        };
        self.driver.reach(key)?;
        self.driver.journal.record(key.clone(), proposed).await?;
        match self.approve(cycle, key, &plan, plan_hash).await? {
            Ok(approved) => self.pre_executor(cycle, key, approved).await,
            Err(error) => Ok(Err(NoPlan::of(plan, error, true))),
        }
    }

    /// A hook may have changed the plan: the same rules hold.
    pub(super) fn read_plan(&self, value: &Value, replaced: &Replaced, event: HookEvent) -> Result<Plan, Halt> {
        let models = planner::models(self.driver);
        let earlier: Vec<String> = self.earlier.keys().cloned().collect();
        plan_rules::read(value, &planner::known(self.driver, &models, &earlier))
            .map_err(|problems| Halt::Failed(replaced.refuse(event, &problems)))
    }

    /// Gets a plan approved; the plan that was, which a person may have changed.
    pub(super) async fn approve(&mut self, cycle: u32, key: &Key, plan: &Plan, plan_hash: Hash) -> Outcome<Plan> {
        let header = &self.driver.header;
        let by = match header.task.approval {
            _ if must_see(header, self.consent) => ApprovedBy::Person,
            ApprovalMode::Never => ApprovedBy::NoApprovalNeeded,
            ApprovalMode::EveryPlan | ApprovalMode::FirstPlan => ApprovedBy::EarlierApproval,
        };
        let ask = (by == ApprovedBy::Person).then(|| self.question(cycle, plan, &plan_hash));
        let asked = ("approval", HookEvent::PostPlanner, "edited");
        let (plan, plan_hash) = match self.ask_about(cycle, key, asked, plan, plan_hash, ask).await? {
            Ok(approved) => approved,
            Err(error) => return Ok(Err(error)),
        };
        if by == ApprovedBy::Person {
            self.driver.approve_servers(&plan);
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
        Ok(Ok(plan))
    }

    /// Asks a person about a plan, if there is a question; the plan that they approved, with its address. When it is
    /// another one than was shown, the journal says so under `mark`.
    async fn ask_about(
        &self,
        cycle: u32,
        key: &Key,
        (id, event, mark): (&'static str, HookEvent, &str),
        shown: &Plan,
        shown_hash: Hash,
        ask: Option<Ask>,
    ) -> Outcome<(Plan, Hash)> {
        let driver = self.driver;
        let models = planner::models(driver);
        let earlier: Vec<String> = self.earlier.keys().cloned().collect();
        let known = || planner::known(driver, &models, &earlier);
        let approval = Approval {
            id,
            event,
            ask,
            known: known(),
        };
        let data = serde_json::to_value(shown).unwrap_or_default();
        let edited = match hooks::fire_one(driver, key, cycle, &approval, &data).await? {
            Ok(None) => return Ok(Ok((shown.clone(), shown_hash))),
            Ok(Some(edited)) => edited,
            Err(error) => return Ok(Err(error)),
        };
        let plan = plan_rules::read(&edited, &known())
            .map_err(|problems| Halt::Failed(StepError::new(code::PLAN_INVALID, problems.join("; "))))?;
        if plan == *shown {
            return Ok(Ok((plan, shown_hash)));
        }
        let plan_hash = hash_of(&plan)?;
        let changed = RunEvent::PlanChanged {
            cycle,
            by: Vec::new(),
            plan: plan.clone(),
            plan_hash: plan_hash.clone(),
            steps: differing(shown, &plan),
            diff: diff(shown, &plan),
        };
        driver.journal.record(key.mark(mark), changed).await?;
        Ok(Ok((plan, plan_hash)))
    }

    /// The question, with what a yes lets the run touch: the envelope, and the MCP servers that the plan names.
    pub(super) fn question(&self, cycle: u32, plan: &Plan, plan_hash: &Hash) -> Ask {
        let mut envelope = self.driver.envelope();
        envelope.mcp_servers.extend(self.driver.servers_of(plan));
        Ask::ApprovePlan {
            cycle,
            plan_hash: plan_hash.clone(),
            envelope,
        }
    }

    pub(super) fn revisions_allowed(&self, key: &Key) -> bool {
        let asked = key.child("hook/postPlanner/approval/ask");
        let answers = (0_u32..).map_while(|n| self.driver.journal.recorded(&asked.child(n.to_string())));
        matches!(
            answers.last().as_deref(),
            Some(RunEvent::PersonAnswered {
                answer: Answer::Approve { revisions: true } | Answer::ApproveEdited { revisions: true, .. }
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
        if !must_see(&driver.header, replaced.trusted) {
            return Ok(Ok(changed));
        }
        let ask = Some(self.question(cycle, &changed, &plan_hash));
        let asked = ("approval_of_change", HookEvent::PreExecutor, "change-edited");
        let (plan, plan_hash) = match self.ask_about(cycle, key, asked, &changed, plan_hash, ask).await? {
            Ok(approved) => approved,
            Err(error) => return Ok(Err(NoPlan::of(changed, error, true))),
        };
        driver.approve_servers(&plan);
        let approved = RunEvent::PlanApproved {
            cycle,
            plan_hash,
            by: ApprovedBy::Person,
        };
        let entries = vec![(key.mark("change-approved"), approved)];
        driver
            .journal
            .record_all(entries, Vec::new(), Durability::Barrier)
            .await?;
        Ok(Ok(plan))
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
