//! Text to values: every Database of a text, or every problem that the API server would have with it.
//!
//! Input: a named text, the schemas. Output: Databases with their places, problems with theirs. No file is read here;
//! what a rule of dbrender's own forbids is the business of `check`.

mod document;
mod metadata;
mod place;
mod platform;
mod reader;
mod schema;
#[cfg(test)]
mod tests;
mod trail;
mod wrong_type;

use crate::api::{self, Database};
use crate::problem::{Code, FieldPath, Place, Problem, Problems};
use crate::yaml::{self, Limits, Node, ReadErrorKind};

pub use platform::{DeclaredPlatform, parse_platform};
use schema::Schema;

/// A text and the name under which it is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Source {
    /// Path as it was given, or `stdin`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

/// What is known about fields, read once from the schemas of `api`.
#[derive(Debug)]
pub struct Schemas {
    spec: Schema,
    platform: Schema,
}

impl Schemas {
    /// Reads them from the CustomResourceDefinition and the schema of the platform file.
    #[must_use]
    pub fn new() -> Schemas {
        let crd = api::crd();
        let spec = crd.pointer("/spec/versions/0/schema/openAPIV3Schema/properties/spec");
        Schemas { spec: spec.map_or(Schema::Any, Schema::read), platform: Schema::read(&api::platform_schema()) }
    }
}

impl Default for Schemas {
    fn default() -> Self {
        Schemas::new()
    }
}

/// What a text holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Parsed {
    /// Databases in the order of the text, `kind: List` expanded. Those with problems are left out.
    pub databases: Vec<Declared>,
    /// Documents and list items of other kinds.
    pub skipped: usize,
    /// Platform files among the documents. They are chosen by the caller, not found on the way.
    pub platforms: usize,
}

/// A Database and the text it was read from.
#[derive(Clone, Debug, PartialEq)]
pub struct Declared {
    /// The Database, with every default filled in. It has no status.
    pub database: Database,
    /// Index of the source.
    pub source: usize,
    /// Its tree, to find the place of a field.
    pub root: Node,
}

impl Declared {
    /// The same problem with the place of its field, and with the name of this Database, where it has none yet.
    #[must_use]
    pub fn locate(&self, problem: Problem) -> Problem {
        let mut problem = place::locate(&self.root, self.source, problem);
        if problem.subject.is_none() {
            problem.subject = subject(&self.database);
        }
        problem
    }

    /// The place of a field, or of the nearest thing above it.
    #[must_use]
    pub fn place(&self, path: &FieldPath) -> Place {
        place::of(&self.root, self.source, path, false)
    }
}

/// `namespace/name`, or the name alone.
fn subject(database: &Database) -> Option<String> {
    let name = database.metadata.name.as_deref()?;
    Some(match database.metadata.namespace.as_deref() {
        Some(namespace) => format!("{namespace}/{name}"),
        None => name.to_owned(),
    })
}

/// Reads every document of a text. All problems of all documents are reported in one go.
///
/// `index` is the position of the source in the run's list, as it stands in the places of problems.
pub fn parse(index: usize, source: &Source, schemas: &Schemas, out: &mut Problems) -> Parsed {
    let (documents, errors) = yaml::read_stream(&source.text, &Limits::default());
    report_read_errors(index, errors, out);
    let mut parsed = Parsed::default();
    let mut texts = document::Texts {
        index,
        text: &source.text,
        schemas,
        parsed: &mut parsed,
        before: out.len(),
        full: false,
        out,
    };
    for document in documents {
        texts.take(document.root);
    }
    parsed
}

/// A problem of bytes that are not text, for whoever reads files.
#[must_use]
pub fn not_text(index: usize, error: &yaml::ReadError) -> Problem {
    read_problem(index, error)
}

fn report_read_errors(index: usize, errors: Vec<yaml::ReadError>, out: &mut Problems) {
    out.extend(errors.iter().map(|error| read_problem(index, error)));
}

fn read_problem(index: usize, error: &yaml::ReadError) -> Problem {
    let code = match error.kind {
        ReadErrorKind::Encoding => Code::NotText,
        ReadErrorKind::Separator | ReadErrorKind::AfterEnd => Code::TextAfterEnd,
        ReadErrorKind::Limit => Code::TooLarge,
        _ => Code::Syntax,
    };
    let problem = Problem::new(code, FieldPath::root(), error.message.clone());
    let problem = match &error.hint {
        Some(hint) => problem.with_hint(hint.clone()),
        None => problem,
    };
    problem.at(Place { source: index, span: error.span.clone(), absent: false })
}
