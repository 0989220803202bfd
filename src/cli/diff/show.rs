//! Writes the report in the forms that were asked for.

use std::fs;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use super::super::exit::Exit;
use super::super::output::print_text;
use super::super::tell::Tell;
use super::DiffArgs;
use super::desired::Wanted;
use crate::diff::Report;
use crate::problem::{Code, FieldPath, Problem};
use crate::report::{self, TextOptions, View};

/// A form of the report, and where it goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Output {
    format: Format,
    /// Stdout when absent.
    file: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Format {
    Text,
    Json,
    Markdown,
    Html,
    Sarif,
    Junit,
    Github,
}

const FORMATS: [(&str, Format); 7] = [
    ("text", Format::Text),
    ("json", Format::Json),
    ("markdown", Format::Markdown),
    ("html", Format::Html),
    ("sarif", Format::Sarif),
    ("junit", Format::Junit),
    ("github", Format::Github),
];

impl Output {
    /// From `FORMAT` or `FORMAT=FILE`.
    pub(super) fn parse(text: &str) -> Result<Output, String> {
        let (word, file) = text.split_once('=').map_or((text, None), |(word, file)| (word, Some(file)));
        let format = FORMATS.iter().find(|(name, _)| *name == word).map(|(_, format)| *format).ok_or_else(|| {
            let names: Vec<&str> = FORMATS.iter().map(|(name, _)| *name).collect();
            format!("the forms are {}", names.join(", "))
        })?;
        match file {
            Some("") => Err(format!("{word}= names no file")),
            Some("-") | None => Ok(Output { format, file: None }),
            Some(file) => Ok(Output { format, file: Some(PathBuf::from(file)) }),
        }
    }
}

/// Whether the outputs fit together.
pub(super) fn check(outputs: &[Output]) -> Result<(), String> {
    if outputs.iter().filter(|output| output.file.is_none()).count() > 1 {
        return Err("only one form fits on stdout; give the others a file: -o html=report.html".to_owned());
    }
    for (index, output) in outputs.iter().enumerate() {
        if let Some(file) = &output.file
            && outputs[..index].iter().any(|other| other.file.as_ref() == Some(file))
        {
            return Err(format!("two forms would be written to {}", file.display()));
        }
    }
    Ok(())
}

/// Whether a person sees the report itself.
pub(super) fn has_text_on_stdout(outputs: &[Output]) -> bool {
    outputs.iter().any(|output| output.file.is_none() && output.format == Format::Text)
}

/// What the two sides are called.
pub(super) struct Titles {
    pub(super) live: String,
    pub(super) desired: String,
}

/// Writes every form. Files first: whoever reads stdout may go away.
pub(super) fn write(report: &Report, titles: &Titles, wanted: &Wanted, args: &DiffArgs, tell: &Tell) -> Exit {
    let places = wanted.places();
    let view = View {
        live: &titles.live,
        desired: &titles.desired,
        now: now(),
        place: &|database, field| places.of(database, field),
    };
    let mut exit = Exit::Done;
    let (files, stdout): (Vec<&Output>, Vec<&Output>) = args.output.iter().partition(|output| output.file.is_some());
    for output in files.into_iter().chain(stdout) {
        let text = view_as(output, report, &view, args, tell);
        let written = match &output.file {
            None => print_text(&text, tell),
            Some(file) => match fs::write(file, text) {
                Ok(()) => Exit::Done,
                Err(error) => {
                    let message = format!("cannot write {}: {}", file.display(), crate::io::reason(&error));
                    let problem = Problem::new(Code::Unwritable, FieldPath::root(), message)
                        .with_hint("check the folder, its permissions and the space");
                    tell.problems(&[problem].into_iter().collect(), &[])
                }
            },
        };
        exit = exit.or_worse(written);
    }
    exit
}

fn view_as(output: &Output, report: &Report, view: &View<'_>, args: &DiffArgs, tell: &Tell) -> String {
    match output.format {
        Format::Text => {
            let color = output.file.is_none() && tell.colors_stdout();
            report::text(report, view, TextOptions { color, context: args.unified, ignored: tell.is_verbose() })
        }
        Format::Json => report::json(report),
        Format::Markdown => report::markdown(report, view, args.max_length, args.unified),
        Format::Html => report::html(report, view, args.unified),
        Format::Sarif => report::sarif(report, view),
        Format::Junit => report::junit(report, view),
        Format::Github => report::github(report, view),
    }
}

fn now() -> Option<i64> {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(elapsed.as_secs()).ok()
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Format, Output, check};

    #[test]
    fn a_form_goes_to_stdout_or_to_a_file() {
        assert_eq!(Output::parse("json"), Ok(Output { format: Format::Json, file: None }));
        assert_eq!(Output::parse("json=-"), Ok(Output { format: Format::Json, file: None }));
        let file = Some(PathBuf::from("a=b.html"));
        assert_eq!(Output::parse("html=a=b.html"), Ok(Output { format: Format::Html, file }));
        for bad in ["", "yaml", "json=", "JSON"] {
            assert!(Output::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn two_forms_do_not_share_a_place() {
        let outputs = |texts: &[&str]| texts.iter().map(|text| Output::parse(text).unwrap()).collect::<Vec<_>>();
        assert!(check(&outputs(&["text", "html=x"])).is_ok());
        assert!(check(&outputs(&["text", "json"])).is_err());
        assert!(check(&outputs(&["text=x", "json=x"])).is_err());
    }
}
