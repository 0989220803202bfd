use std::fmt::Write as _;

use super::super::{Limits, ReadErrorKind, read_stream};

/// The text ends with a problem, and reading it asked for no more than the limits allow.
fn refused(text: &str, limits: &Limits) -> ReadErrorKind {
    let (_, errors) = read_stream(text, limits);
    let Some(error) = errors.last() else { panic!("{:.80?} was read", text) };
    assert!(errors.len() <= limits.errors + 1);
    error.kind
}

/// What a pull request could hold to make a reader stand still. A quadratic reader takes minutes for each of these.
#[test]
fn endless_nesting_ends_early() {
    for unit in ["[", "{", "[{", "- ", "? ", "{a: ", "[a, ", "&a [", "!!seq [", "- ? - ", "{\"a\":"] {
        let text = unit.repeat((1 << 20) / unit.len());
        refused(&text, &Limits::default());
    }
    let mut text = String::new();
    for depth in 0..1000 {
        let _ = writeln!(text, "{}a:", " ".repeat(depth));
    }
    assert_eq!(refused(&text, &Limits::default()), ReadErrorKind::Limit);
}

#[test]
fn depth_counts_what_aliases_bring() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    let limits = Limits::default();
    assert_eq!(read_stream(&nested(200), &limits).1, []);
    assert_eq!(refused(&nested(201), &limits), ReadErrorKind::Limit);
    assert_eq!(read_stream(&format!("{{\"a\": {}}}", nested(199)), &limits).1, []);
    assert_eq!(refused(&format!("{{\"a\": {}}}", nested(200)), &limits), ReadErrorKind::Limit);
    let mut chain = "a0: &a0 [x]\n".to_owned();
    for link in 1..300 {
        let _ = writeln!(chain, "a{link}: &a{link} [*a{}]", link - 1);
    }
    assert_eq!(refused(&chain, &limits), ReadErrorKind::Limit);
}

#[test]
fn aliases_cannot_multiply_without_end() {
    let mut laughs = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..20 {
        let below = vec![format!("*a{}", level - 1); 10].join(", ");
        let _ = writeln!(laughs, "a{level}: &a{level} [{below}]");
    }
    assert_eq!(refused(&laughs, &Limits::default()), ReadErrorKind::Limit);
    let mut merges = "a0: &a0 {k: 1}\n".to_owned();
    for level in 1..5_000 {
        let _ = writeln!(merges, "a{level}: &a{level} {{<<: *a{}, k{level}: 1}}", level - 1);
    }
    assert_eq!(refused(&merges, &Limits::default()), ReadErrorKind::Limit);
    // Before the values are too many, what aliases bring is too much.
    let wide = format!("a: &a [{}]\nb: [{}]\n", "x,".repeat(2_000), "*a , ".repeat(60));
    let (_, errors) = read_stream(&wide, &Limits::default());
    assert_eq!(errors.len(), 1);
    assert!(errors[0].message.starts_with("aliases expand"), "{errors:?}");
    // What people write is far below.
    let many = format!("a: &a {{x: 1}}\nb: [{}]\n", "*a , ".repeat(1_000));
    assert_eq!(read_stream(&many, &Limits::default()).1, []);
}

#[test]
fn values_and_problems_are_counted() {
    let few = Limits { nodes: 1_000, errors: 10, ..Limits::default() };
    for unit in ["- a\n", "a: b\n", "---\na\n", "- &a x\n", "- {}\n"] {
        assert_eq!(refused(&unit.repeat(1_000), &few), ReadErrorKind::Limit, "{unit:?}");
    }
    for unit in ["----\n", "---\n]\n", "- .inf\n", "- !x a\n", "---\n\t\n"] {
        let text = unit.repeat(100);
        let (_, errors) = read_stream(&text, &few);
        assert_eq!(errors.len(), 11, "{unit:?}");
        assert_eq!(errors[10].kind, ReadErrorKind::Limit, "{unit:?}");
    }
    assert_eq!(refused("a: 1\n", &Limits { bytes: 4, ..few }), ReadErrorKind::Limit);
}

/// One long line of anything, and many short ones.
#[test]
fn long_texts_take_no_more_than_their_length() {
    for unit in [
        "\"",
        "'",
        "a",
        "a ",
        ":",
        "a: ",
        "#",
        " ",
        "\n",
        "\t",
        "\n\t",
        "a:\t",
        "-\t",
        "&a ",
        "*a ",
        "!",
        "%",
        "|\n",
        ">\n ",
        "\\",
        "\u{85}",
        "\u{feff}",
        "\0",
        "\r",
        "...\n",
        "<<<<<<< a\n",
        "a: {{ x }}\n",
        "{}",
        "{\"a\":1}",
        "{\"",
        ",",
        "é",
        "‐",
        "? a\n",
        "a: |\n x\n",
        "a: \"\\n",
        "<<: {a: 1}\n",
    ] {
        let text = unit.repeat((1 << 18) / unit.len());
        let _ = read_stream(&text, &Limits::default());
        let _ = read_stream(&format!("a: |\n  x{text}"), &Limits::default());
        let _ = read_stream(&format!("a: \"{text}"), &Limits::default());
        let _ = read_stream(&format!("- {text}"), &Limits::default());
    }
}
