//! P9: killed in the middle, how long from the next start to the next question.

use std::path::Path;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::Failed;
use crate::engines::{Engine, Programs};
use crate::figures::Figure;
use crate::report::{Must, Row};
use crate::server::{Server, prose, same};

/// After how many questions the process is killed.
const KILL_AFTER: usize = 12;

/// Milliseconds from the start of the process that resumes to the first question it asks.
pub async fn measure(programs: &Programs, runs: usize) -> Result<Vec<Row>, Failed> {
    let mut times = Vec::new();
    let mut repeated = Vec::new();
    for _ in 0..runs {
        let folder = tempfile::tempdir().map_err(|error| Failed::at("a folder for the database", error))?;
        let (time, again) = one(programs, &folder.path().join("bench.db")).await?;
        times.push(time);
        repeated.push(again);
    }
    Ok(vec![
        Row::must(
            "P9",
            "from the start of the process to its next question",
            Figure::of(times),
            "ms",
            Must::AtMost(50.0),
        ),
        Row::must(
            "P9",
            "finished steps asked again",
            Figure::of(repeated),
            "",
            Must::AtMost(0.0),
        ),
    ])
}

async fn one(programs: &Programs, db: &Path) -> Result<(f64, f64), Failed> {
    let server = Server::start(Duration::from_millis(5), same(prose(1, 2_000))).await?;
    let command = || programs.command(Engine::Tepa, "K", None, &server.url, db);
    let failed = |error: std::io::Error| Failed::at("tepa", error);
    let mut killed = command().stdout(std::process::Stdio::null()).spawn().map_err(failed)?;
    while server.steps().len() < KILL_AFTER {
        if let Some(ended) = killed.try_wait().map_err(failed)? {
            return Err(Failed(format!("tepa ended by itself: {ended}")));
        }
        sleep(Duration::from_micros(200)).await;
    }
    killed.kill().await.map_err(failed)?;
    let before = server.steps();
    let started = Instant::now();
    let done = command().output().await.map_err(failed)?;
    if !done.status.success() {
        return Err(Failed(format!(
            "tepa did not go on: {}",
            String::from_utf8_lossy(&done.stdout)
        )));
    }
    let all = server.steps();
    let Some((first, asked)) = all.get(before.len()) else {
        return Err(Failed("tepa asked nothing more".to_owned()));
    };
    // The last question before the kill may have had no answer; all before it had.
    let finished = &before[..before.len() - 1];
    let again = all[before.len()..]
        .iter()
        .filter(|(step, _)| finished.iter().any(|(earlier, _)| earlier == step));
    let again = again.count() as f64;
    if first.is_empty() {
        return Err(Failed("a question came without its step".to_owned()));
    }
    Ok((asked.duration_since(started).as_secs_f64() * 1000.0, again))
}
