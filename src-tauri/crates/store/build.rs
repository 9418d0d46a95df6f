//! A new migration is a new file; cargo has to be told to look.

fn main() {
    println!("cargo:rerun-if-changed=migrations");
}
