//! Checks what the operator declared and packs it for the Worker. Every fault fails the build.

use std::path::Path;
use std::{env, error, fs, process};

#[allow(dead_code, unreachable_pub)]
#[path = "src/page"]
mod page {
    pub mod names;
    pub mod pack;
    pub mod plural;
    pub mod template;
    pub mod texts;
}

fn main() -> Result<(), Box<dyn error::Error>> {
    println!("cargo::rerun-if-changed=src/page");
    println!("cargo::rerun-if-changed=templates");
    let root = env::var("CARGO_MANIFEST_DIR")?;
    let out = env::var("OUT_DIR")?;
    match page::pack::pack(&Path::new(&root).join("templates")) {
        Ok(packed) => {
            for warning in packed.warnings {
                println!("cargo::warning={warning}");
            }
            fs::write(Path::new(&out).join("page.rs"), packed.source)?;
            Ok(())
        }
        Err(faults) => {
            for fault in faults {
                println!("cargo::error={fault}");
            }
            process::exit(1)
        }
    }
}
