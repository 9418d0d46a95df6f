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
    assert!(
        text.contains("Rules   Never use \"file_write\"\n"),
        "what is in force is said: {text}"
    );
    assert!(!text.contains("Continuing") && terminal.runs() == 2, "{text}");
}

/// A task with a command as a check and one as a rule.
const REACHING: &str = "goal: Write it\ncontext: {}\nexpectedOutput: [{ path: out.txt, description: the file, criteria: \
    [{ text: It is there, check: { command: 'echo x >> checked.txt; test -s out.txt' } }] }]\n\
    hooks: [{ command: { run: 'echo x >> ruled.txt', on: postStep } }]\n";

#[test]
fn a_run_without_a_person_waits_before_anything_is_asked_of_a_model_or_done() {
    let terminal = Terminal::new();
    terminal.file("task.yaml", REACHING);
    let url = model(writing_plan());
    let asked = [
        "run",
        "task.yaml",
        "--yes",
        "--allow-hooks",
        "--url",
        &url,
        "--model",
        "m",
    ];
    let (code, text) = terminal.run(&asked);
    assert_eq!(code, 4, "{text}");
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        words.contains("wants to run \"echo x >> ruled.txt\" after each step"),
        "{text}"
    );
    assert!(words.contains("until you allow exactly it"), "{text}");
    for file in ["out.txt", "checked.txt", "ruled.txt"] {
        assert!(!terminal.work.path().join(file).exists(), "{file}: {text}");
    }
}

#[test]
fn the_commands_of_a_file_are_run_when_a_person_allows_them_as_they_stand() {
    let terminal = Terminal::new();
    terminal.file("task.yaml", REACHING);
    let url = model(writing_plan());
    let asked = [
        "run",
        "task.yaml",
        "--yes",
        "--allow-effects",
        "--max-cycles",
        "1",
        "--url",
        &url,
        "--model",
        "m",
    ];
    let (code, text) = terminal.run(&asked);
    // The model that only makes plans cannot judge.
    assert_eq!(code, 1, "{text}");
    for file in ["out.txt", "checked.txt", "ruled.txt"] {
        assert!(terminal.work.path().join(file).exists(), "{file}: {text}");
    }
    assert!(!text.contains("rules are off"), "{text}");
    // Nothing was kept: the next run of the file is asked about it.
    let (code, text) = terminal.run(&["run", "task.yaml", "--yes", "--new", "--url", &url, "--model", "m"]);
    assert_eq!(code, 4, "{text}");
}
