//! One run of a workload, walked from its beginning: finished steps return their recorded replies.

use std::collections::BTreeMap;

use contract::AppError;
use contract::event::{Purpose, RunEvent};
use contract::hash::Hash;
use contract::llm::{LlmRequest, Message, ToolChoice};
use contract::ports::journal::Durability;
use contract::run::{RunResult, StopReason};
use contract::step::StepError;
use engine::kernel::driver::{Driver, Halt};
use engine::kernel::keys;
use engine::kernel::model_call::ModelCall;
use futures::future::join_all;
use serde_json::json;

use crate::bench::workload::Shape;
use crate::bench::world::step_key;
use crate::error::{ToAppError, internal};

/// What the first step is told.
const BEGINNING: &str = "Begin.";

/// Walks the run to its end, which is on disk when this returns.
pub(super) async fn walk(driver: &Driver, shape: Shape) -> Result<(), AppError> {
    match shape {
        Shape::Chain(steps) => chain(driver, steps).await?,
        Shape::Rounds(rounds) => chain(driver, rounds * 2).await?,
        Shape::Join(steps) => join(driver, steps).await?,
    }
    let result = RunResult {
        status: StopReason::Passed.status(),
        stop_reason: StopReason::Passed,
        cycles: 0,
        tokens_used: driver.journal.tokens_used(),
        cost: None,
        feedback: String::new(),
        outputs: Vec::new(),
        error: None,
    };
    driver
        .journal
        .record_all(
            vec![(keys::run_finished(0), RunEvent::RunFinished { result })],
            Vec::new(),
            Durability::Barrier,
        )
        .await
        .map_err(ToAppError::to_app_error)
}

async fn chain(driver: &Driver, steps: u32) -> Result<(), AppError> {
    let mut told = BEGINNING.to_owned();
    for number in 0..steps {
        told = step(driver, number, told).await?;
    }
    Ok(())
}

async fn join(driver: &Driver, steps: u32) -> Result<(), AppError> {
    let all = join_all((0..steps).map(|number| step(driver, number, BEGINNING.to_owned()))).await;
    let replies = all.into_iter().collect::<Result<Vec<_>, _>>()?;
    step(driver, steps, replies.join("\n")).await?;
    Ok(())
}

/// The reply to what the step is told. A failure that an earlier start recorded is tried again as another attempt.
async fn step(driver: &Driver, number: u32, told: String) -> Result<String, AppError> {
    let of = step_key(number);
    let mut n = 0;
    loop {
        let call = call(driver, number, n, &told)?;
        let was_known = driver.journal.is_recorded(&call.key);
        match driver.ask_model(call).await.map_err(|halt| halted(&halt))? {
            Ok(answer) => return Ok(answer.response.text),
            Err(_) if was_known => n += 1,
            Err(error) => return Err(failed(number, &error)),
        }
        let opened = RunEvent::AttemptOpened {
            of: of.clone(),
            n,
            why: "The model did not answer.".to_owned(),
        };
        driver
            .journal
            .record(of.mark(format!("attempt-{n}")), opened)
            .await
            .map_err(ToAppError::to_app_error)?;
    }
}

fn call(driver: &Driver, number: u32, n: u32, told: &str) -> Result<ModelCall, AppError> {
    let of = step_key(number);
    let inputs = BTreeMap::from([("told".to_owned(), Hash::of_bytes(told.as_bytes()))]);
    let request = LlmRequest {
        key: of.clone(),
        model: String::new(),
        system: String::new(),
        messages: vec![Message::user(told)],
        tools: Vec::new(),
        tool_choice: ToolChoice::Auto,
        response_schema: None,
        max_tokens: None,
        temperature: None,
    };
    Ok(ModelCall {
        key: keys::attempt(&of, n).child("call/0"),
        cycle: 1,
        purpose: Purpose::Reasoning,
        step: Some(format!("s{number}")),
        model: driver.header.roles.executor_low.clone(),
        request,
        prompt_hash: Hash::of_bytes(b""),
        definition: json!({ "step": number }),
        inputs,
    })
}

fn failed(number: u32, error: &StepError) -> AppError {
    AppError::new(&error.code, format!("step s{number} has no reply: {}", error.message))
        .hint("What was done is kept. Start the same command again to go on.")
}

fn halted(halt: &Halt) -> AppError {
    match halt {
        Halt::Journal(error) => error.clone().to_app_error(),
        Halt::Failed(error) => AppError::new(&error.code, error.message.clone())
            .hint("The database holds another version of this workload. Name another file."),
        Halt::Cancelled | Halt::Budget { .. } | Halt::Cost { .. } | Halt::Paused | Halt::Waiting => {
            internal("the workload stopped by itself")
        }
    }
}
