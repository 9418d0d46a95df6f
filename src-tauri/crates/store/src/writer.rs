//! The one thread that writes. It commits at once when it is idle; what is queued during a commit becomes
//! the next transaction. There is no timer.
//!
//! Appends are the many, and have a connection of their own (`append`); what people do (a setting, a saved task) is
//! seldom and goes through another. A transaction that fails is done again, one append at a time, so that one run's
//! conflict is never another run's.

use std::mem;
use std::path::Path;

use futures::executor::block_on;
use futures::future::BoxFuture;
use sqlx::{Connection, SqliteConnection};
use tokio::sync::{mpsc, oneshot};

use contract::ports::journal::Durability;

use crate::append::Appender;
use crate::error::StoreError;
use crate::folder_lock::FolderLock;
use crate::journal::{Append, AppendError};

/// How much may be queued before those who write have to wait.
const QUEUE: usize = 1024;
/// How many appends share a transaction at most.
const BATCH: usize = 256;

/// The way to the writing thread.
#[derive(Debug)]
pub(crate) struct Writer {
    jobs: mpsc::Sender<Job>,
}

enum Job {
    Append(Append, oneshot::Sender<Result<(), AppendError>>),
    Work(Durability, Work),
    #[cfg(test)]
    Look(Box<dyn FnOnce(&Appender) + Send>),
    Close(oneshot::Sender<Result<(), StoreError>>),
}

/// Does its statements in a transaction, or hears why there is none; then waits for the word on the commit.
type Work = Box<dyn for<'c> FnOnce(Begun<'c>) -> BoxFuture<'c, Result<Reply, Reply>> + Send>;
type Begun<'c> = Result<&'c mut SqliteConnection, StoreError>;
/// Tells the caller how it went; `Some` is why the commit failed.
type Reply = Box<dyn FnOnce(Option<StoreError>) + Send>;

impl Writer {
    /// Starts the thread. It owns the folder's lock, so that nobody is alone while something is queued.
    pub(crate) fn start(database: &Path, connection: SqliteConnection, lock: FolderLock) -> Result<Self, StoreError> {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let task = Task {
            appender: Appender::open(database)?,
            connection,
            durability: Durability::Commit,
            _lock: lock,
        };
        std::thread::Builder::new()
            .name("tepa-store".to_owned())
            .spawn(move || task.run(receiver))
            .map_err(|error| StoreError::Storage(error.to_string()))?;
        Ok(Self { jobs: sender })
    }

    /// Appends, together with whatever else is queued. Once asked for, it is done even if nobody waits.
    pub(crate) async fn append(&self, append: Append) -> Result<(), AppendError> {
        let (sender, receiver) = oneshot::channel();
        let sent = self.jobs.send(Job::Append(append, sender)).await;
        sent.map_err(|_| StoreError::Closed)?;
        receiver.await.map_err(|_| StoreError::Closed)?
    }

    /// Runs statements in a transaction of their own.
    pub(crate) async fn write<T, F>(&self, durability: Durability, statements: F) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: for<'c> FnOnce(&'c mut SqliteConnection) -> BoxFuture<'c, Result<T, StoreError>> + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        let work: Work = Box::new(move |begun| {
            Box::pin(async move {
                let result = match begun {
                    Ok(connection) => statements(connection).await,
                    Err(error) => Err(error),
                };
                let failed = result.is_err();
                let reply: Reply = Box::new(move |error| {
                    let _ = sender.send(error.map_or(result, Err));
                });
                if failed { Err(reply) } else { Ok(reply) }
            })
        });
        let sent = self.jobs.send(Job::Work(durability, work)).await;
        sent.map_err(|_| StoreError::Closed)?;
        receiver.await.map_err(|_| StoreError::Closed)?
    }

    /// Looks at the connection that appends.
    #[cfg(test)]
    #[allow(clippy::unwrap_used)]
    pub(crate) async fn look<T: Send + 'static>(&self, look: impl FnOnce(&Appender) -> T + Send + 'static) -> T {
        let (sender, receiver) = oneshot::channel();
        let job = Job::Look(Box::new(move |appender| {
            let _ = sender.send(look(appender));
        }));
        assert!(self.jobs.send(job).await.is_ok());
        receiver.await.unwrap()
    }

    /// Writes what is queued and ends the thread.
    pub(crate) async fn close(&self) -> Result<(), StoreError> {
        let (sender, receiver) = oneshot::channel();
        if self.jobs.send(Job::Close(sender)).await.is_err() {
            return Ok(());
        }
        receiver.await.unwrap_or(Ok(()))
    }
}

struct Task {
    appender: Appender,
    connection: SqliteConnection,
    durability: Durability,
    _lock: FolderLock,
}

type Waiting = (Append, oneshot::Sender<Result<(), AppendError>>);

impl Task {
    fn run(mut self, mut jobs: mpsc::Receiver<Job>) {
        let mut queued = Vec::new();
        while jobs.blocking_recv_many(&mut queued, BATCH) > 0 {
            let mut appends = Vec::new();
            for job in queued.drain(..) {
                match job {
                    Job::Append(append, reply) => appends.push((append, reply)),
                    Job::Work(durability, work) => {
                        self.append(mem::take(&mut appends));
                        block_on(self.work(durability, work));
                        self.appender.forget();
                    }
                    #[cfg(test)]
                    Job::Look(look) => {
                        self.append(mem::take(&mut appends));
                        look(&self.appender);
                    }
                    Job::Close(reply) => {
                        self.append(mem::take(&mut appends));
                        let _ = reply.send(self.close());
                        return;
                    }
                }
            }
            self.append(appends);
        }
        if let Err(error) = self.close() {
            tracing::warn!(%error, "the history was not closed cleanly; nothing is lost");
        }
    }

    fn close(self) -> Result<(), StoreError> {
        let closed = block_on(self.connection.close());
        self.appender.close()?;
        Ok(closed?)
    }

    fn append(&mut self, waiting: Vec<Waiting>) {
        if waiting.is_empty() {
            return;
        }
        let appends: Vec<&Append> = waiting.iter().map(|(append, _)| append).collect();
        let outcome = self.appender.commit(&appends);
        if outcome.is_err() && waiting.len() > 1 {
            for (append, reply) in waiting {
                let _ = reply.send(self.appender.commit(&[&append]));
            }
            return;
        }
        // Either all went well, or there is exactly one to tell.
        let mut outcome = Some(outcome);
        for (_, reply) in waiting {
            let _ = reply.send(outcome.take().unwrap_or(Ok(())));
        }
    }

    async fn work(&mut self, durability: Durability, work: Work) {
        let reply = match self.begin(durability).await {
            Ok(()) => work(Ok(&mut self.connection)).await,
            Err(error) => work(Err(error)).await,
        };
        match reply {
            Ok(reply) => reply(self.end(Ok::<(), StoreError>(())).await.err()),
            Err(reply) => {
                self.roll_back().await;
                reply(None);
            }
        }
    }

    /// Begins as a writer at once: a transaction that becomes one later can be refused half-way.
    ///
    /// The library's own transactions are not for this connection: when SQLite has rolled back by
    /// itself, as it does on a full disk, theirs cannot be ended and no other can be begun.
    async fn begin(&mut self, durability: Durability) -> Result<(), StoreError> {
        self.set(durability).await?;
        sqlx::query("BEGIN IMMEDIATE").execute(&mut self.connection).await?;
        Ok(())
    }

    async fn end<E: From<StoreError>>(&mut self, outcome: Result<(), E>) -> Result<(), E> {
        let outcome = match outcome {
            Ok(()) => {
                let commit = sqlx::query("COMMIT").execute(&mut self.connection).await;
                commit.map(|_| ()).map_err(|error| StoreError::from(error).into())
            }
            Err(error) => Err(error),
        };
        if outcome.is_err() {
            self.roll_back().await;
        }
        outcome
    }

    /// Fails only when there is nothing left to roll back.
    async fn roll_back(&mut self) {
        let _ = sqlx::query("ROLLBACK").execute(&mut self.connection).await;
    }

    /// Chooses how the next transaction is written; see `append`.
    async fn set(&mut self, durability: Durability) -> Result<(), StoreError> {
        if self.durability == durability {
            return Ok(());
        }
        let pragma = match durability {
            Durability::Commit => "PRAGMA synchronous = NORMAL",
            Durability::Barrier => "PRAGMA synchronous = FULL",
        };
        sqlx::query(pragma).execute(&mut self.connection).await?;
        self.durability = durability;
        Ok(())
    }
}
