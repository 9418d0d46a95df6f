//! Where programs keep keys (tools page, "Permissions"): never read by a tool or a command, whatever was granted. One list,
//! for whoever opens files and whoever holds commands.
//!
//! Deliberately not here: the app's own data, which each is told apart.

use std::path::{Component, Path, PathBuf};

/// Folders of keys by their name, wherever they lie.
const NAMES: [&str; 6] = [".ssh", ".gnupg", ".aws", ".azure", ".kube", ".password-store"];
/// Folders of keys whose names mean something else elsewhere, from a person's home.
const IN_HOME: [&str; 3] = [".config/gcloud", ".local/share/keyrings", "Library/Keychains"];

/// Whether a path leads into a folder of keys, or is one, by the names in it.
pub fn leads_into_one(path: &Path) -> bool {
    path.components().any(|component| match component {
        Component::Normal(name) => NAMES.iter().any(|store| name.eq_ignore_ascii_case(store)),
        Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => false,
    })
}

/// All that a person with this home may have.
pub fn of_home(home: &Path) -> Vec<PathBuf> {
    NAMES.iter().chain(&IN_HOME).map(|store| home.join(store)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_known_by_the_names_of_their_folders() {
        let leads = |path: &str| leads_into_one(Path::new(path));
        assert!(leads("/home/ada/.ssh") && leads("backup/.SSH/id_rsa") && leads("/x/.kube/config"));
        assert!(!leads("/home/ada/ssh") && !leads("notes/.sshd") && !leads("keyrings/list.txt"));
        let home = of_home(Path::new("/home/ada"));
        assert!(home.contains(&PathBuf::from("/home/ada/.config/gcloud")) && home.len() == 9);
    }
}
