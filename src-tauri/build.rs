//! Hands the capabilities of the window to Tauri: they lie beside the shell, not at the top level where Tauri looks.

#![allow(clippy::expect_used)]

fn main() {
    println!("cargo:rerun-if-changed=src-tauri/capabilities");
    // The page is carried inside; a new file in it counts as a change too.
    println!("cargo:rerun-if-changed=ui/dist");
    let attributes = tauri_build::Attributes::new().capabilities_path_pattern("src-tauri/capabilities/**/*");
    tauri_build::try_build(attributes).expect("the window's configuration is valid");
}
