//! The `dbrender` command.

fn main() {}
