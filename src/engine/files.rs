//! Files of ConfigMap `<name>-config` that every engine has: values for shell scripts, and the backup's and the restore's.

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, UndefinedBehavior};

use crate::plan::{Destination, Plan};
use crate::problem::{Code, FieldPath, Problem, Problems};

/// Templates of server configuration. A missing variable is an error, and nothing is escaped: the files are no HTML.
pub(super) fn templates(templates: &[(&'static str, &'static str)]) -> Environment<'static> {
    let mut environment = Environment::new();
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).keep_trailing_newline(true).build();
    #[expect(clippy::expect_used, reason = "the usual delimiters, which are valid")]
    environment.set_syntax(syntax.expect("the usual delimiters are valid"));
    environment.set_auto_escape_callback(|_| AutoEscape::None);
    for (name, text) in templates {
        #[expect(clippy::expect_used, reason = "the templates are part of the program, and a test loads each")]
        environment.add_template(name, text).expect("an embedded template is valid");
    }
    environment
}

/// What the backup has to know.
pub(super) fn backup(plan: &Plan) -> String {
    let path = format!("{}/{}", plan.namespace, plan.name);
    let mut lines = vec![("RETENTION", plan.backup.retention.to_string()), ("DESTINATION_PATH", path.clone())];
    lines.extend(destination(&plan.backup.destination, &path));
    assignments(&lines)
}

/// What the restore has to know; all empty when there is none.
pub(super) fn restore(plan: &Plan) -> String {
    let Some(restore) = &plan.restore else { return assignments(&[("RESTORE_ID", String::new())]) };
    let path = format!("{}/{}", restore.namespace, restore.name);
    let mut lines =
        vec![("RESTORE_ID", restore_id(plan)), ("SOURCE_PATH", path.clone()), ("BACKUP", restore.backup.clone())];
    lines.extend(restore.point_in_time.as_ref().map(|moment| ("POINT_IN_TIME", moment.clone())));
    lines.extend(destination(&restore.source, &path));
    assignments(&lines)
}

/// Names the restore that the marker row in the server belongs to. Empty where there is none: a server that is recovered to
/// a moment is never seen before it is whole.
pub(super) fn restore_id(plan: &Plan) -> String {
    let loaded = plan.restore.as_ref().filter(|restore| restore.point_in_time.is_none());
    loaded.map(|r| format!("{}/{}/{}", r.namespace, r.name, r.backup)).unwrap_or_default()
}

fn destination(destination: &Destination, path: &str) -> Vec<(&'static str, String)> {
    match destination {
        Destination::Volume(_) => vec![("DESTINATION", "volume".to_owned())],
        Destination::S3(bucket) => {
            let prefix = if bucket.prefix.is_empty() { String::new() } else { format!("{}/", bucket.prefix) };
            vec![("DESTINATION", "s3".to_owned()), ("REMOTE", format!("dest:{}/{prefix}{path}", bucket.bucket))]
        }
    }
}

/// Assignments that a shell can source: every value in single quotes.
pub(super) fn assignments(values: &[(&str, String)]) -> String {
    values.iter().map(|(name, value)| format!("{name}='{}'\n", value.replace('\'', r"'\''"))).collect()
}

/// Reports a character that no file of server configuration can hold. `but`: one that this engine's can.
pub(super) fn has_control_character(
    name: &str,
    text: &str,
    but: Option<char>,
    path: &FieldPath,
    out: &mut Problems,
) -> bool {
    let Some(character) = text.chars().find(|c| c.is_control() && Some(*c) != but) else { return false };
    let number = u32::from(character);
    let message = format!("the value of {name} holds the character U+{number:04X}, which no configuration file can");
    let problem = Problem::new(Code::InvalidParameter, path.clone(), message);
    out.push(problem.with_hint("write the value in one line"));
    true
}
