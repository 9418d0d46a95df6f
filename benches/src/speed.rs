//! P1 to P6: chains, many at once, growth, bytes and memory.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::Failed;
use crate::engines::{Engine, Line, Programs};
use crate::figures::Figure;
use crate::report::{Must, Row};
use crate::server::{Reply, Server, new_prose, prose, same};

/// How long a reply is, in characters: larger than what stands in an entry itself.
const REPLY: usize = 2_000;
/// What a model that takes its time takes.
const SLOW: Duration = Duration::from_millis(100);
/// The value that is handed on again and again, in bytes. No packing makes it much smaller.
const SAME: usize = 400_000;

/// All lines of one engine on one workload.
type Lines = Vec<Line>;

/// One thing that is run, again and again, between the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Job {
    workload: &'static str,
    width: Option<u32>,
    engine: Engine,
}

/// What is measured with a model that answers at once.
const INSTANT: &[(&str, &[Engine])] = &[
    ("A", &[Engine::Asking, Engine::Floor, Engine::Tepa, Engine::Strict]),
    ("C", &[Engine::Tepa]),
    ("D", &[Engine::Floor, Engine::Tepa]),
    ("E", &[Engine::Floor, Engine::Tepa]),
    ("K", &[Engine::Tepa]),
];
/// What is measured with one that takes its time.
const WIDE: &[Option<u32>] = &[None, Some(256)];

/// Measures, every kind in turn, so that a busy minute of the machine is everybody's.
pub async fn measure(programs: &Programs, runs: usize) -> Result<Vec<Row>, Failed> {
    let mut all: BTreeMap<Job, Lines> = BTreeMap::new();
    for run in 0..runs {
        say_round(run, runs);
        for (workload, names) in INSTANT {
            for name in *names {
                let server = Server::start(Duration::ZERO, new_prose(REPLY)).await?;
                let line = programs.run(*name, workload, None, &server.url).await?;
                all.entry(job(workload, None, *name)).or_default().push(line);
            }
        }
        for width in WIDE {
            for name in [Engine::Floor, Engine::Tepa] {
                let server = Server::start(SLOW, new_prose(REPLY)).await?;
                let line = programs.run(name, "B", *width, &server.url).await?;
                all.entry(job("B", *width, name)).or_default().push(line);
            }
        }
    }
    let mut rows = rows(&all);
    rows.extend(same_again(programs).await?);
    Ok(rows)
}

#[allow(clippy::print_stderr)]
fn say_round(run: usize, runs: usize) {
    eprintln!("round {} of {runs}", run + 1);
}

fn job(workload: &'static str, width: Option<u32>, engine: Engine) -> Job {
    Job {
        workload,
        width,
        engine,
    }
}

fn rows(all: &BTreeMap<Job, Lines>) -> Vec<Row> {
    let of = |workload, width, name, pick: fn(&Line) -> f64| -> Vec<f64> {
        let lines = all.get(&job(workload, width, name));
        lines.into_iter().flatten().map(pick).collect()
    };
    let step = |workload, name| of(workload, None, name, |line| line.ms_step);
    // Each run with the one that stood beside it, so that what both suffered cancels out.
    let ratio = |one: &[f64], other: &[f64]| Figure::of(one.iter().zip(other).map(|(one, other)| one / other));
    let (asking, floor) = (step("A", Engine::Asking), step("A", Engine::Floor));
    let (tepa, strict) = (step("A", Engine::Tepa), step("A", Engine::Strict));
    let overhead = tepa.iter().zip(&asking).map(|(tepa, asking)| tepa - asking);
    let mut rows = vec![
        Row::beside(
            "P1",
            "A, a step: asking alone",
            Figure::of(asking.iter().copied()),
            "ms",
        ),
        Row::beside("P1", "A, a step: floor", Figure::of(floor.iter().copied()), "ms"),
        Row::beside("P1", "A, a step: tepa", Figure::of(tepa.iter().copied()), "ms"),
        Row::must(
            "P1",
            "A, a step: overhead over asking alone",
            Figure::of(overhead),
            "ms",
            Must::AtMost(0.25),
        ),
        Row::beside(
            "P1",
            "A, a step: tepa --strict",
            Figure::of(strict.iter().copied()),
            "ms",
        ),
        Row::must(
            "P1",
            "A: tepa --strict to floor",
            ratio(&strict, &floor),
            "x",
            Must::AtMost(1.3),
        ),
    ];
    for (width, what, must) in [(None, "B, 64 wide", 1.08), (Some(256), "B, 256 wide", 1.15)] {
        let critical = 2.0 * SLOW.as_secs_f64() * 1000.0;
        let to_critical = |name| {
            Figure::of(
                of("B", width, name, |line| line.wall_ms)
                    .into_iter()
                    .map(|ms| ms / critical),
            )
        };
        rows.push(Row::beside(
            "P2",
            format!("{what}: floor to the critical path"),
            to_critical(Engine::Floor),
            "x",
        ));
        rows.push(Row::must(
            "P2",
            format!("{what}: tepa to the critical path"),
            to_critical(Engine::Tepa),
            "x",
            Must::AtMost(must),
        ));
    }
    rows.push(Row::beside(
        "P3",
        "floor: a step of 1,000 to one of 100",
        ratio(&step("D", Engine::Floor), &floor),
        "x",
    ));
    rows.push(Row::must(
        "P3",
        "tepa: a step of 1,000 to one of 100",
        ratio(&step("D", Engine::Tepa), &tepa),
        "x",
        Must::AtMost(1.15),
    ));
    for workload in ["A", "D"] {
        let bytes = |name| Figure::of(of(workload, None, name, |line| line.db_b_step));
        let content = packed_content();
        if workload == "D" {
            rows.push(Row::beside("P4", "D, a step: floor", bytes(Engine::Floor), "B"));
        }
        rows.push(Row::must(
            "P4",
            format!("{workload}, a step: tepa (content, compressed: {content} B)"),
            bytes(Engine::Tepa),
            "B",
            Must::AtMost((1.2 * content as f64 + 700.0).floor()),
        ));
    }
    let per_second = |name| step("E", name).iter().map(|ms| 1000.0 / ms).collect::<Vec<_>>();
    rows.push(Row::beside(
        "P5",
        "E: floor",
        Figure::of(per_second(Engine::Floor)),
        "steps/s",
    ));
    rows.push(Row::beside(
        "P5",
        "E: tepa",
        Figure::of(per_second(Engine::Tepa)),
        "steps/s",
    ));
    rows.push(Row::must(
        "P5",
        "E: tepa to floor",
        ratio(&per_second(Engine::Tepa), &per_second(Engine::Floor)),
        "x",
        Must::AtLeast(0.7),
    ));
    rows.extend(memory(all));
    rows
}

fn memory(all: &BTreeMap<Job, Lines>) -> Vec<Row> {
    let peaks = |job: &Job| all.get(job).into_iter().flatten().map(|line| line.rss_kb / 1024.0);
    let mut rows: Vec<Row> = all
        .keys()
        .filter(|job| job.engine == Engine::Tepa)
        .map(|job| {
            let width = job.width.map(|width| format!(", {width} wide")).unwrap_or_default();
            let what = format!("{}{width}: the most memory of tepa", job.workload);
            Row::must("P6", what, Figure::of(peaks(job)), "MB", Must::AtMost(25.0))
        })
        .collect();
    let (a, d) = (job("A", None, Engine::Tepa), job("D", None, Engine::Tepa));
    let more = Figure::of(peaks(&d).zip(peaks(&a)).map(|(d, a)| d - a));
    rows.push(Row::must(
        "P6",
        "from 100 to 1,000 steps",
        more,
        "MB",
        Must::AtMost(2.0),
    ));
    rows
}

/// What a step of a chain has as its content, compressed on its own: the reply it is told, and the one it gets.
fn packed_content() -> usize {
    let sizes = (1..=50).map(|seed| packed(prose(seed, REPLY).as_bytes()));
    2 * sizes.sum::<usize>() / 50
}

fn packed(bytes: &[u8]) -> usize {
    zstd::bulk::compress(bytes, 3).map_or(bytes.len(), |packed| packed.len())
}

/// The same large value through 100 steps, to its bytes once as a question and once as an answer.
async fn same_again(programs: &Programs) -> Result<Vec<Row>, Failed> {
    let mut random = fastrand::Rng::with_seed(7);
    let text: String = (0..SAME).map(|_| random.alphanumeric()).collect();
    let once = 2 * packed(text.as_bytes());
    let reply: Reply = same(text);
    let server = Server::start(Duration::ZERO, reply).await?;
    let line = programs.run(Engine::Tepa, "A", None, &server.url).await?;
    let entries = 700.0 * f64::from(line.steps);
    let bytes = line.db_b_step * f64::from(line.steps);
    let ratio = Figure::of([(bytes - entries) / once as f64]);
    Ok(vec![Row::must(
        "P4",
        "the same 400 kB through 100 steps, to once (700 B a step apart)",
        ratio,
        "x",
        Must::AtMost(1.05),
    )])
}
