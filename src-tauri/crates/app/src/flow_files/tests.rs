use serde_json::json;

use super::*;

struct Folder(tempfile::TempDir);

impl Folder {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = Self(tempfile::tempdir().unwrap());
        for (name, text) in files {
            std::fs::write(folder.path(name), text).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// The marks as `line:column path: message`.
    fn marks(&self, name: &str) -> Vec<String> {
        let check = check(&self.path(name)).unwrap();
        let mark = |mark: &Mark| {
            let warning = if mark.severity == Severity::Warning { "?" } else { "" };
            format!("{warning}{}:{} {}: {}", mark.line, mark.column, mark.path, mark.message)
        };
        check.marks.iter().map(mark).collect()
    }
}

const GOOD: &str =
    "id: f\nsteps:\n  - id: a\n    ask: { instructions: Say something. }\n  - id: r\n    answer: { text: '{{a}}' }\n";

#[test]
fn what_tools_and_checks_could_not_do_is_said_before_anything_is_paid_for() {
    let text = "id: f\nsteps:\n\
        \x20 - { id: a, tool: { tool: fly } }\n\
        \x20 - { id: b, tool: { tool: file_read, args: { pth: x, path: 7 } } }\n\
        \x20 - { id: c, tool: { tool: file_read, args: { path: '{{a}}' } } }\n\
        \x20 - { id: d, tool: { tool: file_write, args: { path: a.txt } } }\n\
        \x20 - id: g\n\
        \x20   group: { mode: parallel, steps: [{ id: e, agent: { instructions: i, tools: [file_read, walk] } }] }\n\
        \x20 - id: h\n\
        \x20   task: { goal: '', expectedOutput: [{ path: a.md, description: d, criteria: [{ text: t, check: { wordz: {} } }] }] }\n\
        \x20 - { id: k, task: { goal: 'Tidy {{a}}', expectedOutput: '{{b}}' } }\n\
        \x20 - { id: r, answer: { text: '{{c}}' } }\n";
    let folder = Folder::new(&[("f.yaml", text)]);
    let marks = folder.marks("f.yaml");
    let known = |start: &str| {
        assert!(
            marks.iter().any(|mark| mark.starts_with(start)),
            "{start} is not in {marks:#?}"
        )
    };
    known("3:28 steps[0].tool.tool: there is no tool \"fly\"; there are ask_person, ");
    known("4:52 steps[1].tool.args.pth: file_read takes no \"pth\"; it takes path, ");
    known("4:61 steps[1].tool.args.path: ");
    known("6:46 steps[3].tool.args: file_write needs \"content\"");
    known("8:92 steps[4].group.steps[0].agent.tools[1]: there is no tool \"walk\"");
    known("10:19 steps[5].task.goal: write what you want done");
    assert!(
        marks.iter().any(|mark| mark.contains("\"wordz\" is not a check")),
        "{marks:#?}"
    );
    assert_eq!(marks.len(), 7, "{marks:#?}");
}

#[test]
fn a_good_file_has_no_marks() {
    let folder = Folder::new(&[("f.yaml", GOOD)]);
    let check = check(&folder.path("f.yaml")).unwrap();
    assert_eq!(
        (check.id.as_deref(), check.dialect, check.steps),
        (Some("f"), Dialect::Flow, 2)
    );
    assert!(check.is_good() && check.marks.is_empty(), "{:?}", check.marks);
}

#[test]
fn every_mark_has_its_place() {
    let text = "id: f\nsteps:\n  - id: a\n    ask: { instructions: 'Hello {{name' }\n    when: '!{{a}}'\n  - id: b\n  - id: r\n    answer: { text: '{{zzz}}' }\n    colour: red\n";
    let folder = Folder::new(&[("f.yaml", text)]);
    let marks = folder.marks("f.yaml");
    assert_eq!(marks.len(), 1, "{marks:#?}");
    assert!(marks[0].starts_with("6:5 steps[1]: the step has neither"), "{marks:#?}");
    let text = text.replace("  - id: b\n", "");
    let folder = Folder::new(&[("f.yaml", &text)]);
    let marks = folder.marks("f.yaml");
    let expected = [
        "4:26 steps[0].ask.instructions: unmatched {{",
        "5:11 steps[0].when: invalid condition: there is no !",
        "7:21 steps[1].answer.text: {{zzz}} leads nowhere",
        "?8:13 steps[1].colour: a step has no \"colour\"",
    ];
    assert!(
        marks
            .iter()
            .zip(expected)
            .all(|(mark, expected)| mark.starts_with(expected)),
        "{marks:#?}"
    );
    assert_eq!(marks.len(), expected.len());
}

#[test]
fn a_manifest_is_recognised() {
    let text = "id: p\nkind: sequential\nuntil: '{{a.ok}} == true'\nretention: 30d\nsteps:\n  - ref: a\n";
    let folder = Folder::new(&[("p.yml", text)]);
    let check = check(&folder.path("p.yml")).unwrap();
    assert_eq!(check.dialect, Dialect::Manifest);
    let marks = folder.marks("p.yml");
    assert!(
        marks[0].starts_with("3:8 until: an \"until\" needs \"maxIterations\""),
        "{marks:#?}"
    );
    assert!(
        marks[1].starts_with("?4:12 retention: \"retention\" is kept"),
        "{marks:#?}"
    );
    assert!(
        marks[2].starts_with("6:10 steps[0].ref: unknown ref \"a\""),
        "{marks:#?}"
    );
}

#[test]
fn what_a_ref_names_is_in_the_same_folder() {
    let a = "id: a\nkind: llm\nmodel: { provider: p, name: n }\ninstruction: i\ninputSchema: { topic: string }\n";
    let p = "id: p\nkind: sequential\nsteps:\n  - ref: a\n    input: { topic: x }\n  - ref: b\n  - ref: c\n";
    let folder = Folder::new(&[
        ("a.yaml", a),
        ("p.yaml", p),
        ("b.json", "{\"id\": \"b\", \"kind\": \"llm\"}"),
        ("notes.yaml", "- x"),
        ("t.txt", "id: c"),
    ]);
    let marks = folder.marks("p.yaml");
    assert_eq!(marks.len(), 2, "{marks:#?}");
    assert!(
        marks[0].contains("\"b\" stands in b.json, which has problems"),
        "{marks:#?}"
    );
    assert!(marks[1].contains("unknown ref \"c\""), "{marks:#?}");
    let elsewhere = Folder::new(&[("c.yaml", &a.replace("id: a", "id: c").replace("topic", "userQuery"))]);
    let file = load(&folder.path("p.yaml"), Some(elsewhere.0.path())).unwrap();
    assert!(file.refs.contains_key("c"));
}

#[test]
fn tells_four_kinds_of_bad_files_apart() {
    let folder = Folder::new(&[
        ("flow.txt", "id: f"),
        ("broken.yaml", "id: ["),
        ("list.json", "[]"),
        ("word.yml", "hello"),
    ]);
    let said = |name: &str| check(&folder.path(name)).unwrap_err().to_string();
    assert!(said("none.yaml").ends_with("cannot be read: there is no such file"));
    assert!(said("flow.txt").ends_with("is not a flow file: its name must end in .yaml, .yml or .json"));
    assert!(said("broken.yaml").starts_with("the flow is not valid YAML: line "));
    assert_eq!(
        said("list.json"),
        "a flow must have an id and steps, but this is a list"
    );
    assert_eq!(
        said("word.yml"),
        "a flow must have an id and steps, but this is only text"
    );
}

#[test]
fn what_is_saved_is_what_is_read() {
    let folder = Folder::new(&[("f.yaml", GOOD)]);
    let flow = load(&folder.path("f.yaml"), None).unwrap().flow.unwrap();
    let manifest = json!({ "id": "m", "kind": "parallel", "retention": { "days": 3 }, "branches": [{ "ref": "a", "when": "{{userQuery}} == 'yes: no'" }] });
    let manifest = reading::read(&manifest, None).flow.unwrap();
    for flow in [flow, manifest] {
        for name in ["saved.yaml", "saved.json"] {
            let path = folder.path(name);
            save(&path, &flow).unwrap();
            assert_eq!(
                load(&path, None).unwrap().flow.unwrap(),
                flow,
                "{}",
                std::fs::read_to_string(&path).unwrap()
            );
        }
    }
    let names: Vec<_> = std::fs::read_dir(folder.0.path())
        .unwrap()
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    assert!(
        names.iter().all(|name| !name.to_string_lossy().ends_with(".part")),
        "{names:?}"
    );
}

#[test]
fn says_why_a_flow_cannot_be_saved() {
    let folder = Folder::new(&[("f.yaml", GOOD)]);
    let mut flow = load(&folder.path("f.yaml"), None).unwrap().flow.unwrap();
    let error = save(&folder.path("f.txt"), &flow).unwrap_err();
    assert!(matches!(error, FlowFileError::Extension { .. }), "{error}");
    let error = save(&folder.path("none/f.yaml"), &flow).unwrap_err();
    assert!(
        error.to_string().ends_with("cannot be saved: there is no such file"),
        "{error}"
    );
    flow.dialect = Dialect::Manifest;
    let error = save(&folder.path("f.yaml"), &flow).unwrap_err();
    assert!(
        error.to_string().contains("agntz has no kind for the step \"r\""),
        "{error}"
    );
}

#[test]
fn a_passing_plan_saves_as_a_flow_that_reads_back_as_it_was() {
    let plan = json!({
        "reasoning": "r", "estimatedTokens": 1.0,
        "steps": [
            { "id": "step_1", "description": "Read {{it}}", "tools": ["file_read"], "expectedOutcome": "text", "dependencies": [], "args": { "file_read": { "path": "May.csv" } } },
            { "id": "step_2", "description": "Think", "tools": [], "expectedOutcome": "words", "dependencies": ["step_1"] }
        ]
    });
    let task = json!({ "goal": "Sum up", "context": { "month": "May" }, "expectedOutput": "words" });
    let flow = engine::flow::from_plan::plan_to_flow(
        &serde_json::from_value(plan).unwrap(),
        &serde_json::from_value(task).unwrap(),
        &engine::flow::from_plan::Results::new(),
    )
    .unwrap();
    let folder = Folder::new(&[]);
    save(&folder.path("plan.yaml"), &flow).unwrap();
    let file = load(&folder.path("plan.yaml"), None).unwrap();
    assert!(file.check.marks.is_empty(), "{:?}", file.check.marks);
    let hash = |flow: &Flow| contract::Hash::of_value(&serde_json::to_value(flow).unwrap()).unwrap();
    assert_eq!(hash(&file.flow.unwrap()), hash(&flow));
}
