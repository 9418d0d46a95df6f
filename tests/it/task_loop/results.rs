//! What a run leaves behind.

use super::*;

#[tokio::test]
async fn a_written_file_that_is_gone_since_is_no_output() {
    let place = Place::default();
    let gone = place.work().join("draft.txt");
    let mut draft = write("draft", "x", &[]);
    draft["args"]["file_write"]["path"] = json!("draft.txt");
    let script = Script::new([(PLAN_1, plan(json!([draft, write("a", "x", &[])])))]);
    let people = Answers::new([]);
    struct Removes(std::path::PathBuf);
    #[async_trait]
    impl contract::ports::hook::Hook for Removes {
        fn id(&self) -> &str {
            "removes"
        }

        fn event(&self) -> contract::ports::hook::HookEvent {
            contract::ports::hook::HookEvent::PostExecutor
        }

        async fn call(
            &self,
            _data: &Value,
            _context: &contract::ports::hook::HookContext<'_>,
        ) -> Result<contract::ports::hook::HookReply, contract::step::StepError> {
            std::fs::remove_file(&self.0).unwrap();
            Ok(contract::ports::hook::HookReply::Unchanged)
        }
    }
    let ran = run_in(place, FILE, json!({}), &script, &people, |config| Config {
        hooks: vec![Arc::new(Removes(gone))],
        ..config
    })
    .await;
    let outputs = &ran.state.result.as_ref().unwrap().outputs;
    assert_eq!(
        outputs.iter().map(|output| output.path.as_str()).collect::<Vec<_>>(),
        ["out.txt"]
    );
}

#[tokio::test]
async fn the_answer_to_a_sentence_is_a_report() {
    let script = Script::new([
        (PLAN_1, plan(json!([thought("a", &[])]))),
        ("cycle/1/step/a#0/call/0", Reply::Text("hello")),
    ]);
    let ran = run(ANSWER, &script, &Answers::new([])).await;
    let outputs = &ran.state.result.as_ref().unwrap().outputs;
    let told: Vec<_> = outputs
        .iter()
        .map(|output| (output.path.as_str(), output.kind, output.value.clone().unwrap().inline))
        .collect();
    assert_eq!(
        told,
        [("answer", contract::run::OutputKind::Report, Some(json!("hello")))]
    );
}

#[tokio::test]
async fn an_answer_that_is_more_than_words_is_data() {
    let look = json!({ "id": "look", "description": "Look around", "tools": ["directory_list"], "dependencies": [],
        "expectedOutcome": "What is there", "args": { "directory_list": { "path": "." } } });
    let script = Script::new([(PLAN_1, plan(json!([look])))]);
    let ran = run(ANSWER, &script, &Answers::new([])).await;
    let outputs = &ran.state.result.as_ref().unwrap().outputs;
    let answer = outputs.iter().find(|output| output.path == "answer").unwrap();
    assert_eq!(answer.kind, contract::run::OutputKind::Data);
    let value = answer.value.clone().unwrap().inline.unwrap();
    assert!(!value.is_string(), "{value}");
}

#[tokio::test]
async fn a_report_is_the_seeds_result_and_its_lines_are_whole() {
    let script = Script::new([
        (
            PLAN_1,
            plan(json!([thought("think", &[]), write("a", "x", &["think"])])),
        ),
        ("cycle/1/step/think#0/call/0", Reply::Text("hm")),
    ]);
    let ran = run(FILE, &script, &Answers::new([])).await;
    let report = ran.call("run_report", json!({})).await.unwrap();
    for key in [
        "status",
        "cycles",
        "tokensUsed",
        "cost",
        "outputs",
        "logs",
        "feedback",
        "stopReason",
    ] {
        assert!(report.get(key).is_some(), "{key}: {report}");
    }
    let line = |message: &str| {
        let lines = report["logs"].as_array().unwrap();
        let line = lines.iter().find(|line| line["message"] == message);
        line.unwrap_or_else(|| panic!("{message}: {lines:?}")).clone()
    };
    let step = line("Step \"think\" completed");
    assert!(
        step["timestamp"].is_number() && step["durationMs"].is_number(),
        "{step}"
    );
    assert_eq!(
        (&step["cycle"], &step["step"], &step["tool"], &step["tokensUsed"]),
        (&json!(1), &json!("think"), &Value::Null, &json!(TOKENS))
    );
    let tool = line("\"file_write\" finished");
    assert!(
        tool["timestamp"].is_number() && tool["durationMs"].is_number(),
        "{tool}"
    );
    assert_eq!(
        (&tool["cycle"], &tool["step"], &tool["tool"]),
        (&json!(1), &json!("a"), &json!("file_write"))
    );
}
