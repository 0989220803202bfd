//! The `dbrender` command.

fn main() {
    println!("{}", serde_json::to_string_pretty(&dbrender::api::crd()).unwrap());
}
