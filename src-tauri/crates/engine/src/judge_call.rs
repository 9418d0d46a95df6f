//! The judge's question to a model, and what is left of the answer when its evidence is looked up (goal-pipeline page,
//! "Judge").

use std::collections::HashSet;

use contract::criterion::Criterion;
use contract::evaluation::{CriterionResult, CriterionVerdict};
use contract::event::{JudgedPart, Purpose};
use contract::ids::Key;
use contract::llm::{ContentBlock, LlmRequest, Message, ResponseSchema, ToolChoice};
use contract::step::StepError;
use minijinja::context;
use serde_json::{Value, json};

use crate::absence::{self, Search};
use crate::artifacts::Shown;
use crate::evaluator::Judging;
use crate::executor::StepOutcome;
use crate::judgement::{self, Judgement};
use crate::kernel::driver::{Driver, Halt};
use crate::kernel::extract;
use crate::kernel::model_call::{ModelAnswer, ModelCall};
use crate::kernel::run_step::{Fault, StepContext, settle};
use crate::planner::hashes;
use crate::prompts::{self, bound};
use crate::scratchpad::seed_status;
use crate::whole::whole_or_cut_off;

/// Criteria that are judged together, with the results that they are about.
#[derive(Debug, PartialEq)]
pub struct Part<'a> {
    /// The criteria.
    pub criteria: Vec<&'a Criterion>,
    /// The results, fenced and named.
    pub shown: String,
}

impl<'a> Part<'a> {
    /// A question as it was written down, with the results as they are.
    pub fn new(part: &JudgedPart, criteria: &[&'a Criterion], shown: &[Shown]) -> Self {
        let most = usize::try_from(part.most).unwrap_or(usize::MAX);
        let asked = criteria
            .iter()
            .filter(|criterion| part.criteria.contains(&criterion.id));
        let shown = shown.iter().filter(|shown| part.shown.contains(&shown.name));
        let shown: Vec<String> = shown.map(|shown| shown.fenced(most)).collect();
        Self {
            criteria: asked.copied().collect(),
            shown: shown.join("\n\n"),
        }
    }
}

/// All criteria and results together when a prompt has room for them. Otherwise files are judged in groups, and what
/// is about everything last, with less of each.
pub fn parts(criteria: &[&Criterion], shown: &[Shown]) -> Vec<JudgedPart> {
    if criteria.is_empty() {
        return Vec::new();
    }
    let total: usize = shown.iter().map(Shown::length).sum();
    if total <= bound::ARTIFACTS {
        return vec![part(criteria.iter(), shown.iter(), bound::ARTIFACT)];
    }
    let mut parts = Vec::new();
    let mut group: (Vec<&Criterion>, Vec<&Shown>, usize) = Default::default();
    for shown in shown {
        let about = |criterion: &&&Criterion| criterion.path.as_deref() == Some(shown.name.as_str());
        let own: Vec<&Criterion> = criteria.iter().filter(about).copied().collect();
        if own.is_empty() {
            continue;
        }
        if !group.1.is_empty() && group.2 + shown.length() > bound::ARTIFACTS {
            let (criteria, shown, _) = std::mem::take(&mut group);
            parts.push(part(criteria.iter(), shown.into_iter(), bound::ARTIFACT));
        }
        group.0.extend(own);
        group.1.push(shown);
        group.2 += shown.length();
    }
    if !group.1.is_empty() {
        parts.push(part(group.0.iter(), group.1.into_iter(), bound::ARTIFACT));
    }
    let grouped: HashSet<String> = parts.iter().flat_map(|part| part.criteria.iter().cloned()).collect();
    let mut rest = criteria
        .iter()
        .filter(|criterion| !grouped.contains(&criterion.id))
        .peekable();
    if rest.peek().is_some() {
        let most = bound::ARTIFACTS / shown.len().max(1);
        parts.push(part(rest, shown.iter(), most));
    }
    parts
}

fn part<'a>(
    criteria: impl Iterator<Item = &'a &'a Criterion>,
    shown: impl Iterator<Item = &'a Shown>,
    most: usize,
) -> JudgedPart {
    JudgedPart {
        criteria: criteria.map(|criterion| criterion.id.clone()).collect(),
        shown: shown.map(|shown| shown.name.clone()).collect(),
        most: u32::try_from(most).unwrap_or(u32::MAX),
    }
}

/// One question.
pub struct JudgeCall<'a> {
    /// What is judged.
    pub judging: &'a Judging<'a>,
    /// What the app found itself.
    pub checked: &'a [CriterionResult],
    /// What is asked for.
    pub part: &'a Part<'a>,
    /// The results as they are, to look in for what must be absent.
    pub results: &'a [Shown],
}

impl JudgeCall<'_> {
    /// Asks, and once more when the answer cannot be read; a second such answer is the seed's synthetic fail.
    pub async fn ask(&self, context: &StepContext<'_>, key: &Key) -> Result<Judgement, Fault> {
        let driver = context.adapters;
        let question = self.question(driver, key)?;
        let (first, trace) = settle(extract::ask_model(context, question).await)?;
        whole_or_cut_off(&first.response)?;
        let ids: Vec<&str> = self
            .part
            .criteria
            .iter()
            .map(|criterion| criterion.id.as_str())
            .collect();
        let journal = &driver.journal;
        let mut tokens = journal.tokens_of(&key.child("call/0"));
        let problems = match judgement::read(&first.response, &ids) {
            Ok(judgement) => {
                extract::note(context, &trace);
                return Ok(self.verify(driver, key, judgement, &first).await?.costing(tokens));
            }
            Err(problems) => problems,
        };
        let again = self.question_again(driver, key, &first, &problems)?;
        let (second, trace) = settle(extract::ask_model(context, again).await)?;
        whole_or_cut_off(&second.response)?;
        tokens += journal.tokens_of(&key.child("call/1"));
        Ok(match judgement::read(&second.response, &ids) {
            Ok(judgement) => {
                extract::note(context, &trace);
                self.verify(driver, key, judgement, &second).await?.costing(tokens)
            }
            Err(_) => Judgement::unparseable(&second.response.text, &ids).costing(tokens),
        })
    }

    /// Looks the evidence up: quotations in what was sent, what must be absent in the results themselves.
    async fn verify(
        &self,
        driver: &Driver,
        key: &Key,
        judgement: Judgement,
        answer: &ModelAnswer,
    ) -> Result<Judgement, Halt> {
        let mut looked = Vec::new();
        let mut search = Search::new(self.results);
        let goal = &self.judging.task.goal;
        for (id, words) in judgement.absences() {
            let Some(criterion) = self.part.criteria.iter().find(|criterion| criterion.id == id) else {
                continue;
            };
            let look = || search.look(criterion, goal, &words);
            looked.extend(driver.look_for_absence(key, self.judging.cycle, &id, look).await?);
        }
        Ok(judgement.verified(artifacts_of(answer), &looked))
    }

    fn checked_lines(&self) -> Vec<String> {
        let line = |result: &CriterionResult| {
            let evidence = prompts::excerpt(&result.evidence, bound::EVIDENCE);
            format!("{}: {}. {evidence}", result.id, word(result.verdict))
        };
        self.checked.iter().map(line).collect()
    }

    fn question(&self, driver: &Driver, key: &Key) -> Result<ModelCall, StepError> {
        let judging = self.judging;
        let task = &judging.task;
        let room = (bound::JUDGED_OUTPUTS / judging.outcomes.len().max(1)).min(bound::JUDGED_OUTPUT);
        let rendered = prompts::JUDGE.render(context! {
            goal => task.goal.clone(),
            context => prompts::context_text(&task.context),
            expected_output => prompts::expected_text(task),
            checked => prompts::first_lines(&self.checked_lines(), bound::CHECKED),
            criteria => self.part.criteria.iter().map(|criterion| context! {
                id => criterion.id.clone(), text => prompts::cut(&criterion.text, bound::CRITERION), required => criterion.required,
                absence => absence::may_show(criterion, &task.goal),
            }).collect::<Vec<_>>(),
            steps => judging.outcomes.iter().map(|outcome| step(outcome, room)).collect::<Vec<_>>(),
            scratchpad => prompts::scratchpad_text(&judging.scratchpad),
        })?;
        let mut message = Message::user(rendered.user);
        message.content.push(ContentBlock::Text {
            text: self.part.shown.clone(),
        });
        let outcomes: Vec<Value> = judging
            .outcomes
            .iter()
            .map(|outcome| json!([outcome.step_id, outcome.status, outcome.hash]))
            .collect();
        let request = LlmRequest {
            key: key.clone(),
            model: String::new(),
            system: rendered.system,
            messages: vec![message],
            tool_choice: ToolChoice::None,
            response_schema: Some(ResponseSchema {
                name: "judgement".to_owned(),
                schema: judgement::schema(),
            }),
            ..LlmRequest::default()
        };
        let mut call = self.call(driver, key, 0, request);
        call.prompt_hash = prompts::JUDGE.hash();
        call.inputs = hashes(&[
            ("task", &json!(Driver::known_task(task))),
            ("checked", &json!(self.checked)),
            ("steps", &json!(outcomes)),
        ])?;
        Ok(call)
    }

    /// The same conversation, with the reply and what is wrong with it.
    fn question_again(
        &self,
        driver: &Driver,
        key: &Key,
        first: &ModelAnswer,
        problems: &[String],
    ) -> Result<ModelCall, StepError> {
        let rendered =
            prompts::JUDGE_RETRY.render(context! { problems => prompts::first_lines(problems, bound::PROBLEMS) })?;
        let mut request = first.request.clone();
        request.messages.push(Message::assistant(first.response.text.clone()));
        request.messages.push(Message::user(rendered.user));
        let reply = Value::String(first.response.text.clone());
        let mut call = self.call(driver, key, 1, request);
        call.inputs = hashes(&[("reply", &reply), ("problems", &json!(problems))])?;
        Ok(call)
    }

    fn call(&self, driver: &Driver, key: &Key, n: u32, request: LlmRequest) -> ModelCall {
        ModelCall {
            key: key.child(format!("call/{n}")),
            cycle: self.judging.cycle,
            purpose: Purpose::Judge,
            step: None,
            model: driver.header.roles.judge.clone(),
            part: Some(contract::run::Part::Judge),
            request,
            prompt_hash: prompts::JUDGE_RETRY.hash(),
            definition: json!({ "purpose": "judge", "cycle": self.judging.cycle, "call": n }),
            inputs: Default::default(),
            goes_on: false,
        }
    }
}

fn step(outcome: &StepOutcome, room: usize) -> minijinja::Value {
    context! {
        id => outcome.step_id.clone(),
        status => seed_status(outcome.status),
        output => prompts::excerpt(&prompts::text_of(&outcome.output), room),
        error => outcome.error.as_ref().map(|error| prompts::excerpt(&error.message, bound::JUDGED_OUTPUT)),
        tokens => outcome.tokens_used,
        duration_ms => outcome.duration_ms,
    }
}

/// What the judge was shown of the results, as it was really sent: the only place to quote from.
fn artifacts_of(answer: &ModelAnswer) -> &str {
    let first = answer.request.messages.first();
    match first.and_then(|message| message.content.get(1)) {
        Some(ContentBlock::Text { text }) => text,
        Some(ContentBlock::ToolUse(_) | ContentBlock::ToolResult { .. }) | None => "",
    }
}

fn word(verdict: CriterionVerdict) -> &'static str {
    match verdict {
        CriterionVerdict::Pass => "passed",
        CriterionVerdict::Fail => "failed",
        CriterionVerdict::Unknown => "unknown",
        CriterionVerdict::NotJudged => "not judged",
    }
}

#[cfg(test)]
mod tests {
    use contract::hash::Hash;

    use super::*;

    fn criterion(id: &str, path: Option<&str>) -> Criterion {
        Criterion {
            id: id.to_owned(),
            path: path.map(str::to_owned),
            text: id.to_owned(),
            check: None,
            required: true,
            weight: 1.0,
        }
    }

    fn shown(name: &str, length: usize) -> Shown {
        Shown {
            name: name.to_owned(),
            text: "x".repeat(length),
            more: 0,
            remark: None,
            whole: None,
            hash: Hash::of_bytes(name.as_bytes()),
        }
    }

    fn ids(length: usize) -> Vec<Vec<String>> {
        let names: Vec<String> = (0..6).map(|n| format!("{n}.md")).collect();
        let mut criteria: Vec<Criterion> = names.iter().map(|name| criterion(name, Some(name))).collect();
        criteria.push(criterion("goal", None));
        let results: Vec<Shown> = names.iter().map(|name| shown(name, length)).collect();
        let criteria: Vec<&Criterion> = criteria.iter().collect();
        let parts = parts(&criteria, &results);
        let sent = |part: &JudgedPart| Part::new(part, &criteria, &results).shown.len();
        assert!(parts.iter().all(|part| sent(part) < bound::ARTIFACTS + 1_000));
        parts.into_iter().map(|part| part.criteria).collect()
    }

    #[test]
    fn everything_that_fits_is_judged_in_one_call() {
        assert_eq!(ids(1_000).len(), 1);
    }

    #[test]
    fn what_does_not_fit_is_judged_by_file_and_the_whole_last() {
        let split = ids(12_000);
        assert_eq!(
            split,
            [vec!["0.md", "1.md", "2.md", "3.md"], vec!["4.md", "5.md"], vec!["goal"]]
        );
    }

    #[test]
    fn nothing_is_asked_when_nothing_is_left() {
        assert_eq!(parts(&[], &[shown("a", 9)]), []);
    }
}
