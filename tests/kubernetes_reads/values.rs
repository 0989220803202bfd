//! Quantities and schedules, against `resource.ParseQuantity` and the cron parser of Kubernetes.

use dbrender::api::{Quantity, Schedule};
use serde_json::Value;

use crate::oracle::{Answer, Random, ask, number};

/// Numbers and suffixes in all combinations, and random ones.
fn quantities() -> Vec<String> {
    const NUMBERS: [&str; 44] = [
        "0",
        "1",
        "2",
        "5",
        "7",
        "8",
        "9",
        "10",
        "12",
        "16",
        "64",
        "100",
        "512",
        "999",
        "1000",
        "1001",
        "1024",
        "1030",
        "1536",
        "2048",
        "4096",
        "65536",
        "1000000",
        "1048576",
        "123456789",
        "999999999",
        "1000000000",
        "9223372036854775807",
        "9223372036854775808",
        "0.5",
        "0.1",
        "1.5",
        "2.25",
        ".5",
        "5.",
        "0.001",
        "0.0001",
        "0.000000001",
        "0.0000000001",
        "1.0",
        "1.10",
        "0.333",
        "00",
        "01",
    ];
    const SUFFIXES: [&str; 36] = [
        "", "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "e0", "e1", "e2", "e3",
        "E3", "e-3", "e+6", "e-9", "e-10", "e18", "e", "e+", "K", "KI", "gb", " Gi", "i", "mi", "e3Ki", "Gi ",
    ];
    let mut texts: Vec<String> = NUMBERS
        .iter()
        .flat_map(|number| SUFFIXES.iter().map(move |suffix| format!("{number}{suffix}")))
        .flat_map(|text| [format!("-{text}"), format!("+{text}"), text])
        .collect();
    texts.extend(
        ["", " ", "-", "+", ".", "--1", "+-1", "1..2", "1.2.3", "0x10", "1_000", "１", "1e3.5", "inf", "NaN", "1,5"]
            .map(str::to_owned),
    );
    let mut random = Random::new(number("DBRENDER_SEED", 21));
    for _ in 0..number("DBRENDER_ROUNDS", 20_000) {
        let digits = random.next() >> random.below(64);
        let suffix = SUFFIXES[random.below(24)];
        texts.push(match random.below(3) {
            0 => format!("{digits}{suffix}"),
            1 => format!("{}.{:0width$}{suffix}", digits % 100_000, random.next() % 1000, width = 3 + random.below(3)),
            _ => format!("{}.{}{suffix}", digits % 1000, random.next() % 1_000_000_000),
        });
    }
    texts
}

#[test]
fn quantities_are_what_kubernetes_makes_of_them() {
    let texts = quantities();
    let answers = ask(texts.iter().map(|text| ("quantity", text.as_bytes())));
    let (mut same, mut refused, mut strict) = (0, 0, 0);
    let mut canonical = Vec::new();
    for (text, answer) in texts.iter().zip(answers) {
        match (Quantity::parse(text), answer) {
            (Ok(ours), Answer::Read(theirs)) => {
                let field =
                    |name: &str| theirs[name].as_str().unwrap_or_else(|| panic!("{name} of {theirs}")).to_owned();
                assert_eq!(ours.canonical(), field("canonical"), "{text}");
                assert_eq!(ours.nano().to_string(), field("nano"), "{text}");
                if let Some(bytes) = ours.bytes()
                    && i64::try_from(bytes).is_ok()
                {
                    assert_eq!(bytes.to_string(), field("value"), "{text}");
                }
                if let Some(millicores) = ours.millicores()
                    && i64::try_from(millicores).is_ok()
                {
                    assert_eq!(millicores.to_string(), field("milli"), "{text}");
                }
                canonical.push(ours.canonical());
                same += 1;
            }
            (Err(_), Answer::Refused(_)) => refused += 1,
            (Ok(ours), Answer::Refused(error)) => panic!("we read {text} as {ours}, Kubernetes says {error}"),
            (Err(error), Answer::Read(theirs)) => {
                let odd = matches!(text.as_str(), "-" | "+" | ".");
                let large = theirs["nano"].as_str().is_some_and(|nano| nano.trim_start_matches('-').len() >= 28);
                assert!(odd || large, "{text}: {error}, Kubernetes {theirs}");
                strict += 1;
            }
        }
    }
    println!("{} quantities: {same} same, {refused} refused by both, {strict} refused by us", texts.len());
    // The server stores our spelling as it is, so a plain text comparison stays quiet.
    for (text, answer) in canonical.iter().zip(ask(canonical.iter().map(|text| ("quantity", text.as_bytes())))) {
        match answer {
            Answer::Read(theirs) => assert_eq!(theirs["stored"], Value::from(text.as_str())),
            Answer::Refused(error) => panic!("{text}: {error}"),
        }
    }
}

fn schedules(random: &mut Random) -> Vec<String> {
    const WHOLE: [&str; 48] = [
        "",
        " ",
        "@daily",
        "@midnight",
        "@hourly",
        "@weekly",
        "@monthly",
        "@yearly",
        "@annually",
        "@Daily",
        " @daily",
        "@daily ",
        "@reboot",
        "@every",
        "@every 1h",
        "@every  1h",
        "@every 1h30m",
        "@every 1.5h",
        "@every 90s",
        "@every 100ms",
        "@every 1d",
        "@every -1h",
        "@every 0",
        "@every +0",
        "@every 1h ",
        "@every .5h",
        "@every 1.h",
        "@every 1µs",
        "@every 1us",
        "@every 1s1s",
        "@every 2562047h",
        "@every 2562048h",
        "@every .h",
        "@every 1",
        "@every 9223372036854775808ns",
        "@every 1.123456789123456789123h",
        "* * * *",
        "* * * * * *",
        "TZ=UTC * * * * *",
        "CRON_TZ=UTC * * * * *",
        "*\t*\n*\u{a0}*\u{2003}*",
        "*,* * * * *",
        "0 0 31 2 *",
        ", 2 * * *",
        "0 0 29 2 *",
        "0 0 29 2 1",
        "0 0 , * ,",
        "@every 1h1",
    ];
    const PARTS: [&str; 60] = [
        "*",
        "?",
        "0",
        "1",
        "5",
        "7",
        "12",
        "13",
        "23",
        "24",
        "31",
        "32",
        "59",
        "60",
        "00",
        "+1",
        "-1",
        "1-5",
        "5-1",
        "0-0",
        "1-5/2",
        "*/2",
        "*/5",
        "*/61",
        "*/0",
        "*/1",
        "?/2",
        "5/15",
        "0/5",
        "1-",
        "-",
        "/",
        "*/",
        "1/2/3",
        "1-2-3",
        "*-5",
        "*-5-6",
        "*/+2",
        "*/99999999999",
        "9223372036854775808",
        "mon",
        "MON",
        "sun-sat",
        "sat-sun",
        "jan",
        "Dec",
        "feb-apr",
        "monday",
        "january",
        "L",
        "15W",
        "5#2",
        "w",
        "1,2",
        "1,,2",
        ",",
        "*,1",
        "1,*/7",
        "6",
        "30",
    ];
    let mut texts: Vec<String> = WHOLE.map(str::to_owned).to_vec();
    for field in 0..5 {
        for part in PARTS {
            let mut fields = ["0", "2", "*", "*", "*"];
            fields[field] = part;
            texts.push(fields.join(" "));
        }
    }
    for _ in 0..number("DBRENDER_ROUNDS", 5_000) {
        let fields: Vec<&str> = (0..5).map(|_| PARTS[random.below(PARTS.len())]).collect();
        texts.push(fields.join(" "));
        let plain = ["*", "*", "0", "1", "12", "30", "1-5", "*/7", "6", "2"];
        let fields: Vec<&str> = (0..5).map(|_| plain[random.below(plain.len())]).collect();
        texts.push(fields.join(" "));
    }
    texts
}

#[test]
fn schedules_run_when_kubernetes_runs_them() {
    let mut random = Random::new(number("DBRENDER_SEED", 31));
    let texts = schedules(&mut random);
    let starts: Vec<i64> =
        texts.iter().map(|_| 1_600_000_000 + i64::try_from(random.below(400_000_000)).unwrap()).collect();
    let requests: Vec<String> = texts.iter().zip(&starts).map(|(text, start)| format!("{start}\n{text}")).collect();
    let answers = ask(requests.iter().map(|request| ("cron", request.as_bytes())));
    let (mut same, mut never, mut refused) = (0, 0, 0);
    for ((text, start), answer) in texts.iter().zip(starts).zip(answers) {
        match (Schedule::parse(text), answer) {
            (Ok(ours), Answer::Read(theirs)) => {
                let mut runs = Vec::new();
                let mut at = start;
                while runs.len() < 40
                    && let Some(next) = ours.next(at)
                {
                    runs.push(Value::from(next));
                    at = next;
                }
                assert_eq!(Value::from(runs.clone()), theirs, "{text} from {start}");
                assert_eq!(ours.never_fires(), runs.is_empty(), "{text}");
                if let Some(intervals) = ours.intervals() {
                    for pair in runs.windows(2) {
                        let distance = pair[1].as_u64().unwrap() - pair[0].as_u64().unwrap();
                        assert!(
                            (intervals.shortest..=intervals.longest).contains(&distance),
                            "{text}: {distance} {intervals:?}"
                        );
                    }
                }
                never += u32::from(runs.is_empty());
                same += 1;
            }
            (Err(_), Answer::Refused(_)) => refused += 1,
            // The parser takes it, the validation of CronJob does not.
            (Err(_), Answer::Read(_)) if text.contains("TZ") => refused += 1,
            (Ok(_), Answer::Refused(error)) => panic!("we accept `{text}`, Kubernetes says {error}"),
            (Err(error), Answer::Read(_)) => panic!("we refuse `{text}`: {error}"),
        }
    }
    println!(
        "{} schedules: {same} run at the same times, {never} of them never; {refused} refused by both",
        texts.len()
    );
}
