use super::super::ReadErrorKind;
use super::problems;

/// Text, kind of the problem, the part of the text that is marked.
#[test]
fn a_problem_says_what_and_where() {
    use ReadErrorKind as K;
    for (text, kind, marked) in [
        ("a: [1\n", K::Syntax, "["),
        ("a: [1]]\n", K::Syntax, "]"),
        ("a: \"x\n", K::Syntax, "\""),
        ("a: 'x' y\n", K::Syntax, "y"),
        ("a: b: c\n", K::Syntax, ":"),
        ("a: @x\n", K::Syntax, "@"),
        ("a:\n  b: 1\n c: 2\n", K::Syntax, "c"),
        ("a: [x?]\n", K::Syntax, "x?"),
        ("a: {x:}\n", K::Syntax, "x"),
        ("a:\n\tb: 1\n", K::Tab, "\t"),
        ("a:\n-\tb: 1\n", K::Tab, "\t"),
        ("a: |\n  \tb\n", K::Tab, "\t"),
        (" a: 1\nb: 2\n", K::AfterEnd, "b"),
        ("a: 1\n...\nb: 2\n", K::AfterEnd, "b: 2"),
        ("...\nb: 2\n", K::AfterEnd, "..."),
        ("a: 1\n--- b\n", K::Separator, "b"),
        ("%YAML 1.2\n---\na: 1\n", K::Directive, "%"),
        ("a: *x\n", K::Alias, "*"),
        ("a: &x [*x]\n", K::Alias, "*x"),
        ("&a: 1\n", K::Alias, "&a:"),
        ("a: !x 1\n", K::Tag, "1"),
        ("a: !!int x\n", K::Tag, "x"),
        ("a: {<<: 1}\n", K::Merge, "1"),
        ("null: 1\n", K::Key, "null"),
        ("? [a]\n: 1\n", K::Key, "[a]"),
        ("a: .inf\n", K::Number, ".inf"),
        ("a: \"\\/\"\n", K::Escape, "\\/"),
        ("a: \"x\\ud83d\\ude42\"\n", K::Escape, "\\ud83d"),
        ("a: \"x\\n\\q\"\n", K::Escape, "\\q"),
        ("a: \"\\x4\"\n", K::Escape, "\\x"),
        ("a: \"\\ud83d\"\n", K::Escape, "\\u"),
        ("a: x\u{85}b: y\n", K::Character, "\u{85}"),
        ("a: \u{1}\n", K::Character, "\u{1}"),
        ("a: 1\n\u{feff}b: 2\n", K::Character, "\u{feff}"),
        ("a: {{ .Values.x }}\n", K::Template, "{{"),
        ("a: {{ .Values.x | quote }}-b\n", K::Template, "{{"),
        ("{{ if .x }}\na: 1\n{{ end }}\n", K::Template, "{{"),
        ("a: 1\n<<<<<<< HEAD\nb: 1\n=======\nb: 2\n>>>>>>> x\n", K::ConflictMarker, "<<<<<<<"),
    ] {
        let problems = problems(text);
        let [problem] = &problems[..] else { panic!("{text:?}: {problems:#?}") };
        assert_eq!((problem.kind, &text[problem.span.clone()]), (kind, marked), "{text:?}: {}", problem.message);
    }
}

/// Problems of single values do not hide each other.
#[test]
fn a_document_tells_all_values_that_it_cannot_hold() {
    let problems = problems("a: .inf\nb: !x 1\nc: {<<: 1}\nnull: 1\nd: .nan\n");
    let kinds: Vec<ReadErrorKind> = problems.iter().map(|problem| problem.kind).collect();
    use ReadErrorKind as K;
    assert_eq!(kinds, [K::Number, K::Tag, K::Merge, K::Key, K::Number]);
}

/// What would be another value, or nothing at all, for Kubernetes.
#[test]
fn a_problem_has_a_hint_where_the_way_out_is_known() {
    for (text, hint) in [
        ("a: 1\n----\n", "write --- alone in its line"),
        ("a: x\u{2028}y\n", "remove it, or write \"\\u2028\" inside double quotes"),
        ("a: .inf\n", "write \".inf\" if it is meant as text"),
        ("a:\n\tb: 1\n", "indent with blanks"),
        (" a: 1\nb: 2\n", "check the indentation, or begin a document with --- in a line of its own"),
        ("a: *x\n", "text that begins with * needs quotes"),
    ] {
        assert_eq!(problems(text)[0].hint.as_deref(), Some(hint), "{text:?}");
    }
}
