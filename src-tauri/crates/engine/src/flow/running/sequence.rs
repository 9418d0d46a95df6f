//! Steps one after the other: routes, chaining, passes, limits (flows page, "Semantics").

use contract::event::{Purpose, RunEvent};
use contract::flow::Dialect;
use contract::llm::Message;
use contract::ports::journal::Durability;
use contract::step::{StepError, code};
use serde_json::{Value, json};
use std::collections::BTreeMap;

use super::Outputs;
use super::prepared::{Question, hash, resolve, text_of};
use super::program::{Body, Leads, Mode, Stage, Way, Work};
use super::runner::{Place, Runner};
use super::state::{State, With};
use super::visit::{Visit, name_all};
use super::work::{self, Done};
use crate::kernel::driver::Outcome;

/// What comes after a step.
enum Next<'a> {
    /// This step, by this route if a route leads there.
    Step(usize, Option<&'a Way>),
    /// The end of the declared steps.
    End,
    /// The end of everything, with words.
    Finish(&'a Way),
}

/// Runs the steps until they end, pass after pass.
pub(super) async fn run<'a>(runner: &Runner<'a>, body: &'a Body, state: &mut State, place: &Place) -> Outcome<Done> {
    let mut at = body.initial;
    let (mut passes, mut executed, mut idle) = (0, 0, 0);
    loop {
        let stage = &body.stages[at];
        if let Err(error) = may_enter(body, stage, executed, idle) {
            return Ok(Err(error));
        }
        let visit = Visit::of(place, stage, state.enter(at)).anew(runner).await?;
        let next = if visit.is_wanted(state) {
            (executed, idle) = (executed + 1, 0);
            state.begin(at, stage);
            match step(runner, body, state, &visit, at).await? {
                Ok(Stepped::On(next)) => next,
                Ok(Stepped::Done(done)) => return Ok(Ok(done)),
                Err(error) => return Ok(Err(error)),
            }
        } else {
            idle += 1;
            visit.skip(runner, None).await?;
            state.store(&stage.key, Value::Null);
            match route_on(runner, body, state, &visit, at).await? {
                Ok(next) => next,
                Err(error) => return Ok(Err(error)),
            }
        };
        at = match next {
            Next::Step(to, _) => {
                if runner.outputs == Outputs::Needed {
                    state.forget(body, at);
                }
                to
            }
            Next::Finish(way) => return finish(runner, state, &visit, way).await,
            // An answer that was given has ended the steps: this one was not wanted, and no other is left.
            Next::End if is_answer(stage) => return Ok(unanswered(body, state, place)),
            Next::End => {
                passes += 1;
                match again(body, state, passes) {
                    Ok(true) => body.initial,
                    Ok(false) => match body.first_answer {
                        Some(answer) => answer,
                        None => return Ok(Ok(ended(state))),
                    },
                    Err(error) => return Ok(Err(error)),
                }
            }
        };
    }
}

enum Stepped<'a> {
    On(Next<'a>),
    Done(Done),
}

/// Runs one step and finds out what comes after it; both are recorded together.
async fn step<'a>(
    runner: &Runner<'a>,
    body: &'a Body,
    state: &mut State,
    visit: &Visit<'a>,
    at: usize,
) -> Outcome<Stepped<'a>> {
    let started_at_ms = runner.driver.world.clock.now_ms();
    runner.driver.check_may_begin()?;
    let prepared = visit.prepare(runner, body, state);
    let done = visit.carry_out(runner, prepared).await?;
    let key = &visit.stage.key;
    let done = done.and_then(|done| {
        state.store(key, done.output);
        let sets = visit.sets(&*state, state.output(key).unwrap_or(&Value::Null))?;
        Ok((done.text, sets))
    });
    let (text, sets) = match done {
        Ok(done) => done,
        Err(error) => {
            let closed = visit.close_and_go_on(runner, started_at_ms, Err(&error), &[], None, Vec::new());
            return Ok(closed.and(Err(error)));
        }
    };
    for (name, value) in &sets {
        state.set(name, value.clone());
    }
    let output = state.output(key).unwrap_or(&Value::Null);
    if let Some(text) = text {
        let closed = visit.close_and_go_on(runner, started_at_ms, Ok(output), &sets, None, Vec::new());
        let output = output.clone();
        return Ok(closed.map(|()| {
            Stepped::Done(Done {
                output,
                text: Some(text),
            })
        }));
    }
    let mut artifacts = Vec::new();
    let next = next_of(body, at, state);
    let routed = match &next {
        Ok(next) => routed(body, state, visit, next, &mut artifacts),
        Err(_) => Ok(Routed::default()),
    };
    let (next, routed) = match (next, routed) {
        (Ok(next), Ok(routed)) => (Ok(next), routed),
        (Err(error), _) | (_, Err(error)) => (Err(error), Routed::default()),
    };
    let output = state.output(key).unwrap_or(&Value::Null);
    let closed = visit.close_and_go_on(runner, started_at_ms, Ok(output), &sets, routed.event, artifacts);
    if let Err(error) = closed {
        return Ok(Err(error));
    }
    for (name, value) in routed.set {
        state.set(&name, value);
    }
    Ok(next.map(Stepped::On))
}

/// Finds out what comes after a step that was not run.
async fn route_on<'a>(
    runner: &Runner<'a>,
    body: &'a Body,
    state: &mut State,
    visit: &Visit<'a>,
    at: usize,
) -> Outcome<Next<'a>> {
    let mut artifacts = Vec::new();
    let found = next_of(body, at, state).and_then(|next| {
        let routed = routed(body, state, visit, &next, &mut artifacts)?;
        Ok((next, routed))
    });
    let (next, routed) = match found {
        Ok(found) => found,
        Err(error) => return Ok(Err(error)),
    };
    if let Some(event) = routed.event {
        let entry = (visit.key.mark("routed"), event);
        let journal = &runner.driver.journal;
        journal.record_all(vec![entry], artifacts, Durability::Commit).await?;
    }
    for (name, value) in routed.set {
        state.set(&name, value);
    }
    Ok(Ok(next))
}

fn may_enter(body: &Body, stage: &Stage, executed: u32, idle: usize) -> Result<(), StepError> {
    let Some(most) = body.most_phases else { return Ok(()) };
    // Steps that are not wanted cost nothing, but a circle of them would never end.
    if executed < most && idle <= body.stages.len() {
        return Ok(());
    }
    let message = format!(
        "\"{}\" would be step {} of at most {most}",
        stage.key,
        u64::from(executed) + 1
    );
    Err(StepError::new(code::PHASE_LIMIT, message))
}

fn is_answer(stage: &Stage) -> bool {
    matches!(stage.work, Work::Answer { .. })
}

/// The first route whose condition holds; without routes the next step.
fn next_of<'a>(body: &'a Body, at: usize, state: &State) -> Result<Next<'a>, StepError> {
    let stage = &body.stages[at];
    let Some(ways) = &stage.ways else {
        let after = body.stages.iter().enumerate().skip(at + 1);
        let wanted = is_answer(stage);
        let next = after
            .map(|(place, next)| (place, is_answer(next)))
            .find(|(_, answer)| *answer == wanted);
        return Ok(next.map_or(Next::End, |(place, _)| Next::Step(place, None)));
    };
    let scope = With {
        name: "output",
        value: state.output(&stage.key).unwrap_or(&Value::Null),
        scope: state,
    };
    let holds = |way: &&Way| way.when.as_ref().is_none_or(|when| when.holds(&scope));
    let Some(way) = ways.iter().find(holds) else {
        let message = format!("none of the routes of \"{}\" applies", stage.key);
        return Err(StepError::new(code::NO_ROUTE, message));
    };
    Ok(match &way.leads {
        Leads::To(place) => Next::Step(*place, Some(way)),
        Leads::Finish { .. } => Next::Finish(way),
    })
}

#[derive(Default)]
struct Routed {
    event: Option<RunEvent>,
    set: Vec<(String, Value)>,
}

/// What the journal says about the way on.
fn routed(
    body: &Body,
    state: &State,
    visit: &Visit<'_>,
    next: &Next<'_>,
    artifacts: &mut Vec<contract::value_ref::Artifact>,
) -> Result<Routed, StepError> {
    let output = state.output(&visit.stage.key).unwrap_or(&Value::Null);
    let scope = With {
        name: "output",
        value: output,
        scope: state,
    };
    let way = match next {
        Next::Finish(way) => Some(*way),
        Next::Step(_, way) => *way,
        Next::End => None,
    };
    let to = match next {
        Next::Step(to, _) => Some(body.stages[*to].key.clone()),
        Next::Finish(_) => None,
        Next::End => match (implicit_answer(body, visit.stage), &body.mode) {
            (Some(answer), Mode::Sequence { until: None }) => Some(answer.key.clone()),
            _ => return Ok(Routed::default()),
        },
    };
    let set: Vec<(String, Value)> = match way {
        Some(way) => resolve(&way.set, &scope)?.into_iter().collect(),
        None => Vec::new(),
    };
    let log = match way.and_then(|way| way.log.as_ref()) {
        Some(log) => Some(log.render(&scope)?),
        None => None,
    };
    let event = RunEvent::PhaseRouted {
        from: visit.path.clone(),
        to,
        set: name_all(&set, artifacts)?,
        log,
    };
    Ok(Routed {
        event: Some(event),
        set,
    })
}

fn implicit_answer<'a>(body: &'a Body, stage: &Stage) -> Option<&'a Stage> {
    let answer = &body.stages[body.first_answer?];
    (!is_answer(stage)).then_some(answer)
}

/// Whether the steps are run once more after a pass.
fn again(body: &Body, state: &State, passes: u32) -> Result<bool, StepError> {
    let Mode::Sequence {
        until: Some((until, most)),
    } = &body.mode
    else {
        return Ok(false);
    };
    if until.holds(state) {
        return Ok(false);
    }
    if passes < *most {
        return Ok(true);
    }
    let message = format!("\"{}\" did not come to its end in {most} passes", body.id);
    Err(StepError::new(code::LOOP_LIMIT, message))
}

/// The end where no answer was wanted. A group just ends; a flow that says nothing has not come to its end (flows page:
/// "an implicit finish does not count").
fn unanswered(body: &Body, state: &State, place: &Place) -> Result<Done, StepError> {
    if body.dialect != Dialect::Flow || !place.is_outermost() {
        return Ok(ended(state));
    }
    let message = format!(
        "\"{}\" came to its end without an answer: the condition of every \"answer\" that was left does not hold",
        body.id
    );
    Err(StepError::new(code::NO_ROUTE, message))
}

/// The end without words of its own: what came last.
fn ended(state: &State) -> Done {
    Done {
        output: state.upstream().clone(),
        text: None,
    }
}

/// The end that a route says, in another's words when it says so.
async fn finish(runner: &Runner<'_>, state: &State, visit: &Visit<'_>, way: &Way) -> Outcome<Done> {
    let question = match last_words(runner, state, visit, way) {
        Ok(Words::Said(done)) => return Ok(Ok(done)),
        Ok(Words::Rewritten(question)) => question,
        Err(error) => return Ok(Err(error)),
    };
    let key = visit.key.child("rewrite").child("call/0");
    let answer = work::ask(runner, *question, key, &visit.path).await?;
    let said = answer.and_then(|answer| work::reply(&answer, None));
    Ok(said.map(|said| Done::said(text_of(&said))))
}

/// The words at the end.
enum Words {
    Said(Done),
    Rewritten(Box<Question>),
}

fn last_words(runner: &Runner<'_>, state: &State, visit: &Visit<'_>, way: &Way) -> Result<Words, StepError> {
    let Leads::Finish { text, rewrite } = &way.leads else {
        return Ok(Words::Said(ended(state)));
    };
    let scope = With {
        name: "output",
        value: state.output(&visit.stage.key).unwrap_or(&Value::Null),
        scope: state,
    };
    let words = text.render(&scope)?;
    let Some((instructions, model)) = rewrite else {
        return Ok(Words::Said(Done::said(words)));
    };
    let system = instructions.render(&scope)?;
    let question = Question {
        purpose: Purpose::Answer,
        model: model.clone().unwrap_or_else(|| runner.model_of(visit.stage)),
        definition: json!({ "rewrite": instructions.source() }),
        inputs: BTreeMap::from([
            ("instructions".to_owned(), hash(&Value::String(system.clone()))?),
            ("text".to_owned(), hash(&Value::String(words.clone()))?),
        ]),
        system,
        messages: vec![Message::user(words)],
        schema: None,
        temperature: 0.0,
        max_tokens: 4096,
    };
    Ok(Words::Rewritten(Box::new(question)))
}
