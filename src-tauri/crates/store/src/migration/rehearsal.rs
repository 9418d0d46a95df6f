//! Each migration is rehearsed: a filled store of the format before it is opened by a process that is killed
//! before every statement, at every commit, and at its calls to the system; the next open finds everything.
//!
//! It goes over whatever lies in `migrations/`; a migration that adds a table adds rows to `filled` too. The
//! victim is this same test, started again with its orders in the environment. `TEPA_CRASH=full` kills at every
//! call to the system, not at every few.

#![allow(clippy::unwrap_used, clippy::print_stdout)]

mod filled;
mod statements;

use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use sqlx::migrate::{Migration, Migrator};
use sqlx::{AssertSqlSafe, ConnectOptions, SqlSafeStr};

use self::filled::Everything;
use self::statements::statements;
use super::{MIGRATOR, format, migrate};
use crate::connection::writing;
use crate::open::{DATABASE, Store};

const FOLDER: &str = "STORE_TEST_REHEARSAL_FOLDER";
const POINT: &str = "STORE_TEST_REHEARSAL_POINT";
const CAST: &str = "STORE_TEST_REHEARSAL_CAST";
const VICTIM: &str = "migration::rehearsal::the_victim_migrates_until_it_is_killed";
const PATIENCE: Duration = Duration::from_secs(20);
/// The calls to the system that change files.
const CALLS: [&str; 6] = ["pwrite64", "write", "fdatasync", "fsync", "ftruncate", "rename"];

/// What is migrated with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cast {
    /// The migrations as they are.
    Real,
    /// None of them in a transaction: what the rehearsal must notice.
    Torn,
    /// One more at the end, which fails, so that the copy is put back.
    Failing,
}

impl Cast {
    fn name(self) -> &'static str {
        match self {
            Self::Real => "real",
            Self::Torn => "torn",
            Self::Failing => "failing",
        }
    }

    fn named(name: &str) -> Self {
        let all = [Self::Real, Self::Torn, Self::Failing];
        all.into_iter().find(|cast| cast.name() == name).unwrap()
    }

    fn migrations(self) -> Vec<Migration> {
        let mut all: Vec<Migration> = MIGRATOR.iter().cloned().collect();
        match self {
            Self::Real => {}
            Self::Torn => all.iter_mut().for_each(|migration| migration.no_tx = true),
            Self::Failing => {
                let mut failing = all[0].clone();
                failing.version = i64::MAX;
                all.push(failing);
            }
        }
        all
    }
}

/// Where the victim is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Point {
    /// In this migration, before this statement; one more than there are is after the last.
    Statement(i64, usize),
    /// When it is about to commit for the nth time.
    Commit(usize),
    /// Wherever the one who started it sees fit.
    Outside,
}

impl Point {
    fn name(self) -> String {
        match self {
            Self::Statement(version, place) => format!("statement {version} {place}"),
            Self::Commit(count) => format!("commit {count}"),
            Self::Outside => "outside".to_owned(),
        }
    }

    fn named(name: &str) -> Self {
        let words: Vec<&str> = name.split(' ').collect();
        match words[..] {
            ["statement", version, place] => Self::Statement(version.parse().unwrap(), place.parse().unwrap()),
            ["commit", count] => Self::Commit(count.parse().unwrap()),
            _ => Self::Outside,
        }
    }
}

/// The migrations, with the order to kill written in at its place.
fn migrator(cast: Cast, point: Point) -> Migrator {
    let mut all = cast.migrations();
    if let Point::Statement(version, place) = point {
        let migration = all.iter_mut().find(|migration| migration.version == version).unwrap();
        let mut pieces = statements(migration.sql.as_str());
        pieces.insert(place, "INSERT INTO temp.kill_here (id) VALUES (1);".to_owned());
        migration.sql = AssertSqlSafe(pieces.concat()).into_sql_str();
    }
    Migrator::with_migrations(all)
}

/// Does in the open what `Store::open` does behind its doors, so that SQLite can tell where it is.
async fn migrate_until_killed(folder: &Path, cast: Cast, point: Point) {
    let migrator = migrator(cast, point);
    if point == Point::Outside {
        let opened = Store::open_with(folder, &migrator, PATIENCE).await;
        assert_eq!(opened.is_ok(), cast == Cast::Real, "{opened:?}");
        return;
    }
    let database = folder.join(DATABASE);
    let mut connection = writing(&database).connect().await.unwrap();
    let from = format(&mut connection, &migrator).await.unwrap();
    sqlx::query("CREATE TEMP TABLE kill_here (id INTEGER)")
        .execute(&mut connection)
        .await
        .unwrap();
    let mut left = match point {
        Point::Commit(count) => count,
        Point::Statement(..) | Point::Outside => usize::MAX,
    };
    let mut handle = connection.lock_handle().await.unwrap();
    handle.set_update_hook(|change| {
        if change.table == "kill_here" {
            kill_myself();
        }
    });
    handle.set_commit_hook(move || {
        left -= 1;
        if left == 0 {
            kill_myself();
        }
        true
    });
    drop(handle);
    migrate(connection, &database, from, &migrator).await.unwrap();
}

/// SIGKILL: no destructor runs, nothing is flushed.
fn kill_myself() -> ! {
    let _ = Command::new("kill")
        .args(["-9", &std::process::id().to_string()])
        .status();
    std::process::abort()
}

#[tokio::test]
async fn the_victim_migrates_until_it_is_killed() {
    let order = |name: &str| std::env::var(name).ok();
    if let (Some(folder), Some(point), Some(cast)) = (order(FOLDER), order(POINT), order(CAST)) {
        migrate_until_killed(Path::new(&folder), Cast::named(&cast), Point::named(&point)).await;
    }
}

/// A store to be migrated, and what must be in it afterwards.
struct Rehearsal {
    folder: tempfile::TempDir,
    expected: Everything,
}

impl Rehearsal {
    /// A filled store in the format before the migration at this place, and what an undisturbed one holds.
    async fn before(place: usize) -> Self {
        let undisturbed = filled::folder(place).await;
        let expected = Everything::of(undisturbed.path()).await.unwrap();
        expected.holds_what_was_filled_in(place);
        Self {
            folder: filled::folder(place).await,
            expected,
        }
    }

    /// The same store again, as it was.
    fn copy(&self) -> tempfile::TempDir {
        let copy = tempfile::tempdir().unwrap();
        let copied = Command::new("cp")
            .arg("-a")
            .arg(self.folder.path().join("."))
            .arg(copy.path())
            .status()
            .unwrap();
        assert!(copied.success());
        copy
    }

    /// Whether the victim was killed at that point, or had ended before; and what is wrong afterwards.
    async fn kill(&self, cast: Cast, point: Point, strace: &[String]) -> (bool, Result<(), String>) {
        let folder = self.copy();
        let victim = std::env::current_exe().unwrap();
        let mut command = match strace {
            [] => Command::new(victim),
            [program, arguments @ ..] => {
                let mut command = Command::new(program);
                command.args(arguments).arg(victim);
                command
            }
        };
        let status = command
            .args([VICTIM, "--exact", "--test-threads=1"])
            .env(FOLDER, folder.path())
            .env(POINT, point.name())
            .env(CAST, cast.name())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .unwrap();
        let killed = status.signal() == Some(9);
        assert!(killed || status.success(), "{cast:?}, {point:?}: it ended otherwise");
        let found = Everything::of(folder.path()).await;
        let outcome = match found {
            Ok(found) if found == self.expected => Ok(()),
            Ok(_) => Err("something is missing".to_owned()),
            Err(error) => Err(error),
        };
        (killed, outcome)
    }
}

/// Kills at every statement and at every commit of each migration. Returns how often, and what went wrong.
async fn kill_everywhere(cast: Cast) -> (usize, Vec<String>) {
    let (mut kills, mut wrong) = (0, Vec::new());
    for (place, migration) in MIGRATOR.iter().enumerate() {
        let rehearsal = Rehearsal::before(place).await;
        let count = statements(migration.sql.as_str()).len();
        let inside = (0..=count).map(|statement| Point::Statement(migration.version, statement));
        for point in inside.chain((1..).map(Point::Commit)) {
            let (killed, outcome) = rehearsal.kill(cast, point, &[]).await;
            if let Err(error) = outcome {
                wrong.push(format!("killed at {point:?}: {error}"));
                // A mutant is caught; more of it proves nothing.
                if cast == Cast::Torn {
                    return (kills, wrong);
                }
            }
            match (killed, point) {
                (true, _) => kills += 1,
                (false, Point::Commit(_)) => break,
                (false, _) => wrong.push(format!("{point:?} was not reached")),
            }
        }
    }
    (kills, wrong)
}

/// Kills at the calls to the system of a whole open, every few of them. Returns how often, and what went wrong.
async fn kill_at_calls(cast: Cast) -> (usize, Vec<String>) {
    let step = if std::env::var_os("TEPA_CRASH").is_some_and(|how| how == "full") {
        1
    } else {
        8
    };
    let (mut kills, mut wrong) = (0, Vec::new());
    let rehearsal = Rehearsal::before(MIGRATOR.iter().count() - 1).await;
    for call in CALLS {
        for count in (1..).step_by(step) {
            let inject = format!("inject={call}:signal=KILL:when={count}");
            let trace = format!("trace={call}");
            let strace = ["strace", "-f", "-qq", "-o", "/dev/null", "-e", &trace, "-e", &inject].map(str::to_owned);
            let (killed, outcome) = rehearsal.kill(cast, Point::Outside, &strace).await;
            if let Err(error) = outcome {
                wrong.push(format!("killed at {call} {count}: {error}"));
            }
            if !killed {
                break;
            }
            kills += 1;
        }
    }
    (kills, wrong)
}

#[tokio::test]
async fn everything_is_there_wherever_a_migration_is_killed() {
    let (kills, wrong) = kill_everywhere(Cast::Real).await;
    println!(
        "migrations: killed {kills} times at statements and commits, {} wrong",
        wrong.len()
    );
    assert_eq!(wrong, Vec::<String>::new());
    let least: usize = MIGRATOR
        .iter()
        .map(|migration| statements(migration.sql.as_str()).len() + 2)
        .sum();
    assert!(kills >= least, "killed only {kills} times");
}

#[tokio::test]
async fn a_migration_outside_a_transaction_would_be_noticed() {
    let (kills, wrong) = kill_everywhere(Cast::Torn).await;
    println!(
        "mutant without transactions: killed {kills} times, {} wrong, as it must be",
        wrong.len()
    );
    assert!(!wrong.is_empty(), "killed {kills} times, and nothing was noticed");
}

#[tokio::test]
async fn everything_is_there_wherever_an_open_that_migrates_is_killed() {
    let (kills, wrong) = kill_at_calls(Cast::Real).await;
    println!(
        "migrations: killed {kills} times at calls to the system, {} wrong",
        wrong.len()
    );
    assert_eq!(wrong, Vec::<String>::new());
    assert!(kills > 10, "killed only {kills} times");
}

#[tokio::test]
async fn everything_is_there_wherever_putting_the_copy_back_is_killed() {
    let (kills, wrong) = kill_at_calls(Cast::Failing).await;
    println!(
        "copy put back: killed {kills} times at calls to the system, {} wrong",
        wrong.len()
    );
    assert_eq!(wrong, Vec::<String>::new());
    assert!(kills > 10, "killed only {kills} times");
}

#[tokio::test]
async fn every_table_is_filled_before_it_is_rehearsed_with() {
    let folder = filled::folder(MIGRATOR.iter().count()).await;
    let store = Store::open(folder.path()).await.unwrap();
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type <> 'shadow' AND name NOT LIKE 'sqlite%'",
    )
    .fetch_all(store.readers())
    .await
    .unwrap();
    for table in tables {
        let rows = crate::testing::count(&store, &table).await;
        assert!(rows > 0, "no row of {table} is rehearsed with: add some to filled.rs");
    }
}
