//! Prints the events of `rooms.toml`, or of the file that `ANTEROOM_ROOMS` names, with everything
//! that they inherit from their rooms filled in: `cargo run --example events`.

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let site = anteroom::packed::site()?;
    let rooms = site.rooms.iter();
    let details: Vec<_> = rooms
        .flat_map(|room| room.events.iter().map(|event| event.details(room)))
        .collect();
    println!("{}", serde_json::to_string_pretty(&details)?);
    Ok(())
}
