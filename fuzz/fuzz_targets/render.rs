//! Any bytes: read, check, render, write, read back. Nothing panics, and what is written is read back as it was meant.
#![no_main]

use dbrender::api::PlatformSettings;
use dbrender::check::{check, ground};
use dbrender::input::{Schemas, Source, parse};
use dbrender::problem::Problems;
use dbrender::render::render;
use dbrender::yaml::{Limits, decode, read_stream, write_document};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = decode(bytes) else { return };
    let source = Source { name: "fuzz.yaml".to_owned(), text: text.to_owned() };
    let mut problems = Problems::new();
    let parsed = parse(0, &source, &Schemas::new(), &mut problems);
    let Some(ground) = ground(&PlatformSettings::default(), &mut Problems::new()) else { return };
    for declared in &parsed.databases {
        let checked = check(&declared.database, &ground, Some("fuzz"));
        assert!(checked.plan.is_some() || checked.problems.has_errors(), "neither a plan nor a reason");
        let Some(plan) = checked.plan else { continue };
        for object in render(&plan).objects() {
            let mut text = String::new();
            write_document(&mut text, &object.value);
            let (documents, errors) = read_stream(&text, &Limits::default());
            assert!(errors.is_empty(), "our own output is refused: {errors:?}");
            assert_eq!(documents.len(), 1);
            assert_eq!(documents[0].root.to_json(), object.value);
        }
    }
});
