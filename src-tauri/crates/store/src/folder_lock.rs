//! Who has the data folder open: everyone who does holds `store.lock` shared, and whoever changes its
//! format, restores a copy or clears up holds it alone.
//!
//! The system releases the lock when a process ends, however it ends.

use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::Duration;

use crate::error::StoreError;
use crate::private;

/// How often a taken lock is tried again.
const AGAIN: Duration = Duration::from_millis(20);

/// A held lock; dropping it lets go.
#[derive(Debug)]
pub(crate) struct FolderLock {
    file: File,
    /// Whether nobody else has the folder open.
    pub(crate) alone: bool,
}

impl FolderLock {
    /// Takes the folder alone when nobody has it, and otherwise together with the others. Waits while
    /// somebody has it alone.
    pub(crate) async fn enter(path: &Path, patience: Duration) -> Result<Self, StoreError> {
        let file = private::own_file(path).map_err(|error| StoreError::io(path, error))?;
        let mut waited = Duration::ZERO;
        loop {
            if taken(path, file.try_lock())? {
                return Ok(Self { file, alone: true });
            }
            if taken(path, file.try_lock_shared())? {
                return Ok(Self { file, alone: false });
            }
            wait(&mut waited, patience).await?;
        }
    }

    /// Lets the others in. For a moment nobody holds the lock, so what was checked alone has to be
    /// checked again.
    pub(crate) async fn share(self, path: &Path, patience: Duration) -> Result<Self, StoreError> {
        self.file.unlock().map_err(|error| StoreError::io(path, error))?;
        let mut waited = Duration::ZERO;
        while !taken(path, self.file.try_lock_shared())? {
            wait(&mut waited, patience).await?;
        }
        Ok(Self {
            file: self.file,
            alone: false,
        })
    }
}

async fn wait(waited: &mut Duration, patience: Duration) -> Result<(), StoreError> {
    if *waited >= patience {
        return Err(StoreError::Locked);
    }
    tokio::time::sleep(AGAIN).await;
    *waited += AGAIN;
    Ok(())
}

fn taken(path: &Path, tried: Result<(), TryLockError>) -> Result<bool, StoreError> {
    match tried {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(StoreError::io(path, error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_first_is_alone_until_it_shares() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("store.lock");
        let first = FolderLock::enter(&path, Duration::ZERO).await.unwrap();
        assert!(first.alone);
        let error = FolderLock::enter(&path, Duration::ZERO).await.unwrap_err();
        assert!(matches!(error, StoreError::Locked));

        let first = first.share(&path, Duration::ZERO).await.unwrap();
        let second = FolderLock::enter(&path, Duration::ZERO).await.unwrap();
        assert!(!first.alone && !second.alone);
        drop((first, second));
        assert!(FolderLock::enter(&path, Duration::ZERO).await.unwrap().alone);
    }
}
