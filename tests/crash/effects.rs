//! R4: the process dies between a change of a file and its record, or between the word that it will be made and the
//! change. Started again, the app finds out by the file's hash which it was; where the file is neither as before nor
//! as after, a person decides. Nothing is done twice without a word.

use crate::inspect::{events, sound};
use crate::place::Place;
use crate::tally::{Tally, try_all};
use crate::{full, seed};

const BEFORE: &str = "one\n";
/// What somebody else made of the file meanwhile.
const STRANGE: &str = "strange one\n";

/// What happens in one try.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Try {
    work: &'static str,
    die: &'static str,
    /// Whether the file is changed by somebody else before the app is started again, and what the person says then.
    meanwhile: Option<&'static str>,
}

fn tries(work: &'static str) -> Vec<Try> {
    let mut random = fastrand::Rng::with_seed(seed());
    let count = if full() { 100 } else { 8 };
    // Each kind at least once, the rest by chance.
    let mut all: Vec<Try> = ["before", "after"]
        .into_iter()
        .flat_map(|die| [None, Some("mark"), Some("again"), Some("stop")].map(|meanwhile| Try { work, die, meanwhile }))
        .collect();
    while all.len() < count {
        all.push(all[random.usize(..8)]);
    }
    all
}

/// What one change makes of a text.
fn changed(work: &str, text: &str) -> String {
    match work {
        "write" => "new\n".to_owned(),
        "append" => format!("{text}more\n"),
        _ => text.replacen("one", "two and one", 1),
    }
}

fn check(a_try: Try, mutant: &[&str]) -> Result<(), String> {
    let Try { work, die, meanwhile } = a_try;
    let place = Place::new();
    let file = place.file("target.txt");
    std::fs::write(&file, BEFORE).unwrap();
    let died = place.run(&[&[work, &format!("die={die}")], mutant].concat());
    if !died.was_killed() && !died.complained.is_empty() {
        return Err(format!("it was not killed: {}", died.complained));
    }
    sound(&place.data())?;
    if meanwhile.is_some() {
        std::fs::write(&file, STRANGE).unwrap();
    }
    let answer = format!("answer={}", meanwhile.unwrap_or("stop"));
    let ran = place.run(&[&[work, &answer], mutant].concat());
    ran.must_finish()?;
    let executed = ran.log.iter().filter(|line| line.starts_with("tool ")).count();
    let was_asked = ran.said.contains(&"uncertain".to_owned());
    let (executions, text) = match (meanwhile, die) {
        (None, "after") => (0, changed(work, BEFORE)),
        (None, _) => (1, changed(work, BEFORE)),
        (Some("again"), _) => (1, changed(work, STRANGE)),
        (Some(_), _) => (0, STRANGE.to_owned()),
    };
    let found = std::fs::read_to_string(&file).unwrap();
    let expected = (executions, meanwhile.is_some(), text);
    if (executed, was_asked, found.clone()) != expected {
        return Err(format!(
            "{a_try:?}: (executed, asked, file) is {:?}, not {expected:?}",
            (executed, was_asked, found)
        ));
    }
    let ended = if meanwhile == Some("stop") {
        "finished Cancelled"
    } else {
        "finished Passed"
    };
    if ran.said.last().map(String::as_str) != Some(ended) {
        return Err(format!("{a_try:?}: it ended with {:?}", ran.said.last()));
    }
    events(&place.data())?;
    sound(&place.data())
}

/// What nobody can look up is asked about whenever it was begun, and never done again without a word.
fn check_sent(a_try: Try, mutant: &[&str]) -> Result<(), String> {
    let Try { work, die, meanwhile } = a_try;
    let place = Place::new();
    let file = place.file("target.txt");
    std::fs::write(&file, BEFORE).unwrap();
    let died = place.run(&[&[work, &format!("die={die}")], mutant].concat());
    if !died.was_killed() && !died.complained.is_empty() {
        return Err(format!("it was not killed: {}", died.complained));
    }
    sound(&place.data())?;
    let answer = meanwhile.unwrap_or("stop");
    let ran = place.run(&[&[work, &format!("answer={answer}")], mutant].concat());
    ran.must_finish()?;
    let executed = ran.log.iter().filter(|line| line.starts_with("tool ")).count();
    let was_asked = ran.said.contains(&"uncertain".to_owned());
    let sent = usize::from(die == "after") + usize::from(answer == "again");
    let expected = (
        usize::from(answer == "again"),
        true,
        format!("{BEFORE}{}", "more\n".repeat(sent)),
    );
    let found = (executed, was_asked, std::fs::read_to_string(&file).unwrap());
    if found != expected {
        return Err(format!(
            "{a_try:?}: (executed, asked, sent) is {found:?}, not {expected:?}"
        ));
    }
    let ended = if answer == "stop" {
        "finished Cancelled"
    } else {
        "finished Passed"
    };
    if ran.said.last().map(String::as_str) != Some(ended) {
        return Err(format!("{a_try:?}: it ended with {:?}", ran.said.last()));
    }
    events(&place.data())?;
    sound(&place.data())
}

fn check_all_sent(mutant: &[&str]) -> Tally {
    try_all(tries("send").into_iter(), !mutant.is_empty(), |a_try| {
        Some(check_sent(a_try, mutant))
    })
}

#[test]
fn a_request_or_command_that_was_cut_short_is_asked_about() {
    check_all_sent(&[]).must_hold("R4 send");
}

#[test]
fn a_request_without_a_word_before_it_is_noticed() {
    check_all_sent(&["mutant=blind"]).must_be_noticed("R4 requests without a word");
}

fn check_all(work: &'static str, mutant: &[&str]) -> Tally {
    try_all(tries(work).into_iter(), !mutant.is_empty(), |a_try| {
        Some(check(a_try, mutant))
    })
}

#[test]
fn a_write_that_was_cut_short_is_settled() {
    check_all("write", &[]).must_hold("R4 write");
}

#[test]
fn an_append_that_was_cut_short_is_settled() {
    check_all("append", &[]).must_hold("R4 append");
}

#[test]
fn an_edit_that_was_cut_short_is_settled() {
    check_all("edit", &[]).must_hold("R4 edit");
}

#[test]
fn a_change_without_a_word_before_it_is_noticed() {
    check_all("append", &["mutant=blind"]).must_be_noticed("R4 changes without a word");
}
