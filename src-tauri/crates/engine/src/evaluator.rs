//! The judge, in the seed's words the evaluator: the app's own checks first, then one model call for
//! the criteria that are left (goal-pipeline page, "Judge"; seed *tepa-pipeline-in-detail*,
//! "Evaluator").

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use contract::audit::AuditEvent;
use contract::criterion::{Criterion, DecidedBy};
use contract::evaluation::{CriterionResult, CriterionVerdict, Evaluation, Verdict};
use contract::event::{JudgeWords, JudgedPart, NamedHash, RunEvent};
use contract::hash::Hash;
use contract::ids::Key;
use contract::plan::Plan;
use contract::ports::check::{CheckTarget, Subject};
use contract::step::{StepError, code};
use contract::task::Task;
use indexmap::IndexMap;
use serde_json::{Value, json};

use crate::artifacts::{self, Shown};
use crate::executor::StepOutcome;
use crate::judge_call::{self, JudgeCall, Part};
use crate::judged_before::{JudgedBefore, Reused};
use crate::judgement::Judgement;
use crate::kernel::driver::{Driver, Halt, Outcome};
use crate::kernel::run_step::{Fault, Step, StepContext, StepReturn};
use crate::prompts::{self, bound};
use crate::{makers, verdict};

/// What is judged: a cycle's results, as hooks left them.
pub struct Judging<'a> {
    /// Which cycle.
    pub cycle: u32,
    /// The plan that was carried out.
    pub plan: &'a Plan,
    /// The task whose criteria count.
    pub task: Task,
    /// What became of each step.
    pub outcomes: Cow<'a, [StepOutcome]>,
    /// The scratchpad.
    pub scratchpad: Arc<IndexMap<String, Value>>,
}

/// Judges a cycle at this address; with what the judge noted. That judging began stands in the journal already.
pub async fn judge(
    driver: &Driver,
    key: &Key,
    judging: &Judging<'_>,
    before: &mut JudgedBefore,
) -> Outcome<(Evaluation, Vec<AuditEvent>)> {
    let criteria = judging.task.criteria();
    let judge = Judge {
        judging,
        criteria: &criteria,
        before,
    };
    let result = driver.run_step(&judge, json!({ "cycle": judging.cycle }), key).await?;
    let evaluation: Result<(Evaluation, Vec<AuditEvent>), StepError> = result.and_then(|result| {
        let evaluation = serde_json::from_value(result.output);
        let evaluation = evaluation.map_err(|error| StepError::new(code::SCHEMA_ERROR, error.to_string()))?;
        Ok((evaluation, result.events))
    });
    if let (Ok((evaluation, _)), Some(RunEvent::JudgeAsked { shown, .. })) =
        (&evaluation, driver.journal.recorded(&asked_key(key)).as_deref())
    {
        let (model, told) = (&driver.header.roles.judge, told(&judging.task));
        let words = Arc::new(JudgeWords {
            confidence: evaluation.confidence,
            feedback: evaluation.feedback.clone(),
            summary: evaluation.summary.clone(),
        });
        for result in evaluation
            .criteria
            .iter()
            .filter(|result| result.by == DecidedBy::Model)
        {
            if let Some(criterion) = criteria.iter().find(|criterion| criterion.id == result.id) {
                before.learn(criterion, result, &words, shown, model, &told);
            }
        }
    }
    Ok(evaluation)
}

/// The address of what a judge is told besides the criteria and the results: its prompt, and the task as hooks left it.
fn told(task: &Task) -> Hash {
    let prompt = prompts::JUDGE.hash();
    let told = json!([prompt, task.goal, task.context, task.expected_output]);
    Hash::of_value(&told).unwrap_or(prompt)
}

/// Where a judge's question stands before it is asked.
fn asked_key(judge: &Key) -> Key {
    judge.mark("asked")
}

/// What a judge is asked, as it is written down.
struct Asked {
    shown: Vec<NamedHash>,
    reused: Reused,
    /// None in older journals.
    parts: Option<Vec<JudgedPart>>,
}

impl Asked {
    fn recorded(driver: &Driver, place: &Key) -> Option<Self> {
        match driver.journal.recorded(place).as_deref() {
            Some(RunEvent::JudgeAsked {
                shown,
                reused,
                said,
                parts,
                ..
            }) => Some(Self {
                shown: shown.clone(),
                reused: Reused {
                    results: reused.clone(),
                    words: said.clone(),
                },
                parts: parts.clone(),
            }),
            _ => None,
        }
    }

    /// A result that is not what was written down is not looked through: the judge may have seen the other one.
    fn close_changed(&self, shown: &mut [Shown]) {
        for now in shown {
            let then = self.shown.iter().find(|then| then.name == now.name);
            if then.is_none_or(|then| then.hash != now.hash) {
                now.whole = None;
            }
        }
    }

    /// The criteria that no earlier judgement is about.
    fn missing<'c>(&self, left: &[&'c Criterion]) -> Vec<&'c Criterion> {
        let known: HashSet<&str> = self.reused.results.iter().map(|result| result.id.as_str()).collect();
        left.iter()
            .filter(|criterion| !known.contains(criterion.id.as_str()))
            .copied()
            .collect()
    }
}

struct Judge<'a> {
    judging: &'a Judging<'a>,
    criteria: &'a [Criterion],
    before: &'a JudgedBefore,
}

#[async_trait]
impl Step for Judge<'_> {
    fn name(&self) -> &str {
        "judge"
    }

    fn input_schema(&self) -> Value {
        json!({ "type": "object", "required": ["cycle"], "properties": { "cycle": { "type": "integer", "minimum": 1 } } })
    }

    fn output_schema(&self) -> Value {
        json!({ "type": "object" })
    }

    async fn run(&self, _input: Value, context: &StepContext<'_>) -> Result<StepReturn, Fault> {
        let evaluation = self.evaluate(context).await?;
        let value =
            serde_json::to_value(evaluation).map_err(|error| StepError::new(code::SCHEMA_ERROR, error.to_string()))?;
        Ok(StepReturn::output(value))
    }
}

impl Judge<'_> {
    async fn evaluate(&self, context: &StepContext<'_>) -> Result<Evaluation, Fault> {
        let answer = artifacts::final_answer(self.judging.plan, &self.judging.outcomes);
        let checked = self.check_all(context, answer.as_deref()).await?;
        let (decided, left): (Vec<&Criterion>, Vec<&Criterion>) =
            self.criteria.iter().partition(|criterion| criterion.check.is_some());
        let decided: Vec<Criterion> = decided.into_iter().cloned().collect();
        if verdict::fails_a_check(&decided, &checked) {
            return Ok(self.failed_check(context.adapters, &decided, checked));
        }
        // What nobody allowed to be checked is not known: the rest is judged, so that a person can decide.
        let answer = artifacts::answer_to_judge(context.adapters, self.judging.plan, &self.judging.outcomes);
        let judgement = self.ask(context, &left, &checked, answer.as_deref()).await?;
        Ok(self.combine(context.adapters, checked, judgement))
    }

    async fn check_all(&self, context: &StepContext<'_>, answer: Option<&str>) -> Result<Vec<CriterionResult>, Halt> {
        let before = context.adapters.journal.files_before();
        let mut results = Vec::new();
        for criterion in self.criteria {
            let Some(check) = &criterion.check else { continue };
            let target = CheckTarget {
                subject: match &criterion.path {
                    Some(path) => Subject::File(path.clone()),
                    None => Subject::Answer(answer.unwrap_or_default().to_owned()),
                },
                before: Arc::clone(&before),
                commands: None,
            };
            results.push(
                context
                    .adapters
                    .check(context.key, self.judging.cycle, criterion, check, &target)
                    .await?,
            );
        }
        Ok(results)
    }

    /// A failed required check decides without the model.
    fn failed_check(&self, driver: &Driver, decided: &[Criterion], mut checked: Vec<CriterionResult>) -> Evaluation {
        let missing = verdict::missing(decided, &checked);
        let lines: Vec<String> = missing
            .iter()
            .map(|(criterion, result)| self.feedback_line(driver, criterion, *result))
            .collect();
        let feedback = format!(
            "These criteria do not hold:\n{}\nChange what makes these results and keep the rest.",
            lines.join("\n")
        );
        checked.extend(
            self.criteria
                .iter()
                .filter(|criterion| criterion.check.is_none())
                .map(|criterion| CriterionResult {
                    id: criterion.id.clone(),
                    verdict: CriterionVerdict::NotJudged,
                    evidence: "not judged, because a required check failed".to_owned(),
                    by: DecidedBy::Model,
                    observed: None,
                }),
        );
        let results = self.in_order(checked);
        Evaluation {
            verdict: Verdict::Fail,
            confidence: 1.0,
            feedback: Some(feedback),
            summary: None,
            score: verdict::score(self.criteria, &results),
            criteria: results,
            tokens_used: 0,
        }
    }

    fn feedback_line(&self, driver: &Driver, criterion: &Criterion, result: Option<&CriterionResult>) -> String {
        let place = criterion.path.as_deref().unwrap_or("the answer");
        let evidence = result.map_or("nothing was found", |result| result.evidence.as_str());
        let evidence = prompts::cut(evidence, bound::EVIDENCE);
        let steps = makers::sentence(driver, self.judging, criterion.path.as_deref());
        format!("- {place}: \"{}\" failed: {evidence}.{steps}", criterion.text)
    }

    /// Asks about what no earlier judgement tells: one call, or one for each group of results when they are too much
    /// for one.
    async fn ask(
        &self,
        context: &StepContext<'_>,
        left: &[&Criterion],
        checked: &[CriterionResult],
        answer: Option<&str>,
    ) -> Result<Judgement, Fault> {
        let driver = context.adapters;
        let place = asked_key(context.key);
        driver.repeat(&place).await.map_err(Halt::from)?;
        let written = Asked::recorded(driver, &place);
        let mut shown = match &written {
            // The questions are written down, and a replay has the answers: nobody looks at what is there by now.
            Some(Asked { parts: Some(_), .. }) if driver.replays() => Vec::new(),
            _ => artifacts::shown(driver, &self.judging.task, answer).await,
        };
        let asked = match written {
            Some(asked) => {
                asked.close_changed(&mut shown);
                asked
            }
            None => self.write_down(driver, place, left, &shown).await?,
        };
        let missing = asked.missing(left);
        let parts = asked.parts.unwrap_or_else(|| judge_call::parts(&missing, &shown));
        let mut judgement = Judgement::of(asked.reused);
        for (n, part) in parts.iter().enumerate() {
            let key = match parts.len() {
                1 => context.key.clone(),
                _ => context.key.child(format!("part/{n}")),
            };
            let call = JudgeCall {
                judging: self.judging,
                checked,
                part: &Part::new(part, &missing, &shown),
                results: &shown,
            };
            judgement = judgement.with(call.ask(context, &key).await?);
        }
        Ok(judgement)
    }

    /// What earlier cycles said about the same results, and what is left to ask; written down, because the results may
    /// change later.
    async fn write_down(
        &self,
        driver: &Driver,
        place: Key,
        left: &[&Criterion],
        shown: &[Shown],
    ) -> Result<Asked, Halt> {
        let named: Vec<NamedHash> = shown
            .iter()
            .map(|shown| NamedHash {
                name: shown.name.clone(),
                hash: shown.hash.clone(),
            })
            .collect();
        let (model, told) = (&driver.header.roles.judge, told(&self.judging.task));
        let mut asked = Asked {
            reused: self.before.find(left, &named, model, &told),
            shown: named,
            parts: None,
        };
        let parts = judge_call::parts(&asked.missing(left), shown);
        let event = RunEvent::JudgeAsked {
            cycle: self.judging.cycle,
            shown: asked.shown.clone(),
            reused: asked.reused.results.clone(),
            said: asked.reused.words.clone(),
            parts: Some(parts.clone()),
        };
        driver.journal.record(place, event).await?;
        asked.parts = Some(parts);
        Ok(asked)
    }

    fn combine(&self, driver: &Driver, mut checked: Vec<CriterionResult>, judgement: Judgement) -> Evaluation {
        checked.extend(judgement.criteria);
        let results = self.in_order(checked);
        // The required criteria decide, whatever the judge thinks of the whole; that is one of them.
        let holds = verdict::verdict(self.criteria, &results) == Verdict::Pass;
        let score = verdict::score(self.criteria, &results);
        let (verdict, feedback, summary) = if holds {
            let summary = judgement
                .summary
                .unwrap_or_else(|| format!("All {} criteria hold.", self.criteria.len()));
            (Verdict::Pass, None, Some(summary))
        } else {
            let mut parts: Vec<String> = judgement.feedback.into_iter().collect();
            // What the judge said is about what failed in its eyes; the planner is told of everything.
            let all = judgement.verdict == Verdict::Pass || parts.is_empty();
            let lines: Vec<String> = verdict::missing(self.criteria, &results)
                .iter()
                .filter(|(criterion, _)| all || judgement.unheard.contains(&criterion.id))
                .map(|(criterion, result)| self.feedback_line(driver, criterion, *result))
                .collect();
            if !lines.is_empty() {
                parts.push(format!("These criteria do not hold:\n{}", lines.join("\n")));
            }
            (Verdict::Fail, Some(parts.join("\n\n")), None)
        };
        Evaluation {
            verdict,
            confidence: judgement.confidence,
            feedback,
            summary,
            score,
            criteria: results,
            tokens_used: judgement.tokens_used,
        }
    }

    /// One result for every criterion, in the task's order.
    fn in_order(&self, mut results: Vec<CriterionResult>) -> Vec<CriterionResult> {
        let place = |id: &str| self.criteria.iter().position(|criterion| criterion.id == id);
        results.sort_by_key(|result| place(&result.id));
        results
    }
}
