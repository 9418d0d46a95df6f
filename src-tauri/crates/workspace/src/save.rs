//! Saving a file that a person named, wherever it is: as a whole or not at all.

use std::io;
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Permissions};

use crate::atomic;

/// Puts these bytes in the place of the file, which need not be there. A link stays a link: what it leads to is
/// written. Permissions stay; a file that must not be changed is not. Blocks.
///
/// # Errors
/// The folder is not there, or it or the file may not be written to.
pub fn save(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let path = std::fs::canonicalize(path).or_else(|_| std::path::absolute(path))?;
    let mode = match std::fs::metadata(&path) {
        Ok(metadata) if metadata.permissions().readonly() => return Err(io::ErrorKind::PermissionDenied.into()),
        Ok(metadata) => Some(Permissions::from_std(metadata.permissions())),
        Err(_) => None,
    };
    let (Some(folder), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let folder = Dir::open_ambient_dir(folder, ambient_authority())?;
    atomic::replace(&folder, Path::new(name), bytes, mode)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_a_crash_left_behind_is_no_hindrance() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("f.yaml");
        let left = format!(".tepa-f.yaml-{}.part", std::process::id());
        fs::write(folder.path().join(left), "half").unwrap();
        save(&file, b"one").unwrap();
        save(&file, b"two").unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_stays_a_link_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (file, link) = (folder.path().join("f.yaml"), folder.path().join("link.yaml"));
        fs::write(&file, "one").unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        save(&link, b"two").unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&file).unwrap(), b"two");
        assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
        fs::set_permissions(&file, fs::Permissions::from_mode(0o440)).unwrap();
        assert!(save(&file, b"three").is_err());
    }
}
