//! What a plan will cost, as a range and before it runs (product page, "Rules of the house": money is shown before it is
//! spent). It rests on the task's own history where there is one, otherwise on the plan: which calls its steps make, what
//! each is shown, and what such calls usually answer.
//!
//! The rule is pure ([`of_plan`]); the command beside it reads the run, the prices and the earlier runs of the task.

use contract::AppError;
use contract::cost::{Cost, Prices};
use contract::event::Purpose;
use contract::ids::RunId;
use contract::llm::Usage;
use contract::plan::{Mode, Plan, PlanStep};
use contract::run::{Part, RunHeader, RunStatus, StopReason};
use contract::run_state::{CycleState, RunState};
use contract::task::Task;
use serde::Serialize;
use store::RunFilter;
use ts_rs::TS;

use crate::app::App;
use crate::error::ToAppError;

/// How many earlier runs count, the newest first, and among how many they are looked for.
const PAST: (usize, u32) = (10, 200);
/// Characters of one token, about.
const CHARACTERS: u64 = 4;
/// What a prompt says besides the task: its template.
const TEMPLATE: Range = Range { low: 250, high: 500 };
/// What one result of an earlier step takes up in a question; at most as much as the engine shows.
const INPUT: Range = Range { low: 20, high: 1_500 };
/// What a model writes to call a tool; a file's text may be among it.
const ARGUMENTS: Range = Range { low: 40, high: 1_200 };
/// What a model writes that is to think.
const REASONING: Range = Range { low: 120, high: 2_000 };
/// What one round of a free step writes, and how much longer each makes the next question.
const ROUND: Range = Range { low: 60, high: 600 };
const ROUND_READS: Range = Range { low: 80, high: 1_500 };
/// The rounds of a free step that goes well, and of one that does not say how many it may take.
const ROUNDS: (u64, u32) = (2, 10);
/// What a judge is shown of a step, of the results, and what it writes for a criterion.
const JUDGED_STEP: Range = Range { low: 40, high: 180 };
const JUDGED_FILES: Range = Range { low: 200, high: 12_000 };
const JUDGEMENT: Range = Range { low: 40, high: 200 };

/// From so many tokens to so many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, TS)]
pub struct Range {
    /// When all goes well.
    pub low: u64,
    /// When much of what may be needed is needed.
    pub high: u64,
}

/// From so much money to so much.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
pub struct MoneyRange {
    /// When all goes well.
    pub low: f64,
    /// When much of what may be needed is needed.
    pub high: f64,
    /// In which currency.
    pub currency: String,
}

/// What something will take.
#[derive(Debug, Clone, Default, PartialEq, Serialize, TS)]
pub struct Expected {
    /// In tokens.
    pub tokens: Range,
    /// In money; absent where a price is not known.
    pub cost: Option<MoneyRange>,
}

/// What a run will still cost when its plan is let run.
#[derive(Debug, Clone, PartialEq, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub struct Estimate {
    /// This plan and its verdict.
    pub cycle: Expected,
    /// Until the end of the run, with all further cycles that it may take, at most as much as its limits allow.
    pub run: Expected,
    /// How many earlier runs of the same task this rests on; with none it rests on the plan alone.
    pub past_runs: u32,
    /// Models whose price is not known, so that there is no amount of money.
    pub unpriced: Vec<String>,
    /// Whether a recording answers, which costs nothing.
    pub recorded: bool,
    /// Whether the run's limits end it before it has had what it may need.
    pub limited: Limited,
}

/// Whether the limits of a run are less than it may need.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, TS)]
#[serde(rename_all = "camelCase")]
pub enum Limited {
    /// It has enough.
    #[default]
    No,
    /// They end it when all its cycles are needed, or when its steps take as much as they may.
    Perhaps,
    /// They end it before this plan and its verdict are done, however little these take.
    Surely,
}

impl Limited {
    /// By what is left, what the plan takes at the least, and what the run may take at the most.
    fn by(left: f64, least: f64, most: f64) -> Self {
        match () {
            () if least > left => Self::Surely,
            () if most > left => Self::Perhaps,
            () => Self::No,
        }
    }
}

impl Range {
    fn plus(self, other: Self) -> Self {
        Self {
            low: self.low.saturating_add(other.low),
            high: self.high.saturating_add(other.high),
        }
    }

    fn times(self, low: u64, high: u64) -> Self {
        Self {
            low: self.low.saturating_mul(low),
            high: self.high.saturating_mul(high),
        }
    }

    fn exactly(tokens: u64) -> Self {
        Self {
            low: tokens,
            high: tokens,
        }
    }
}

/// Calls that are expected of one model.
#[derive(Debug, Clone, PartialEq)]
struct Calls {
    model: String,
    /// What stands in for it, and may cost more.
    fallback: Option<String>,
    reads: Range,
    writes: Range,
}

/// Earlier runs of a task that came to a verdict.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Past {
    cycles: u32,
    tokens: u64,
    /// What each token of it cost on the average, with all that came from a cache; none where another model was asked, or
    /// not everything had a price in the same currency.
    rate: Option<f64>,
}

impl App {
    /// What a run will still cost when the plan that it proposes is let run; nothing while it proposes none.
    pub async fn estimate(&self, run: &RunId) -> Result<Option<Estimate>, AppError> {
        let state = self.state(run).await?;
        match state.cycles.last().and_then(|cycle| cycle.plan.as_ref()) {
            Some(plan) => self.estimate_of(run, &state, plan).await,
            None => Ok(None),
        }
    }

    /// The same with this plan in the place of the one that was proposed.
    pub(crate) async fn estimate_of(
        &self,
        run: &RunId,
        state: &RunState,
        plan: &Plan,
    ) -> Result<Option<Estimate>, AppError> {
        let (Some(header), Some(cycle), None) = (&state.header, state.cycles.last(), &state.result) else {
            return Ok(None);
        };
        let tool = |name: &str| {
            let info = self.rooms.tools.get(name)?.info();
            Some(tokens_of(info.description.len() + info.parameters.to_string().len()))
        };
        let past = self.past(run, header).await?;
        Ok(Some(of_plan(plan, cycle, state, header, &past, &tool)))
    }

    /// The newest earlier runs of the same task that came to a verdict: one that was stopped, or whose plan was refused,
    /// says nothing about what a run takes.
    async fn past(&self, run: &RunId, header: &RunHeader) -> Result<Vec<Past>, AppError> {
        let filter = RunFilter {
            status: Some(vec![RunStatus::Pass, RunStatus::Fail]),
            ..RunFilter::default()
        };
        let page = self.rooms.store.runs().list(&filter, None, PAST.1).await;
        let mut past = Vec::new();
        for summary in page.map_err(ToAppError::to_app_error)?.runs {
            let counts = summary.run_id != *run && !summary.recorded && summary.tokens_used > 0 && summary.cycles > 0;
            let is_judged = matches!(
                summary.stop_reason,
                Some(StopReason::Passed | StopReason::Accepted | StopReason::MaxCycles | StopReason::NoProgress)
            );
            if !counts || !is_judged || summary.title != header.title {
                continue;
            }
            let before = self.header_of(&summary.run_id).await?;
            let task = &before.task;
            if task.goal == header.task.goal && task.expected_output == header.task.expected_output {
                let paid = summary.cost.as_ref().filter(|cost| {
                    before.roles == header.roles && cost.unpriced.is_empty() && cost.currency == header.prices.currency
                });
                past.push(Past {
                    cycles: summary.cycles,
                    tokens: summary.tokens_used,
                    rate: paid.map(|cost| cost.amount / counted(summary.tokens_used)),
                });
            }
            if past.len() == PAST.0 {
                break;
            }
        }
        Ok(past)
    }
}

/// What the rest of a run will cost that stands before its plan. `tool` is how many tokens a tool's description takes.
fn of_plan(
    plan: &Plan,
    cycle: &CycleState,
    state: &RunState,
    header: &RunHeader,
    past: &[Past],
    tool: &dyn Fn(&str) -> Option<u64>,
) -> Estimate {
    let calls = calls_of(plan, header, tool);
    let prices = &header.prices;
    let (by_plan, unpriced) = expected(&calls, prices);
    let cycle_tokens = between(past.iter().map(|past| past.tokens / u64::from(past.cycles))).unwrap_or(by_plan.tokens);
    let limits = &header.task.limits;
    let left = u64::from(limits.max_cycles.saturating_sub(cycle.number).saturating_add(1)).max(1);
    let planning = planning_of(state);
    let whole = between(past.iter().map(|past| past.tokens)).map(|whole| Range {
        low: whole.low.saturating_sub(state.tokens_used),
        high: whole.high.saturating_sub(state.tokens_used),
    });
    let run_tokens = whole.unwrap_or_else(|| Range {
        low: cycle_tokens.low,
        high: cycle_tokens
            .high
            .saturating_add(planning)
            .saturating_mul(left)
            .saturating_sub(planning),
    });
    let run_tokens = Range {
        low: run_tokens.low.max(cycle_tokens.low.min(run_tokens.high)),
        high: run_tokens.high.max(cycle_tokens.high),
    };
    // What tokens really cost is known best, where every earlier run says so.
    let paid: Option<Vec<f64>> = past.iter().map(|past| past.rate).collect();
    let cost = |tokens: Range| {
        let per_token = by_plan.cost.as_ref()?;
        let rate = |amount: f64, tokens: u64| amount / counted(tokens.max(1));
        let rates = match paid.as_deref() {
            Some(rates @ [_, ..]) => rates.to_vec(),
            // A plan that may read much more than it writes has the higher price for a token at its low end.
            _ => vec![
                rate(per_token.low, by_plan.tokens.low),
                rate(per_token.high, by_plan.tokens.high),
            ],
        };
        Some(MoneyRange {
            low: rates.iter().copied().fold(f64::INFINITY, f64::min) * counted(tokens.low),
            high: rates.iter().copied().fold(0.0, f64::max) * counted(tokens.high),
            currency: per_token.currency.clone(),
        })
    };
    // What is allowed binds, whatever is expected.
    let room = limits.max_tokens.saturating_sub(state.tokens_used);
    let money = limits.max_cost.map(|most| (most - state.cost.amount).max(0.0));
    let by_tokens = Limited::by(counted(room), counted(cycle_tokens.low), counted(run_tokens.high));
    let cycle_cost = cost(cycle_tokens);
    let run_cost = cost(run_tokens);
    let by_money = money.zip(cycle_cost.as_ref().zip(run_cost.as_ref()));
    let by_money = by_money.map(|(left, (cycle, run))| Limited::by(left, cycle.low, run.high));
    let bound = |amount: f64| money.map_or(amount, |most| amount.min(most));
    Estimate {
        cycle: Expected {
            tokens: cycle_tokens,
            cost: cycle_cost,
        },
        run: Expected {
            tokens: Range {
                low: run_tokens.low.min(room),
                high: run_tokens.high.min(room),
            },
            cost: run_cost.map(|cost| MoneyRange {
                low: bound(cost.low),
                high: bound(cost.high),
                ..cost
            }),
        },
        past_runs: u32::try_from(past.len()).unwrap_or(u32::MAX),
        unpriced: if header.recording.is_some() {
            Vec::new()
        } else {
            unpriced
        },
        recorded: header.recording.is_some(),
        limited: match header.recording {
            Some(_) => Limited::No,
            None => by_tokens.max(by_money.unwrap_or_default()),
        },
    }
}

/// The calls that a plan makes: its steps', and the judge's.
fn calls_of(plan: &Plan, header: &RunHeader, tool: &dyn Fn(&str) -> Option<u64>) -> Vec<Calls> {
    let task = &header.task;
    let shown = TEMPLATE.plus(Range::exactly(tokens_of(
        task.goal.len() + serde_json::to_string(&task.context).map_or(0, |context| context.len().min(8_000)),
    )));
    let mut calls: Vec<Calls> = plan
        .steps
        .iter()
        .flat_map(|step| calls_of_step(step, header, shown, tool))
        .collect();
    calls.extend(judge_calls(plan, task, header, shown));
    calls
}

fn calls_of_step(step: &PlanStep, header: &RunHeader, shown: Range, tool: &dyn Fn(&str) -> Option<u64>) -> Vec<Calls> {
    let part = Part::of_tier(step.tier);
    let model = step.model.as_deref().unwrap_or(header.roles.model(part)).to_owned();
    let fallback = header.roles.fallback(Some(part), &model).map(str::to_owned);
    let inputs = (step.dependencies.len() + step.inputs.len()) as u64;
    let reads = shown
        .plus(Range::exactly(tokens_of(
            step.description.len() + step.expected_outcome.len(),
        )))
        .plus(INPUT.times(inputs, inputs.min(4)));
    let described = |name: &String| Range::exactly(tool(name).unwrap_or(150));
    let call = |reads, writes| Calls {
        model: model.clone(),
        fallback: fallback.clone(),
        reads,
        writes,
    };
    if step.mode == Mode::Free {
        let tools = step.tools.iter().map(described).fold(Range::default(), Range::plus);
        let most = u64::from(step.max_rounds.unwrap_or(ROUNDS.1)).max(1);
        let least = ROUNDS.0.min(most);
        // Each round is shown all the rounds before it.
        let before = |rounds: u64| rounds.saturating_mul(rounds.saturating_sub(1)) / 2;
        let reads = reads
            .plus(tools)
            .times(least, most)
            .plus(ROUND_READS.times(before(least), before(most)));
        return vec![call(reads, ROUND.times(least, most))];
    }
    if step.tools.is_empty() {
        return vec![call(reads, REASONING)];
    }
    let asked = step.tools.iter().filter(|tool| !step.args.contains_key(*tool));
    asked.map(|tool| call(reads.plus(described(tool)), ARGUMENTS)).collect()
}

/// What the judge is asked; nothing where the app's own checks decide everything.
fn judge_calls(plan: &Plan, task: &Task, header: &RunHeader, shown: Range) -> Option<Calls> {
    let criteria = task.criteria();
    let judged: Vec<usize> = criteria
        .iter()
        .filter(|one| one.check.is_none())
        .map(|one| one.text.len())
        .collect();
    let count = judged.len() as u64;
    let steps = plan.steps.len() as u64;
    (count > 0).then(|| Calls {
        model: header.roles.judge.clone(),
        fallback: header
            .roles
            .fallback(Some(Part::Judge), &header.roles.judge)
            .map(str::to_owned),
        reads: shown
            .plus(Range::exactly(tokens_of(judged.iter().sum())))
            .plus(JUDGED_STEP.times(steps, steps))
            .plus(JUDGED_FILES),
        writes: JUDGEMENT.times(count, count),
    })
}

/// What calls take together, and the models whose price is not known.
fn expected(calls: &[Calls], prices: &Prices) -> (Expected, Vec<String>) {
    let tokens = calls
        .iter()
        .fold(Range::default(), |sum, call| sum.plus(call.reads).plus(call.writes));
    let (mut low, mut high) = (Cost::default(), Cost::default());
    for call in calls {
        let usage = |input, output| Usage {
            input,
            output,
            ..Usage::default()
        };
        low.add(prices, &call.model, &usage(call.reads.low, call.writes.low));
        let most = usage(call.reads.high, call.writes.high);
        let price = |model: &str| prices.of(model).map_or(0.0, |price| price.of(&most));
        let dearer = call
            .fallback
            .as_ref()
            .filter(|fallback| price(fallback) > price(&call.model));
        high.add(prices, dearer.unwrap_or(&call.model), &most);
    }
    let known = !calls.is_empty() && high.unpriced.is_empty();
    let cost = known.then(|| MoneyRange {
        low: low.amount,
        high: high.amount,
        currency: high.currency.clone(),
    });
    (Expected { tokens, cost }, high.unpriced)
}

/// What this run's plans took on average, which is what a further one will take.
fn planning_of(state: &RunState) -> u64 {
    let calls = state.calls.values().filter(|call| call.purpose == Purpose::Plan);
    let attempts = calls.flat_map(|call| &call.attempts);
    let planned: u64 = attempts.filter_map(|attempt| Some(attempt.usage?.total())).sum();
    planned / (state.cycles.len() as u64).max(1)
}

/// From the least to the most; none of nothing. One run alone is no range, and the next one is never the same: it is
/// taken from three quarters to one and a half.
fn between(tokens: impl Iterator<Item = u64> + Clone) -> Option<Range> {
    let (low, high) = (tokens.clone().min()?, tokens.max()?);
    Some(match low == high {
        true => Range {
            low: low - low / 4,
            high: high.saturating_add(high / 2),
        },
        false => Range { low, high },
    })
}

fn tokens_of(characters: usize) -> u64 {
    (characters as u64).div_ceil(CHARACTERS)
}

/// Token counts are far below 2^53, where every whole number is exact.
#[allow(clippy::cast_precision_loss, reason = "token counts are far below 2^53")]
fn counted(tokens: u64) -> f64 {
    tokens as f64
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use contract::access::Envelope;
    use contract::cost::Price;
    use contract::run::Roles;
    use serde_json::{Value, json};

    use super::*;

    fn header(limits: Value, priced: &[&str]) -> RunHeader {
        let task: Task = serde_json::from_value(json!({
            "goal": "Add up the bills", "context": {}, "expectedOutput": "One sentence", "limits": limits,
        }))
        .unwrap();
        let price = Price {
            input: 1.0,
            output: 5.0,
            ..Price::default()
        };
        let model = || "m:small".to_owned();
        RunHeader {
            envelope: Envelope {
                folder: String::new(),
                write: true,
                max_tokens: task.limits.max_tokens,
                max_cycles: task.limits.max_cycles,
                ..Envelope::default()
            },
            task,
            title: "Bills".to_owned(),
            roles: Roles {
                executor_high: "m:large".to_owned(),
                ..Roles::all(model())
            },
            hooks: Vec::new(),
            rules: Vec::new(),
            prices: Prices {
                currency: "USD".to_owned(),
                models: priced
                    .iter()
                    .map(|model| ((*model).to_owned(), price))
                    .collect::<BTreeMap<_, _>>(),
            },
            recording: None,
            app_version: String::new(),
            server_tools: Vec::new(),
            models: Vec::new(),
            flow: None,
        }
    }

    fn step(tools: Value, more: Value) -> Value {
        let mut step =
            json!({ "id": "a", "description": "Do", "tools": tools, "expectedOutcome": "", "dependencies": [] });
        if let (Some(step), Value::Object(more)) = (step.as_object_mut(), more) {
            step.extend(more);
        }
        step
    }

    fn estimate(steps: &[Value], header: &RunHeader, past: &[Past]) -> Estimate {
        let plan: Plan =
            serde_json::from_value(json!({ "steps": steps, "estimatedTokens": 1, "reasoning": "" })).unwrap();
        let cycle: CycleState = serde_json::from_value(json!({
            "number": 1, "phase": "proposed", "feedback": null, "planProblems": [], "plan": plan, "planHash": null,
            "approvedBy": null, "steps": {}, "checks": [], "evaluation": null,
        }))
        .unwrap();
        of_plan(&plan, &cycle, &RunState::default(), header, past, &|_| Some(100))
    }

    fn is_range(range: Range) -> bool {
        range.low > 0 && range.low < range.high
    }

    #[test]
    fn a_plan_without_calls_costs_only_its_verdict() {
        let header = header(json!({}), &["m:small"]);
        let given = estimate(
            &[step(json!(["read"]), json!({ "args": { "read": {} } }))],
            &header,
            &[],
        );
        let asked = estimate(&[step(json!(["read"]), json!({}))], &header, &[]);
        let thought = estimate(&[step(json!([]), json!({}))], &header, &[]);
        for each in [&given, &asked, &thought] {
            assert!(is_range(each.cycle.tokens) && is_range(each.run.tokens), "{each:?}");
        }
        assert!(given.cycle.tokens.high < asked.cycle.tokens.high);
        assert!(asked.cycle.tokens.high < thought.cycle.tokens.high);
        assert_eq!((given.past_runs, given.unpriced), (0, Vec::<String>::new()));
    }

    #[test]
    fn rounds_that_may_be_needed_cost_more_each() {
        let header = header(json!({}), &[]);
        let free = |rounds: u32| {
            let more = json!({ "mode": "free", "maxRounds": rounds });
            estimate(&[step(json!(["read"]), more)], &header, &[]).cycle.tokens.high
        };
        assert!(free(10) - free(9) > free(3) - free(2));
    }

    #[test]
    fn money_is_said_only_when_every_price_is_known() {
        let steps = [step(json!([]), json!({ "tier": "high" }))];
        let some = estimate(&steps, &header(json!({}), &["m:small"]), &[]);
        assert_eq!((some.cycle.cost, some.unpriced), (None, vec!["m:large".to_owned()]));
        let all = estimate(&steps, &header(json!({}), &["m:small", "m:large"]), &[]);
        let cost = all.cycle.cost.unwrap();
        assert!(
            cost.low > 0.0 && cost.low < cost.high && cost.currency == "USD",
            "{cost:?}"
        );
    }

    #[test]
    fn earlier_runs_of_the_task_know_better() {
        let header = header(json!({ "maxTokens": 50_000 }), &["m:small"]);
        let past = |cycles, tokens| Past {
            cycles,
            tokens,
            rate: None,
        };
        let estimate = estimate(
            &[step(json!([]), json!({}))],
            &header,
            &[past(1, 9_000), past(2, 30_000)],
        );
        assert_eq!(estimate.past_runs, 2);
        assert_eq!(
            estimate.cycle.tokens,
            Range {
                low: 9_000,
                high: 15_000
            }
        );
        assert_eq!(
            estimate.run.tokens,
            Range {
                low: 9_000,
                high: 30_000
            }
        );
    }

    #[test]
    fn what_earlier_runs_paid_for_a_token_is_what_the_next_one_is_reckoned_with() {
        let header = header(json!({}), &["m:small", "m:large"]);
        let past = |rate| Past {
            cycles: 1,
            tokens: 10_000,
            rate,
        };
        let cycle = |past: &[Past]| estimate(&[step(json!([]), json!({}))], &header, past).cycle;
        let known = cycle(&[past(Some(0.001)), past(Some(0.003))]);
        let (tokens, money) = (known.tokens, known.cost.unwrap());
        assert!((money.low - counted(tokens.low) * 0.001).abs() < 1e-9, "{money:?}");
        assert!((money.high - counted(tokens.high) * 0.003).abs() < 1e-9, "{money:?}");
        // One that does not say leaves it to the plan.
        assert_eq!(
            cycle(&[past(Some(0.001)), past(None)]),
            cycle(&[past(None), past(None)])
        );
    }

    #[test]
    fn one_earlier_run_is_a_range_too_and_low_is_never_above_high() {
        let header = header(json!({}), &["m:small", "m:large"]);
        for past in [
            vec![Past {
                cycles: 1,
                tokens: 3_400,
                rate: None,
            }],
            vec![Past {
                cycles: 1,
                tokens: 12,
                rate: None,
            }],
            vec![
                Past {
                    cycles: 2,
                    tokens: 9_000,
                    rate: None,
                },
                Past {
                    cycles: 2,
                    tokens: 9_000,
                    rate: None,
                },
            ],
            vec![
                Past {
                    cycles: 1,
                    tokens: 10,
                    rate: None,
                },
                Past {
                    cycles: 3,
                    tokens: 60_000,
                    rate: None,
                },
            ],
        ] {
            for steps in [
                vec![],
                vec![step(json!([]), json!({}))],
                vec![step(json!(["read"]), json!({"mode": "free"}))],
            ] {
                let estimate = estimate(&steps, &header, &past);
                for expected in [&estimate.cycle, &estimate.run] {
                    let cost = expected.cost.as_ref().unwrap();
                    assert!(
                        is_range(expected.tokens) && cost.low < cost.high,
                        "{past:?}: {estimate:?}"
                    );
                }
            }
        }
        let estimate = estimate(
            &[step(json!([]), json!({}))],
            &header,
            &[Past {
                cycles: 1,
                tokens: 3_400,
                rate: None,
            }],
        );
        assert_eq!(
            estimate.cycle.tokens,
            Range {
                low: 2_550,
                high: 5_100
            }
        );
    }

    #[test]
    fn what_is_allowed_binds() {
        let limits = json!({ "maxTokens": 2_000, "maxCost": 0.0001 });
        let estimate = estimate(&[step(json!([]), json!({}))], &header(limits, &["m:small"]), &[]);
        assert_eq!(estimate.run.tokens.high, 2_000);
        assert!(estimate.run.cost.unwrap().high <= 0.0001);
        assert!(
            estimate.cycle.cost.unwrap().high > 0.0001,
            "what it takes is not what is left"
        );
    }

    #[test]
    fn says_whether_what_is_allowed_is_enough() {
        let limited = |limits: Value| {
            let limited = estimate(&[step(json!([]), json!({}))], &header(limits, &["m:small"]), &[]).limited;
            serde_json::to_value(limited).unwrap()
        };
        assert_eq!(limited(json!({ "maxTokens": 1_000_000, "maxCycles": 1 })), "no");
        assert_eq!(limited(json!({ "maxTokens": 6_000, "maxCycles": 5 })), "perhaps");
        assert_eq!(limited(json!({ "maxTokens": 10, "maxCycles": 1 })), "surely");
        assert_eq!(
            limited(json!({ "maxTokens": 1_000_000, "maxCycles": 1, "maxCost": 0.0 })),
            "surely"
        );
    }

    #[test]
    fn a_recording_costs_nothing() {
        let header = RunHeader {
            recording: Some("sample".to_owned()),
            ..header(json!({}), &[])
        };
        let estimate = estimate(&[step(json!([]), json!({}))], &header, &[]);
        assert!(estimate.recorded && estimate.unpriced.is_empty() && estimate.cycle.cost.is_none());
    }

    #[test]
    fn ten_thousand_steps_are_a_number_too() {
        let more = json!({ "mode": "free", "maxRounds": u32::MAX });
        let steps: Vec<Value> = (0..10_000).map(|_| step(json!(["read"]), more.clone())).collect();
        let estimate = estimate(&steps, &header(json!({}), &["m:small"]), &[]);
        assert_eq!(estimate.run.tokens.high, 64_000);
    }
}
