//! Runs of the past: found, carried to another machine, replayed, asked again.

use super::*;

#[test]
fn a_run_that_is_not_there_is_not_found() {
    let terminal = Terminal::new();
    let (code, text) = terminal.run(&["show", "nothing"]);
    assert_eq!(code, 2);
    assert!(text.contains("there is no such run"), "{text}");
    assert!(
        terminal
            .run(&["history"])
            .1
            .contains("There are no runs yet. Start with: tepa sample")
    );
    assert_eq!(terminal.run(&["frobnicate"]).0, 2);
}

#[test]
fn a_run_goes_to_another_machine_and_can_be_compared_there() {
    let (here, there) = (Terminal::new(), Terminal::new());
    here.run(&["sample", "--yes"]);
    let waiting = Terminal::new();
    waiting.run(&["sample"]);
    let (code, text) = waiting.run(&["export", "last"]);
    assert!(code == 2 && text.contains("not at its end"), "{text}");

    let file = there.work.path().join("run.tepa");
    let written = here.document(&["export", "last", file.to_str().unwrap(), "--json"]);
    let (code, text) = here.run(&["export", "last", file.to_str().unwrap()]);
    assert!(code == 2 && text.contains("there is a file"), "{text}");
    let read = there.document(&["import", "run.tepa", "--json"]);
    assert_eq!(read["finalHash"], written["finalHash"]);
    let (code, text) = there.run(&["show", "last"]);
    assert!(code == 0 && text.contains("PASS  2 cycles"), "{text}");
    let (code, text) = there.run(&["import", "run.tepa"]);
    assert!(code == 2 && text.contains("is in the history already"), "{text}");
    let (code, text) = there.run(&["continue", "last"]);
    assert!(code == 2 && text.contains("was imported from a file"), "{text}");

    there.run(&["sample", "--yes"]);
    let imported = read["runId"].as_str().unwrap();
    let (code, text) = there.run(&["compare", imported, "last"]);
    assert!(
        code == 0 && text.contains("Plan of cycle 2  the same in both"),
        "{text}"
    );
    let comparison = there.document(&["compare", imported, "last", "--json"]);
    assert_eq!(comparison["sameTask"], true);
    let same = |output: &serde_json::Value| output["same"] == true;
    assert!(
        comparison["outputs"].as_array().unwrap().iter().all(same),
        "{comparison}"
    );
}

#[test]
fn what_is_no_exported_run_is_not_imported() {
    let terminal = Terminal::new();
    terminal.file("other.tepa", "hello");
    let (code, text) = terminal.run(&["import", "other.tepa"]);
    assert!(code == 2 && text.contains("is not a run that was exported"), "{text}");
    terminal.run(&["sample", "--yes"]);
    terminal.document(&["export", "last", "run.tepa", "--json"]);
    let whole = std::fs::read(terminal.work.path().join("run.tepa")).unwrap();
    std::fs::write(terminal.work.path().join("half.tepa"), &whole[..whole.len() / 2]).unwrap();
    let (code, text) = terminal.run(&["import", "half.tepa"]);
    assert!(
        code == 2 && text.contains("or is damaged: its end is missing"),
        "{text}"
    );
    let (code, text) = terminal.run(&["import", "nowhere.tepa"]);
    assert!(code == 2 && text.contains("there is no such file"), "{text}");
}

#[test]
fn a_run_is_replayed_and_comes_to_the_same() {
    let terminal = Terminal::new();
    terminal.run(&["sample"]);
    let (code, text) = terminal.run(&["replay", "last"]);
    assert!(code == 2 && text.contains("not at its end yet"), "{text}");
    terminal.run(&["sample", "--yes", "--folder", "here"]);
    std::fs::remove_file(terminal.work.path().join("here/report.md")).unwrap();
    let (code, text) = terminal.run(&["replay", "last"]);
    assert!(code == 0 && text.contains("SAME  the replay passed"), "{text}");
    assert!(
        !terminal.work.path().join("here/report.md").exists(),
        "nothing is written"
    );
    assert!(
        terminal
            .run(&["history"])
            .1
            .contains("Quarterly expenses (replay)  passed")
    );
    let document = terminal.document(&["replay", "last", "--json"]);
    assert_eq!(
        (&document["same"], &document["finalHash"]),
        (&true.into(), &document["sourceHash"])
    );
    let (code, text) = terminal.run(&["continue", "last"]);
    assert!(code == 2 && text.contains("is a replay of another one"), "{text}");
}

#[test]
fn models_are_asked_once_more_and_compared() {
    let terminal = Terminal::new();
    terminal.file("task.yaml", "goal: Write it\ncontext: {}\nexpectedOutput: A file\n");
    let (same, other) = (model(writing_plan()), model("No\u{1b}[2J".to_owned()));
    let asked = [
        "run",
        "task.yaml",
        "--max-cycles",
        "1",
        "--yes",
        "--url",
        &same,
        "--model",
        "m",
    ];
    assert_eq!(terminal.run(&asked).0, 1);
    let again = |url: &str, more: &[&str]| {
        let arguments = ["recompute", "last", "plan", "--url", url, "--model", "m"];
        terminal.run(&[&arguments[..], more].concat())
    };
    let (code, text) = again(&same, &[]);
    assert!(code == 0 && text.contains("cycle/1/plan#0/call/0  clean"), "{text}");
    let (code, text) = again(&other, &[]);
    assert!(
        code == 1 && text.contains("cycle/1/plan#0/call/0  schema_violation"),
        "{text}"
    );
    assert!(
        text.contains("text: {") && text.contains("No") && !text.contains('\u{1b}'),
        "{text}"
    );
    let (code, text) = again(&other, &["--json"]);
    let calls: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &calls[0]["after"]["text"]), (1, &"No\u{1b}[2J".into()));
    let (code, text) = terminal.run(&["recompute", "last", "nowhere", "--url", &same, "--model", "m"]);
    assert!(code == 2 && text.contains("no model calls at \"nowhere\""), "{text}");
    assert_eq!(terminal.runs(), 1, "nothing is written");
}

#[test]
fn what_a_run_changed_is_looked_at_undone_and_brought_back() {
    let terminal = Terminal::new();
    let (code, text) = terminal.run(&["sample", "--yes", "--folder", "here"]);
    assert_eq!(code, 0, "{text}");
    let report = terminal.work.path().join("here/report.md");
    let written = std::fs::read_to_string(&report).unwrap();
    let preview = terminal.document(&["undo", "last", "--preview", "--json"]);
    assert_eq!(preview["files"][0]["standing"], "deletes", "{preview}");
    let (code, text) = terminal.run(&["undo", "last", "--preview"]);
    assert_eq!(code, 0, "{text}");
    assert!(
        text.contains("report.md  goes: the run made it") && report.exists(),
        "{text}"
    );

    std::fs::write(&report, "mine").unwrap();
    let (code, text) = terminal.run(&["undo", "last"]);
    assert_eq!(code, 2, "{text}");
    assert!(
        text.contains("a file was edited or removed since the run: report.md"),
        "{text}"
    );
    assert!(text.contains("--edited keep"), "{text}");
    let (code, text) = terminal.run(&["undo", "last", "--edited", "restore"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("report.md  deleted") && text.contains("--redo"), "{text}");
    assert!(!report.exists());
    let result = terminal.document(&["undo", "last", "report.md", "--redo", "--json"]);
    assert_eq!(result["restored"], serde_json::json!(["report.md"]));
    assert_eq!(std::fs::read_to_string(&report).unwrap(), "mine");
    assert!(!written.is_empty());
    let (code, text) = terminal.run(&["undo", "last", "no.txt"]);
    assert_eq!(code, 2, "{text}");
    let (code, text) = terminal.run(&["show", "last"]);
    assert_eq!(code, 0, "{text}");
    assert!(text.contains("Undoing what it changed in"), "{text}");
}
