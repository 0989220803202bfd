//! Any bytes: read, check, render, write, read back. Nothing panics, and what is written is read back as it was meant.
#![no_main]

use std::sync::LazyLock;

use dbrender::api::PlatformSettings;
use dbrender::check::{Ground, check, ground};
use dbrender::input::{Schemas, Source, parse};
use dbrender::problem::Problems;
use dbrender::render::{Printer, render};
use dbrender::yaml::{Limits, decode, read_stream};
use libfuzzer_sys::fuzz_target;

static SCHEMAS: LazyLock<Schemas> = LazyLock::new(Schemas::new);
static GROUND: LazyLock<Option<Ground>> =
    LazyLock::new(|| ground(&PlatformSettings::default(), &mut Problems::new()));

fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = decode(bytes) else { return };
    let source = Source { name: "fuzz.yaml".to_owned(), text: text.to_owned() };
    let mut problems = Problems::new();
    let parsed = parse(0, &source, &SCHEMAS, &mut problems);
    let ground = GROUND.as_ref().expect("the settings of nobody are valid");
    let mut printer = Printer::default();
    for declared in &parsed.databases {
        let checked = check(&declared.database, ground, Some("fuzz"));
        assert!(checked.plan.is_some() || checked.problems.has_errors(), "neither a plan nor a reason");
        let Some(plan) = checked.plan else { continue };
        let set = render(&plan);
        let mut texts = Vec::new();
        let _: Result<(), ()> = printer.print(&set, |object| {
            // What is the same for every Database is read back by a test; here it would take all of the time.
            texts.push(object.tail.is_none().then(|| object.head.to_owned()));
            Ok(())
        });
        let objects = set.objects();
        assert_eq!(objects.len(), texts.len());
        for (object, text) in objects.iter().zip(&texts).filter_map(|(object, text)| Some((object, text.as_ref()?))) {
            let (documents, errors) = read_stream(text, &Limits::default());
            assert!(errors.is_empty(), "our own output is refused: {errors:?}");
            assert_eq!(documents.len(), 1);
            assert_eq!(documents[0].root.to_json(), object.value);
        }
    }
});
