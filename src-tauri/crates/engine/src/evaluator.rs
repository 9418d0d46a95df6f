//! The judge, in the seed's words the evaluator: the app's own checks first, then one model call for
//! the criteria that are left (goal-pipeline page, "Judge"; seed *tepa-pipeline-in-detail*,
//! "Evaluator").

use std::sync::Arc;

use async_trait::async_trait;
use contract::criterion::{Criterion, DecidedBy};
use contract::evaluation::{CriterionResult, CriterionVerdict, Evaluation, Verdict};
use contract::event::{Purpose, RunEvent};
use contract::ids::Key;
use contract::llm::{ContentBlock, LlmRequest, LlmResponse, Message, ResponseSchema, ToolChoice};
use contract::plan::{Plan, PlanStep};
use contract::ports::check::{CheckTarget, Subject};
use contract::step::{StepError, code};
use minijinja::context;
use serde_json::{Value, json};

use crate::artifacts;
use crate::executor::StepOutcome;
use crate::judgement::{self, Judgement};
use crate::kernel::driver::{Driver, Halt, Outcome};
use crate::kernel::extract;
use crate::kernel::model_call::{ModelAnswer, ModelCall};
use crate::kernel::run_step::{Fault, Step, StepContext, StepReturn, settle};
use crate::planner::hashes;
use crate::prompts::{self, bound};
use crate::scratchpad::seed_status;
use crate::verdict;

/// Judges a cycle at this address.
pub async fn judge(
    driver: &Driver,
    key: &Key,
    cycle: u32,
    plan: &Plan,
    outcomes: &[StepOutcome],
) -> Outcome<Evaluation> {
    driver
        .journal
        .record(key.mark("started"), RunEvent::JudgingStarted { cycle })
        .await?;
    let criteria = driver.header.task.criteria();
    let judge = Judge {
        cycle,
        criteria: &criteria,
        plan,
        outcomes,
    };
    let result = driver.run_step(&judge, json!({ "cycle": cycle }), key).await?;
    Ok(result.and_then(|result| {
        serde_json::from_value(result.output).map_err(|error| StepError::new(code::SCHEMA_ERROR, error.to_string()))
    }))
}

struct Judge<'a> {
    cycle: u32,
    criteria: &'a [Criterion],
    plan: &'a Plan,
    outcomes: &'a [StepOutcome],
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
        let answer = artifacts::final_answer(self.plan, self.outcomes);
        let checked = self.check_all(context, answer.as_deref()).await?;
        let left: Vec<&Criterion> = self
            .criteria
            .iter()
            .filter(|criterion| criterion.check.is_none())
            .collect();
        let decided: Vec<Criterion> = self
            .criteria
            .iter()
            .filter(|criterion| criterion.check.is_some())
            .cloned()
            .collect();
        if verdict::verdict(&decided, &checked) == Verdict::Fail {
            return Ok(self.failed_check(&decided, checked));
        }
        let judgement = self.ask(context, &left, &checked, answer.as_deref()).await?;
        Ok(self.combine(checked, judgement))
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
            };
            results.push(
                context
                    .adapters
                    .check(context.key, self.cycle, criterion, check, &target)
                    .await?,
            );
        }
        Ok(results)
    }

    /// A failed required check decides without the model.
    fn failed_check(&self, decided: &[Criterion], mut checked: Vec<CriterionResult>) -> Evaluation {
        let missing = verdict::missing(decided, &checked);
        let lines: Vec<String> = missing
            .iter()
            .map(|(criterion, result)| self.feedback_line(criterion, *result))
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

    fn feedback_line(&self, criterion: &Criterion, result: Option<&CriterionResult>) -> String {
        let place = criterion.path.as_deref().unwrap_or("the answer");
        let evidence = result.map_or("nothing was found", |result| result.evidence.as_str());
        let steps = self.steps_for(criterion.path.as_deref());
        format!("- {place}: \"{}\" failed: {evidence}.{steps}", criterion.text)
    }

    /// The steps that made or should have made a file, and what they made it from: where to look.
    fn steps_for(&self, path: Option<&str>) -> String {
        let Some(path) = path else { return String::new() };
        let writes = |step: &&PlanStep| {
            step.args
                .values()
                .any(|args| args.get("path").and_then(Value::as_str) == Some(path))
        };
        let mentions = |step: &&PlanStep| step.description.contains(path) || step.expected_outcome.contains(path);
        let mut makers: Vec<&PlanStep> = self.plan.steps.iter().filter(writes).collect();
        if makers.is_empty() {
            makers = self.plan.steps.iter().filter(mentions).collect();
        }
        if makers.is_empty() {
            return " No step makes this file.".to_owned();
        }
        let named: Vec<String> = makers.iter().map(|step| self.maker(step)).collect();
        format!(" Made by {}.", named.join(", "))
    }

    fn maker(&self, step: &PlanStep) -> String {
        let outcome = self.outcomes.iter().find(|outcome| outcome.step_id == step.id);
        let failure = outcome.and_then(|outcome| outcome.error.as_ref());
        let failure = failure
            .map(|error| format!(" (failed: {})", error.message))
            .unwrap_or_default();
        let from = if step.dependencies.is_empty() {
            String::new()
        } else {
            format!(" from {}", step.dependencies.join(", "))
        };
        format!("{}{failure}{from}", step.id)
    }

    async fn ask(
        &self,
        context: &StepContext<'_>,
        left: &[&Criterion],
        checked: &[CriterionResult],
        answer: Option<&str>,
    ) -> Result<Judgement, Fault> {
        let driver = context.adapters;
        let shown = artifacts::shown(driver, answer).await;
        let call = self.question(context, left, checked, shown)?;
        let (first, trace) = settle(extract::ask_model(context, call).await)?;
        let ids: Vec<&str> = left.iter().map(|criterion| criterion.id.as_str()).collect();
        let mut tokens = first.response.usage.total();
        let problems = match judgement::read(&first.response, &ids) {
            Ok(judgement) => {
                extract::note(context, &trace);
                return Ok(judgement.verified(artifacts_of(&first)).costing(tokens));
            }
            Err(problems) => problems,
        };
        let again = self.question_again(context.key, driver, &first, &problems)?;
        let (second, trace) = settle(extract::ask_model(context, again).await)?;
        tokens += second.response.usage.total();
        Ok(match judgement::read(&second.response, &ids) {
            Ok(judgement) => {
                extract::note(context, &trace);
                judgement.verified(artifacts_of(&second)).costing(tokens)
            }
            Err(_) => Judgement::unparseable(&second.response.text, &ids).costing(tokens),
        })
    }

    fn question(
        &self,
        context: &StepContext<'_>,
        left: &[&Criterion],
        checked: &[CriterionResult],
        shown: String,
    ) -> Result<ModelCall, StepError> {
        let driver = context.adapters;
        let task = &driver.header.task;
        let scratchpad = driver.scratchpad();
        let rendered = prompts::JUDGE.render(context! {
            goal => task.goal.clone(),
            expected_output => serde_json::to_string_pretty(&task.expected_output).unwrap_or_default(),
            checked => checked.iter().map(|result| format!("{}: {}. {}", result.id, verdict_word(result.verdict), result.evidence)).collect::<Vec<_>>(),
            criteria => left.iter().map(|criterion| context! {
                id => criterion.id.clone(), text => criterion.text.clone(), required => criterion.required,
            }).collect::<Vec<_>>(),
            steps => self.outcomes.iter().map(|outcome| context! {
                id => outcome.step_id.clone(),
                status => seed_status(outcome.status),
                output => prompts::excerpt(&prompts::text_of(&outcome.output), bound::JUDGED_OUTPUT),
                error => outcome.error.as_ref().map(|error| error.message.clone()),
                tokens => outcome.tokens_used,
                duration_ms => outcome.duration_ms,
            }).collect::<Vec<_>>(),
            scratchpad => prompts::scratchpad_text(&scratchpad),
        })?;
        let mut message = Message::user(rendered.user);
        message.content.push(ContentBlock::Text { text: shown });
        let outcomes: Vec<Value> = self
            .outcomes
            .iter()
            .map(|outcome| json!([outcome.step_id, outcome.status, outcome.hash]))
            .collect();
        Ok(ModelCall {
            key: context.key.child("call/0"),
            cycle: self.cycle,
            purpose: Purpose::Judge,
            step: None,
            model: driver.header.roles.judge.clone(),
            request: LlmRequest {
                key: context.key.clone(),
                model: String::new(),
                system: rendered.system,
                messages: vec![message],
                tools: Vec::new(),
                tool_choice: ToolChoice::None,
                response_schema: Some(ResponseSchema {
                    name: "judgement".to_owned(),
                    schema: judgement::schema(),
                }),
                max_tokens: None,
                temperature: None,
            },
            prompt_hash: prompts::JUDGE.hash(),
            definition: json!({ "purpose": "judge", "cycle": self.cycle, "call": 0 }),
            inputs: hashes(&[
                ("task", &json!(task)),
                ("checked", &json!(checked)),
                ("steps", &json!(outcomes)),
            ])?,
        })
    }

    fn question_again(
        &self,
        key: &Key,
        driver: &Driver,
        first: &ModelAnswer,
        problems: &[String],
    ) -> Result<ModelCall, StepError> {
        let rendered = prompts::JUDGE_RETRY.render(context! { problems => problems.to_vec() })?;
        let mut request = first.request.clone();
        request.messages.push(Message::assistant(first.response.text.clone()));
        request.messages.push(Message::user(rendered.user));
        Ok(ModelCall {
            key: key.child("call/1"),
            cycle: self.cycle,
            purpose: Purpose::Judge,
            step: None,
            model: driver.header.roles.judge.clone(),
            request,
            prompt_hash: prompts::JUDGE_RETRY.hash(),
            definition: json!({ "purpose": "judge", "cycle": self.cycle, "call": 1 }),
            inputs: hashes(&[("reply", &reply_value(&first.response)), ("problems", &json!(problems))])?,
        })
    }

    fn combine(&self, mut checked: Vec<CriterionResult>, judgement: Judgement) -> Evaluation {
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
            let missing = verdict::missing(self.criteria, &results);
            let lines: Vec<String> = missing
                .iter()
                .map(|(criterion, result)| self.feedback_line(criterion, *result))
                .collect();
            let mut parts: Vec<String> = judgement.feedback.into_iter().collect();
            if judgement.verdict == Verdict::Pass || parts.is_empty() {
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

/// What the judge was shown of the results, as it was really sent: the only place to quote from.
fn artifacts_of(answer: &ModelAnswer) -> &str {
    let first = answer.request.messages.first();
    match first.and_then(|message| message.content.get(1)) {
        Some(ContentBlock::Text { text }) => text,
        Some(ContentBlock::ToolUse(_) | ContentBlock::ToolResult { .. }) | None => "",
    }
}

fn reply_value(response: &LlmResponse) -> Value {
    Value::String(response.text.clone())
}

fn verdict_word(verdict: CriterionVerdict) -> &'static str {
    match verdict {
        CriterionVerdict::Pass => "passed",
        CriterionVerdict::Fail => "failed",
        CriterionVerdict::Unknown => "unknown",
        CriterionVerdict::NotJudged => "not judged",
    }
}
