//! What a file asks for and only a person grants.

use super::*;

#[test]
fn a_file_cannot_approve_its_own_plans() {
    let terminal = Terminal::new();
    terminal.file(
        "task.yaml",
        "goal: Write it\ncontext: {}\nexpectedOutput: [{ path: out.txt, description: the file }]\napproval: never\n",
    );
    let url = model(writing_plan());
    let (code, text) = terminal.run(&["run", "task.yaml", "--url", &url, "--model", "m"]);
    assert_eq!(code, 4, "{text}");
    assert!(
        !terminal.work.path().join("out.txt").exists(),
        "nobody approved:\n{text}"
    );
}

#[test]
fn a_file_cannot_have_later_plans_approved_with_the_first() {
    let terminal = Terminal::new();
    let url = model(writing_plan());
    for approval in ["first_plan", "never"] {
        let task = format!(
            "goal: Write it\ncontext: {{}}\nexpectedOutput: [{{ path: out.txt, description: the file }}]\napproval: {approval}\n"
        );
        terminal.file("task.yaml", &task);
        let (_, text) = terminal.run(&["run", "task.yaml", "--new", "--url", &url, "--model", "m", "--json"]);
        let started = text
            .lines()
            .find(|line| line.contains("runStarted"))
            .unwrap_or_else(|| panic!("{text}"));
        // What is as every task has it is not written.
        assert!(!started.contains(&format!("\"approval\":\"{approval}\"")), "{started}");
    }
}

#[test]
fn a_person_may_grant_what_a_file_may_not() {
    let terminal = Terminal::new();
    terminal.file(
        "task.yaml",
        "goal: Write it\ncontext: {}\nexpectedOutput: [{ path: out.txt, description: the file }]\n",
    );
    let url = model(writing_plan());
    let asked = [
        "run",
        "task.yaml",
        "--url",
        &url,
        "--model",
        "m",
        "--max-cycles",
        "1",
        "--approval",
        "never",
    ];
    let (code, text) = terminal.run(&asked);
    assert_eq!(code, 1, "{text}");
    assert!(terminal.work.path().join("out.txt").exists(), "{text}");
}

#[test]
fn the_rules_of_a_file_are_followed_when_a_person_allows_them() {
    let terminal = Terminal::new();
    terminal.file(
        "task.yaml",
        "goal: Write it\ncontext: {}\nexpectedOutput: [{ path: out.txt, description: the file }]\nhooks: [{ forbid: file_write }]\n",
    );
    let url = model(writing_plan());
    let asked = ["plan", "task.yaml", "--url", &url, "--model", "m"];
    let (code, text) = terminal.run(&asked);
    assert!(
        code == 0 && text.contains("rules are off (Never use \"file_write\")"),
        "{text}"
    );
    // A run with other grants is another run.
    let (code, text) = terminal.run(&[&asked[..], &["--allow-hooks"]].concat());
    assert!(code == 1 && !text.contains("rules are off"), "{text}");
    assert!(!text.contains("Continuing") && terminal.runs() == 2, "{text}");
}
