use super::{is_go_duration, is_image_path, is_pinned, is_registry, is_url};

#[test]
fn words_of_the_platform_file() {
    for (text, good) in [
        ("a/b:1", true),
        ("registry.example.com:5000/team/postgres:16.15-bookworm", true),
        ("a/b@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", true),
        ("a/b:1@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", true),
        ("a/b", false),
        ("a/b:latest", false),
        ("a/b:", false),
        ("a/b@sha256:1", false),
        ("", false),
        ("A/b:1", false),
        ("a b:1", false),
        ("https://a/b:1", false),
        ("registry.example.com:5000/b", false),
    ] {
        assert_eq!(is_pinned(text), good, "{text}");
    }
    for (text, good) in
        [("docker.io", true), ("a:5000", true), ("a:0", false), ("a/b", false), ("https://a", false), ("", false)]
    {
        assert_eq!(is_registry(text), good, "{text}");
    }
    for (text, good) in [("a/b-c", true), ("a//b", false), ("a/", false), ("A", false), ("..", false)] {
        assert_eq!(is_image_path(text), good, "{text}");
    }
    for (text, good) in [
        ("https://s3.example.com", true),
        ("http://minio:9000/", true),
        ("s3.example.com", false),
        ("https://", false),
        ("https://a/b", false),
    ] {
        assert_eq!(is_url(text), good, "{text}");
    }
    for (text, good) in [
        ("1h0m0s", true),
        ("30m", true),
        ("90s", true),
        ("0s", false),
        ("1h30", false),
        ("", false),
        ("1d", false),
        ("-1h", false),
        ("1s1h", false),
    ] {
        assert_eq!(is_go_duration(text), good, "{text}");
    }
}
