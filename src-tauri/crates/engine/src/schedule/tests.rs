//! Items whose every moment is behind a gate that the test opens, so that nothing depends on time.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use contract::step::StepError;
use futures::executor::LocalPool;
use futures::task::LocalSpawnExt;

use super::*;
use crate::order::kahn;

#[derive(Default)]
struct Stage {
    log: Vec<String>,
    open: HashSet<String>,
    waiting: HashMap<String, oneshot::Sender<()>>,
    working: usize,
    most_working: usize,
}

type Shown = Rc<RefCell<Stage>>;

async fn gate(stage: &Shown, name: String) {
    if stage.borrow().open.contains(&name) {
        return;
    }
    let (sender, receiver) = oneshot::channel();
    stage.borrow_mut().waiting.insert(name, sender);
    let _ = receiver.await;
}

fn say(stage: &Shown, words: String) {
    stage.borrow_mut().log.push(words);
}

#[derive(Clone)]
enum Act {
    Think,
    Read,
    Write,
    Alone,
    /// Waits for a person.
    Ask,
    /// Waits for a person who is not there, before it writes.
    AskNobody,
    Fail,
}

struct Play {
    pool: LocalPool,
    stage: Shown,
    ended: Rc<RefCell<Option<Result<usize, Halt>>>>,
}

impl Play {
    /// Starts items, each with what it does and what it needs.
    fn of(limit: usize, acts: Vec<(String, Act, Vec<usize>)>) -> Self {
        let stage = Shown::default();
        let ended = Rc::new(RefCell::new(None));
        let items: Vec<Item> = acts
            .iter()
            .map(|(_, act, after)| Item {
                after: after.clone(),
                uses: match act {
                    Act::Read => Use::Reads,
                    Act::Write | Act::Alone | Act::AskNobody => Use::Writes,
                    Act::Think | Act::Ask | Act::Fail => Use::Nothing,
                },
                alone: matches!(act, Act::Alone),
            })
            .collect();
        let order = kahn(&items.iter().map(|item| item.after.clone()).collect::<Vec<_>>()).unwrap();
        let pool = LocalPool::new();
        let (shown, end) = (Rc::clone(&stage), Rc::clone(&ended));
        let all = async move {
            let start = |place: usize, turn: Turn, _: &[Option<()>]| {
                let (name, act, _) = acts[place].clone();
                perform(Rc::clone(&shown), name, act, turn)
            };
            let results = run(&items, &order, limit, start, |_, ()| ControlFlow::Continue(())).await;
            *end.borrow_mut() = Some(results.map(|results| results.into_iter().flatten().count()));
        };
        pool.spawner().spawn_local(all).unwrap();
        let mut play = Self { pool, stage, ended };
        play.pool.run_until_stalled();
        play
    }

    fn named(limit: usize, acts: &[(&str, Act)]) -> Self {
        Self::of(
            limit,
            acts.iter()
                .map(|(name, act)| (name.to_string(), act.clone(), Vec::new()))
                .collect(),
        )
    }

    /// Opens gates, one after the other.
    fn open(&mut self, names: &[&str]) {
        for name in names {
            self.stage.borrow_mut().open.insert(name.to_string());
            let waiting = self.stage.borrow_mut().waiting.remove(*name);
            if let Some(waiting) = waiting {
                let _ = waiting.send(());
            }
            self.pool.run_until_stalled();
        }
    }

    /// What happened since this was asked last.
    fn log(&self) -> Vec<String> {
        std::mem::take(&mut self.stage.borrow_mut().log)
    }

    fn ended(&self) -> Option<Result<usize, Halt>> {
        self.ended.borrow().clone()
    }
}

/// Thinks until its gate opens; then acts, when it is one that acts, until the gate `name!` opens.
async fn perform(stage: Shown, name: String, act: Act, turn: Turn) -> Result<(), Halt> {
    let work = |more: bool| {
        let mut stage = stage.borrow_mut();
        stage.working = if more { stage.working + 1 } else { stage.working - 1 };
        stage.most_working = stage.most_working.max(stage.working);
    };
    say(&stage, format!("{name} thinks"));
    work(true);
    gate(&stage, name.clone()).await;
    work(false);
    match act {
        Act::Think => {}
        Act::Fail => return Err(Halt::Failed(StepError::new("failed", name))),
        Act::Read => turn.to_read().await?,
        Act::Write | Act::Alone => turn.to_write().await?,
        Act::Ask => turn.away(gate(&stage, format!("{name}?"))).await?,
        Act::AskNobody => return Err(Halt::Waiting),
    }
    if matches!(act, Act::Read | Act::Write | Act::Alone) {
        say(&stage, format!("{name} acts"));
        work(true);
        gate(&stage, format!("{name}!")).await;
        work(false);
    }
    say(&stage, format!("{name} ends"));
    Ok(())
}

#[test]
fn overlaps_as_much_as_is_allowed_and_begins_with_the_first() {
    let mut play = Play::named(2, &[("a", Act::Think), ("b", Act::Think), ("c", Act::Think)]);
    assert_eq!(play.log(), ["a thinks", "b thinks"]);
    play.open(&["b"]);
    assert_eq!(play.log(), ["b ends", "c thinks"]);
    play.open(&["c", "a"]);
    assert_eq!((play.log().len(), play.ended()), (2, Some(Ok(3))));
}

#[test]
fn with_one_slot_nothing_overlaps_not_even_a_wait() {
    let mut play = Play::named(1, &[("a", Act::Ask), ("b", Act::Read), ("c", Act::Think)]);
    play.open(&["a"]);
    assert_eq!(play.log(), ["a thinks"]);
    play.open(&["a?", "b", "b!", "c"]);
    assert_eq!(
        play.log(),
        ["a ends", "b thinks", "b acts", "b ends", "c thinks", "c ends"]
    );
}

#[test]
fn a_change_waits_for_every_earlier_execution_and_holds_back_every_later_one() {
    let mut play = Play::named(
        9,
        &[("r", Act::Read), ("w", Act::Write), ("s", Act::Read), ("t", Act::Think)],
    );
    play.open(&["w", "s", "t"]);
    assert_eq!(play.log(), ["r thinks", "w thinks", "s thinks", "t thinks", "t ends"]);
    play.open(&["r"]);
    assert_eq!(play.log(), ["r acts"]);
    play.open(&["r!"]);
    assert_eq!(play.log(), ["r ends", "w acts"]);
    play.open(&["w!"]);
    assert_eq!(play.log(), ["w ends", "s acts"]);
}

#[test]
fn executions_that_only_read_overlap() {
    let mut play = Play::named(9, &[("a", Act::Read), ("b", Act::Read)]);
    play.open(&["b", "a"]);
    assert_eq!(play.log(), ["a thinks", "b thinks", "b acts", "a acts"]);
}

#[test]
fn what_must_be_alone_waits_for_all_before_it_and_holds_back_all_after_it() {
    let mut play = Play::named(9, &[("a", Act::Think), ("pad", Act::Alone), ("b", Act::Think)]);
    assert_eq!(play.log(), ["a thinks"]);
    play.open(&["a"]);
    assert_eq!(play.log(), ["a ends", "pad thinks"]);
    play.open(&["pad", "pad!"]);
    assert_eq!(play.log(), ["pad acts", "pad ends", "b thinks"]);
}

#[test]
fn whoever_waits_for_a_person_or_a_turn_holds_no_slot() {
    let mut play = Play::named(
        1 + 1,
        &[("a", Act::Ask), ("r", Act::Read), ("w", Act::Write), ("t", Act::Think)],
    );
    play.open(&["a"]);
    assert_eq!(play.log(), ["a thinks", "r thinks", "w thinks"]);
    play.open(&["w"]);
    assert_eq!(play.log(), ["t thinks"], "w waits for r and lets t begin");
    play.open(&["a?"]);
    assert_eq!(play.log(), Vec::<String>::new(), "who comes back waits for a slot");
    play.open(&["t"]);
    assert_eq!(play.log(), ["t ends", "a ends"]);
    play.open(&["r", "r!", "w!"]);
    assert_eq!(play.ended(), Some(Ok(4)));
    assert!(play.stage.borrow().most_working <= 2);
}

#[test]
fn a_halt_lets_nothing_more_begin_and_tells_whoever_waits() {
    let mut play = Play::named(
        3,
        &[("f", Act::Fail), ("r", Act::Read), ("w", Act::Write), ("t", Act::Think)],
    );
    play.open(&["w"]);
    assert_eq!(play.log(), ["f thinks", "r thinks", "w thinks", "t thinks"]);
    play.open(&["f"]);
    assert_eq!(play.ended(), None, "what is in flight is seen to its end");
    play.open(&["r", "r!", "t"]);
    assert_eq!(play.log(), ["t ends"], "no execution begins");
    assert!(matches!(play.ended(), Some(Err(Halt::Failed(_)))));
}

#[test]
fn when_nobody_answers_everything_else_goes_on_as_far_as_it_can() {
    let acts = [
        ("q", Act::AskNobody),
        ("t", Act::Think),
        ("r", Act::Read),
        ("u", Act::Think),
    ];
    let mut acts: Vec<_> = acts.map(|(name, act)| (name.to_owned(), act, Vec::new())).into();
    acts.push(("needs".to_owned(), Act::Think, vec![0]));
    let mut play = Play::of(2, acts);
    play.open(&["r", "q", "t", "u"]);
    assert_eq!(
        play.log(),
        ["q thinks", "t thinks", "r thinks", "u thinks", "t ends", "u ends"]
    );
    assert_eq!(play.ended(), Some(Err(Halt::Waiting)));
}

#[test]
fn whoever_comes_after_what_needs_an_absent_person_is_told_so() {
    let act = |name: &str, act: Act, after: &[usize]| (name.to_owned(), act, after.to_vec());
    let mut play = Play::of(
        4,
        vec![
            act("s", Act::AskNobody, &[]),
            act("x", Act::Think, &[]),
            act("t", Act::Think, &[0]),
            act("y", Act::Think, &[1]),
            act("p", Act::Write, &[2]),
            act("w", Act::Write, &[3]),
        ],
    );
    play.open(&["x", "y", "w", "s"]);
    assert_eq!(play.ended(), Some(Err(Halt::Waiting)), "{:?}", play.log());
}

/// Two items with two inside each; all of them write, and the inner ones are gates `00`, `01`, `10`, `11`.
#[test]
fn what_lies_in_an_item_comes_where_the_item_comes() {
    let items = vec![
        Item {
            uses: Use::Writes,
            ..Item::default()
        };
        2
    ];
    let stage = Shown::default();
    let mut pool = LocalPool::new();
    let shown = Rc::clone(&stage);
    let all = async move {
        let outer = |place: usize, turn: Turn, _: &[Option<usize>]| {
            let (shown, items) = (Rc::clone(&shown), &items);
            async move {
                let inner = |inside: usize, turn: Turn, _: &[Option<()>]| {
                    perform(Rc::clone(&shown), format!("{place}{inside}"), Act::Write, turn)
                };
                let go_on = |_: usize, (): &()| ControlFlow::Continue(());
                let done = run_within(Some(&turn), items, &[0, 1], 2, inner, go_on).await?;
                Ok(done.len())
            }
        };
        let done = run(&items, &[0, 1], 2, outer, |_, _| ControlFlow::Continue(())).await;
        assert_eq!(done, Ok(vec![Some(2), Some(2)]));
        say(&shown, "all ended".to_owned());
    };
    pool.spawner().spawn_local(all).unwrap();
    pool.run_until_stalled();
    let mut open = |name: &str| {
        stage.borrow_mut().open.insert(name.to_owned());
        let waiting = stage.borrow_mut().waiting.remove(name);
        if let Some(waiting) = waiting {
            let _ = waiting.send(());
        }
        pool.run_until_stalled();
        std::mem::take(&mut stage.borrow_mut().log)
    };
    assert_eq!(open("11").len(), 4, "all four think");
    assert_eq!(open("10"), Vec::<String>::new());
    assert_eq!(open("01"), Vec::<String>::new());
    assert_eq!(open("00"), ["00 acts"]);
    assert_eq!(open("00!"), ["00 ends", "01 acts"]);
    assert_eq!(open("01!"), ["01 ends", "10 acts"]);
    assert_eq!(open("10!"), ["10 ends", "11 acts"]);
    assert_eq!(open("11!"), ["11 ends", "all ended"]);
}

#[test]
fn nothing_more_begins_when_the_results_say_so() {
    let items = vec![Item::default(); 3];
    let start = |place: usize, _: Turn, _: &[Option<usize>]| std::future::ready(Ok(place));
    let results = run(&items, &[0, 1, 2], 1, start, |place, _| {
        if place == 1 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    });
    assert_eq!(futures::executor::block_on(results), Ok(vec![Some(0), Some(1), None]));
}

#[test]
fn what_never_begins_holds_nobody_back() {
    // The second needs the first, after which nothing begins; the third waits for the second's turn.
    let uses = |uses, after: &[usize]| Item {
        after: after.to_vec(),
        uses,
        alone: false,
    };
    let items = [
        uses(Use::Nothing, &[]),
        uses(Use::Nothing, &[]),
        uses(Use::Writes, &[0]),
        uses(Use::Writes, &[1]),
    ];
    let stage = Shown::default();
    let mut pool = LocalPool::new();
    let shown = Rc::clone(&stage);
    let all = async move {
        let start = |place: usize, turn: Turn, _: &[Option<usize>]| {
            let shown = Rc::clone(&shown);
            async move {
                gate(&shown, place.to_string()).await;
                if place == 3 {
                    turn.to_write().await?;
                }
                Ok(place)
            }
        };
        let results = run(&items, &[0, 1, 2, 3], 4, start, |place, _| match place {
            0 => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        assert_eq!(results.await, Ok(vec![Some(0), Some(1), None, Some(3)]));
        say(&shown, "ended".to_owned());
    };
    pool.spawner().spawn_local(all).unwrap();
    pool.run_until_stalled();
    for name in ["1", "3", "0"] {
        let waiting = stage.borrow_mut().waiting.remove(name);
        let _ = waiting.unwrap().send(());
        pool.run_until_stalled();
    }
    assert_eq!(stage.borrow().log, ["ended"]);
}

/// Numbers that look random and are the same every time.
struct Dice(u64);

impl Dice {
    fn below(&mut self, sides: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % sides
    }
}

#[test]
fn whatever_the_timing_changes_come_in_order_and_alone() {
    for seed in 0..300 {
        let mut dice = Dice(seed);
        let count = 2 + dice.below(12);
        let limit = 1 + dice.below(5);
        let acts: Vec<_> = (0..count)
            .map(|place| {
                let act = [Act::Think, Act::Read, Act::Write, Act::Alone, Act::Ask][dice.below(5)].clone();
                let after: Vec<usize> = (0..place).filter(|_| dice.below(4) == 0).collect();
                (place.to_string(), act, after)
            })
            .collect();
        let order = kahn(&acts.iter().map(|(_, _, after)| after.clone()).collect::<Vec<_>>()).unwrap();
        let mut play = Play::of(limit, acts.clone());
        while play.ended().is_none() {
            let mut waiting: Vec<String> = play.stage.borrow().waiting.keys().cloned().collect();
            waiting.sort();
            assert!(!waiting.is_empty(), "seed {seed}: everybody waits for somebody");
            let next = waiting[dice.below(waiting.len())].clone();
            play.open(&[&next]);
        }
        assert_eq!(play.ended(), Some(Ok(count)), "seed {seed}");
        assert!(play.stage.borrow().most_working <= limit, "seed {seed}");
        check_order(seed, &acts, &order, &play.log());
    }
}

/// Between the beginning and the end of an execution that changes something nothing else executes,
/// and everything earlier in the order is over.
fn check_order(seed: u64, acts: &[(String, Act, Vec<usize>)], order: &[usize], log: &[String]) {
    let at = |words: String| log.iter().position(|line| *line == words);
    let executions: Vec<(usize, bool)> = order
        .iter()
        .filter_map(|&place| match acts[place].1 {
            Act::Read => Some((place, false)),
            Act::Write | Act::Alone => Some((place, true)),
            Act::Think | Act::Ask | Act::AskNobody | Act::Fail => None,
        })
        .collect();
    for (index, &(place, changes)) in executions.iter().enumerate() {
        for &(earlier, changed) in &executions[..index] {
            if changes || changed {
                let (end, begin) = (at(format!("{earlier} ends")), at(format!("{place} acts")));
                assert!(
                    end < begin,
                    "seed {seed}: {place} acts before {earlier} ends in {log:?}"
                );
            }
        }
    }
}

/// How often the items are looked at, all in all.
fn polls(count: usize, uses: Use, needs: impl Fn(usize) -> Vec<usize>) -> usize {
    let items: Vec<Item> = (0..count)
        .map(|place| Item {
            after: needs(place),
            uses,
            alone: false,
        })
        .collect();
    let order: Vec<usize> = (0..count).collect();
    let polls = Rc::new(RefCell::new(0));
    let start = |_: usize, turn: Turn, _: &[Option<()>]| {
        let polls = Rc::clone(&polls);
        async move {
            let mut work = std::pin::pin!(async move {
                match uses {
                    Use::Nothing => Ok(()),
                    Use::Reads => turn.to_read().await,
                    Use::Writes => turn.to_write().await,
                }
            });
            poll_fn(|context| {
                *polls.borrow_mut() += 1;
                work.as_mut().poll(context)
            })
            .await
        }
    };
    let done = futures::executor::block_on(run(&items, &order, 4, start, |_, ()| ControlFlow::Continue(())));
    assert_eq!(done.unwrap().len(), count);
    *polls.borrow()
}

#[test]
fn ten_times_the_steps_are_ten_times_the_work() {
    let chain = |place: usize| place.checked_sub(1).into_iter().collect::<Vec<_>>();
    for uses in [Use::Nothing, Use::Reads, Use::Writes] {
        assert!(polls(10_000, uses, chain) <= 10 * polls(1_000, uses, chain) + 100);
        let wide = |_: usize| Vec::new();
        assert!(polls(10_000, uses, wide) <= 10 * polls(1_000, uses, wide) + 100);
    }
}
