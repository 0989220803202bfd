//! Text of others, made harmless for the place where it is printed. Live objects hold what anybody wrote into them.

use std::borrow::Cow;
use std::fmt::Write as _;

/// The text for a terminal: no control characters, and none that reorder or hide what stands beside them.
///
/// A line break is such a character too; whoever prints several lines splits them first.
#[must_use]
pub fn terminal(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_unsafe) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\t' => out.push_str("\\t"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            c if is_unsafe(c) => {
                // Writing into a String cannot fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Control characters of both sets, marks that turn the direction of writing, and invisible characters.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{61C}' | '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2060}'..='\u{2069}' | '\u{FEFF}'
        )
}

/// For the text and the attributes of HTML and XML. Characters that XML 1.0 cannot hold become U+FFFD.
#[must_use]
pub(super) fn markup(text: &str) -> Cow<'_, str> {
    let harmless = |c: char| !matches!(c, '&' | '<' | '>' | '"' | '\'') && is_xml(c) && !is_bidi(c);
    if text.chars().all(harmless) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c if !is_xml(c) || is_bidi(c) => out.push('\u{FFFD}'),
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

fn is_xml(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r') || (!c.is_control() && !matches!(c, '\u{FFFE}' | '\u{FFFF}'))
}

fn is_bidi(c: char) -> bool {
    matches!(c, '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// For Markdown, as code on one line. A mention or a link in it stays text.
#[must_use]
pub(super) fn markdown_code(text: &str) -> String {
    let text = terminal(text);
    let fence = "`".repeat(longest_run(&text, '`') + 1);
    // A blank at both ends is taken off again, and is needed where the text begins or ends with the mark.
    let pad = if text.starts_with('`') || text.ends_with('`') || text.trim().is_empty() { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// The same inside the cell of a table, where even in code a bar would end the cell.
#[must_use]
pub(super) fn markdown_cell(text: &str) -> String {
    markdown_code(text).replace('|', "\\|")
}

/// For Markdown, as plain words: nothing in it is markup, a mention or a link.
#[must_use]
pub(super) fn markdown_text(text: &str) -> String {
    let text = terminal(text);
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // An invisible break keeps `@name` and `#12` from calling somebody.
            '@' | '#' => {
                out.push_str("<!-- -->");
                out.push(c);
            }
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// A fence for a block of Markdown code that holds `text`: longer than every run of the mark in it.
#[must_use]
pub(super) fn markdown_fence(text: &str) -> String {
    "`".repeat(longest_run(text, '`').max(2) + 1)
}

fn longest_run(text: &str, mark: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in text.chars() {
        run = if c == mark { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// For the message of a workflow command of GitHub.
#[must_use]
pub(super) fn workflow_message(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// For a property of a workflow command of GitHub.
#[must_use]
pub(super) fn workflow_property(text: &str) -> String {
    workflow_message(text).replace(':', "%3A").replace(',', "%2C")
}

/// A path as a relative reference: segments are escaped, and one with a colon is not taken for a scheme.
#[must_use]
pub(super) fn uri(path: &str) -> String {
    let path = path.strip_prefix("./").unwrap_or(path);
    let scheme = if path.starts_with('/') { "file://" } else { "" };
    format!("{scheme}{}", path.split('/').map(crate::engine::uri_part).collect::<Vec<_>>().join("/"))
}

#[cfg(test)]
mod tests {
    use super::{
        markdown_cell, markdown_code, markdown_fence, markdown_text, markup, terminal, workflow_message,
        workflow_property,
    };

    #[test]
    fn a_terminal_is_not_commanded() {
        assert_eq!(terminal("\u{1b}[2Jx"), "\\u{1b}[2Jx");
        assert_eq!(terminal("a\u{9b}31m"), "a\\u{9b}31m");
        assert_eq!(terminal("user\u{202e}nimda"), "user\\u{202e}nimda");
        assert_eq!(terminal("한국어 ok"), "한국어 ok");
    }

    #[test]
    fn markup_stays_text() {
        assert_eq!(markup("<script>'\"&"), "&lt;script&gt;&#39;&quot;&amp;");
        assert_eq!(markup("a\u{0}b\u{1b}c\u{202e}"), "a\u{FFFD}b\u{FFFD}c\u{FFFD}");
    }

    #[test]
    fn markdown_stays_text() {
        assert_eq!(markdown_code("a|b"), "`a|b`");
        assert_eq!(markdown_cell("a|b"), "`a\\|b`");
        assert_eq!(markdown_code("`x`"), "`` `x` ``");
        assert_eq!(markdown_text("@team see #12 <b>*x*"), "<!-- -->@team see <!-- -->#12 &lt;b&gt;\\*x\\*");
        assert_eq!(markdown_fence("a ```` b"), "`````");
        assert_eq!(markdown_fence("a"), "```");
    }

    #[test]
    fn workflow_commands_stay_on_one_line() {
        assert_eq!(workflow_message("50%\n::error::x"), "50%25%0A::error::x");
        assert_eq!(workflow_property("a:b,c"), "a%3Ab%2Cc");
    }
}
