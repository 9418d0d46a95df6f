//! Whatever plan, and whatever the timing: a run whose steps overlap comes to the same end as one whose steps do not.

use std::sync::Arc;

use app::{App, Config};
use async_trait::async_trait;
use contract::access::Access;
use contract::event::RunEventRecord;
use contract::llm::{
    AttemptStatus, FinishReason, LlmAttempt, LlmError, LlmRequest, LlmResponse, ModelInfo, ToolUse, Usage,
};
use contract::ports::provider::{LlmProvider, Sink};
use contract::ports::tool::{FileEffect, Tool, ToolContext, ToolError, ToolInfo, ToolOutput};
use contract::run_state::RunState;
use contract::{Hash, RunId};
use serde_json::{Value, json};
use support::script::Answers;
use support::{Place, call};

/// Numbers that look random and are the same every time.
#[derive(Clone)]
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }

    fn of(seed: u64, text: &str) -> Self {
        let hash = Hash::of_bytes(text.as_bytes());
        let number = u64::from_str_radix(&hash.as_str()[7..22], 16).unwrap();
        Self(seed ^ number)
    }
}

/// Lets others go first, so often as the seed says for this place.
async fn dawdle(seed: u64, place: &str) {
    for _ in 0..Dice::of(seed, place).below(12) {
        tokio::task::yield_now().await;
    }
}

/// Answers with the address of all that it was shown, so that nobody sees anything else unnoticed.
struct Mirror {
    plan: Value,
    pace: u64,
}

#[async_trait]
impl LlmProvider for Mirror {
    fn name(&self) -> &str {
        "scripted"
    }

    async fn complete(&self, request: LlmRequest, sink: &dyn Sink) -> Result<LlmResponse, LlmError> {
        dawdle(self.pace, request.key.as_str()).await;
        let shown = Hash::of_value(&serde_json::to_value(&request.messages).unwrap()).unwrap();
        let seen = shown.as_str()[7..15].to_owned();
        let (text, tool_uses) = if request.key.as_str().contains("/plan#") {
            (self.plan.to_string(), Vec::new())
        } else if request.key.as_str().contains("/judge#") {
            (
                json!({ "verdict": "fail", "confidence": 1, "feedback": "No.", "criteria": [] }).to_string(),
                Vec::new(),
            )
        } else if let Some(tool) = request.tools.first() {
            let input = json!({ "path": format!("{}.txt", &seen[..1]), "content": seen, "mode": "append" });
            let id = "call".to_owned();
            (
                String::new(),
                vec![ToolUse {
                    id,
                    name: tool.name.clone(),
                    input,
                    carried: None,
                    made_by: None,
                }],
            )
        } else {
            (seen, Vec::new())
        };
        let usage = Usage {
            input: 1,
            output: 1,
            ..Usage::default()
        };
        sink.attempt(LlmAttempt {
            status: AttemptStatus::Success,
            duration_ms: 0,
            usage: Some(usage),
            ..LlmAttempt::default()
        });
        Ok(LlmResponse {
            text,
            tool_uses,
            finish_reason: FinishReason::EndTurn,
            usage,
            model: request.model,
            request_id: None,
        })
    }

    async fn models(&self) -> Result<Vec<ModelInfo>, LlmError> {
        Ok(Vec::new())
    }
}

/// A tool that takes its time.
struct Slow {
    tool: Arc<dyn Tool>,
    pace: u64,
}

#[async_trait]
impl Tool for Slow {
    fn info(&self) -> ToolInfo {
        self.tool.info()
    }

    fn access(&self, args: &Value) -> Vec<Access> {
        self.tool.access(args)
    }

    fn writes_scratchpad(&self) -> bool {
        self.tool.writes_scratchpad()
    }

    async fn file_effect(&self, args: &Value, context: &ToolContext) -> Result<Option<FileEffect>, ToolError> {
        self.tool.file_effect(args, context).await
    }

    async fn execute(&self, args: Value, context: &ToolContext) -> Result<ToolOutput, ToolError> {
        dawdle(self.pace, &args.to_string()).await;
        self.tool.execute(args, context).await
    }
}

fn some_plan(dice: &mut Dice) -> Value {
    let count = 4 + dice.below(9);
    let steps: Vec<Value> = (0..count).map(|place| some_step(dice, place)).collect();
    json!({ "reasoning": "Because.", "estimatedTokens": 1, "steps": steps })
}

fn some_step(dice: &mut Dice, place: usize) -> Value {
    let dependencies: Vec<String> = (0..place)
        .filter(|_| dice.below(4) == 0)
        .map(|before| format!("s{before}"))
        .collect();
    let file = format!("{}.txt", dice.below(3));
    let content = dependencies
        .first()
        .map_or("x".to_owned(), |id| format!("{{{{{id}}}}};"));
    let (tool, args) = match dice.below(7) {
        0 | 1 => (None, None),
        2 => (
            Some("file_write"),
            Some(json!({ "path": file, "content": content, "mode": "append" })),
        ),
        3 => (Some("file_write"), None),
        4 => (Some("file_read"), Some(json!({ "path": file }))),
        5 => (Some("directory_list"), Some(json!({ "path": "." }))),
        _ if dice.below(2) == 0 => (
            Some("scratchpad"),
            Some(json!({ "action": "write", "key": file, "value": content })),
        ),
        _ => (Some("scratchpad"), Some(json!({ "action": "list" }))),
    };
    let mut step = json!({ "id": format!("s{place}"), "description": format!("Do {place}"), "tools": [],
        "expectedOutcome": "something", "dependencies": dependencies });
    if let Some(tool) = tool {
        step["tools"] = json!([tool]);
        if let Some(args) = args {
            step["args"] = json!({ tool: args });
        }
    }
    step
}

/// The end of a run of this plan, and how many of its steps came to an end while another was at work.
async fn run(plan: &Value, parallel: usize, pace: u64) -> (Hash, usize) {
    let place = Place::default();
    let model = Mirror {
        plan: plan.clone(),
        pace,
    };
    let slow = |tool| Arc::new(Slow { tool, pace }) as Arc<dyn Tool>;
    let app = App::open(Config {
        providers: vec![Arc::new(model)],
        tools: tools::all().into_iter().map(slow).collect(),
        people: Some(Answers::new([])),
        ..place.config()
    })
    .await
    .unwrap();
    let task = format!(
        "goal: Try\ncontext: {{}}\nexpectedOutput: Anything\nmodels: {{ planner: 'scripted:m' }}\n\
        limits: {{ maxCycles: 1, maxParallel: {parallel} }}\n"
    );
    let started = call(&app, "run_start", json!({ "source": task, "folder": place.folder() }))
        .await
        .unwrap();
    let run = RunId::new(started["runId"].as_str().unwrap());
    app.outcome(&run).await.unwrap();
    let request = json!({ "runId": run, "fromSeq": 1, "limit": 1000 });
    let events = call(&app, "run_events", request).await.unwrap();
    let events: Vec<RunEventRecord> = serde_json::from_value(events["events"].clone()).unwrap();
    let state = RunState::of(&events);
    assert!(state.result.is_some(), "it did not end");
    (engine::final_hash(&events).unwrap(), overlaps(&events))
}

fn overlaps(events: &[RunEventRecord]) -> usize {
    let mut at_work = 0_usize;
    let mut overlapped = 0;
    for record in events {
        match &record.event {
            contract::event::RunEvent::StepStarted { .. } => at_work += 1,
            contract::event::RunEvent::StepFinished { .. } => {
                overlapped += usize::from(at_work > 1);
                at_work = at_work.saturating_sub(1);
            }
            _ => {}
        }
    }
    overlapped
}

#[tokio::test]
async fn overlapping_and_one_after_the_other_come_to_the_same_end() {
    const SEED: u64 = 20_261_121;
    let mut overlapped = 0;
    for number in 0..12 {
        let seed = SEED + number;
        let plan = some_plan(&mut Dice(seed));
        let (expected, alone) = run(&plan, 1, seed).await;
        assert_eq!(alone, 0, "seed {seed}: with one slot nothing overlaps");
        for parallel in [2, 8] {
            let (hash, overlaps) = run(&plan, parallel, seed ^ parallel as u64).await;
            assert_eq!(hash, expected, "seed {seed}, {parallel} at once: {plan}");
            overlapped += overlaps;
        }
    }
    println!("12 plans from seed {SEED}: {overlapped} steps ended while others were at work");
    assert!(overlapped > 50, "hardly anything overlapped: {overlapped}");
}
