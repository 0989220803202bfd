"""The page of the documentation: what stands between its marks, and its plots, from the results."""

import json

from . import plot, targets

BEGIN, END = "<!-- Written by bench/run. -->\n", "<!-- End of what bench/run wrote. -->\n"


def cell(row):
    return f"{plot.figure(row['min'])} / **{plot.figure(row['median'])}** / {plot.figure(row['max'])}"


def table(results):
    counts = [result["databases"] for result in results]
    names = list(dict.fromkeys(name for result in results for name in [*result["rows"], *result["leftOut"]]))
    lines = ["| CPU, × `dbrender render` | " + " | ".join(f"N = {count:,}" for count in counts) + " |",
             "|---|" + "---|" * len(counts)]
    for name in names:
        if name == "dbrender":
            cells = [f"{plot.figure(result['rows'][name]['cpu'])} s" for result in results]
        else:
            cells = [cell(result["rows"][name]["cpuRatio"]) if name in result["rows"] else "" for result in results]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def memory(results):
    lines = ["| peak MB | " + " | ".join(f"N = {result['databases']:,}" for result in results) + " |",
             "|---|" + "---|" * len(results)]
    names = [name for name in dict.fromkeys(name for result in results for name in result["rows"]) if is_program(name)]
    for name in names:
        cells = [f"{result['rows'][name]['peak'] / 1e6:,.0f}" if name in result["rows"] else "" for result in results]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def is_program(name):
    """Whether it makes the objects; the others say what the machine needs for their bytes."""
    return name not in ("cp -r of the tree", "cat of the tree", "dbrender check", "dbrender, nothing changed",
                        "dbrender, a fresh tree")


def promised(rows):
    lines = ["| target | here | bound | |", "|---|---|---|---|"]
    for row in rows:
        side = "at least" if row["least"] else "at most"
        how = targets.verdict(row).replace("MISSED", "**missed**")
        lines.append(f"| {row['what']} | {row['value']:g} {row['unit']}{row['about']} | {side} {row['bound']:g} | {how} |")
    return lines


def body(whole):
    results = whole["results"]
    versions = ", ".join(f"{name} ({said})" for name, said in whole["versions"].items())
    last = results[-1]
    few = [f"No more than {last['databases']:,} Databases were measured here, so of most targets, which are about 1,000, nothing "
           "is said.", ""] if last["databases"] < 1000 else []
    return "\n".join([
        f"dbrender: {whole['program']}. Peers: {versions}. Machine: {whole['machine']}. {whole['rounds']} rounds; N = {last['databases']:,} is "
        f"{last['bytes'] / 1e6:,.0f} MB of YAML. Least, **median** and most of the ratios, each of a pair that ran one after "
        f"the other. An empty cell: one run would have needed more than {whole['patienceSeconds']:g} s of CPU, by how it grew.",
        "", *few, *table(results), "", "![CPU seconds by number of Databases](performance/cpu.svg)", "",
        "![What a peer takes, as a multiple](performance/ratios.svg)", "",
        "The thin line goes from the least to the most; the dashed mark is the target with 1,000 Databases.", "", *memory(results), "",
        "## Targets", "", *promised(whole["targets"]), ""])


def plots(whole):
    results = whole["results"]
    series = {}
    for result in results:
        for name, row in result["rows"].items():
            if is_program(name):
                series.setdefault(name, []).append((result["databases"], max(row["cpu"], 0.001)))
    # The largest count that every peer was measured with says most of all of them.
    shared = [result for result in results if not result["leftOut"]] or results[:1]
    most = shared[-1]
    rows = {name: row["cpuRatio"] for name, row in most["rows"].items() if name != "dbrender" and is_program(name)}
    bounds = {name: bound for name, bound in targets.AHEAD.items() if name in rows}
    return {
        "cpu.svg": plot.lines("CPU seconds to make the objects of N Databases", series, " s", "Databases"),
        "ratios.svg": plot.bars(f"CPU with {most['databases']:,} Databases, as a multiple of dbrender render", rows, " ×", bounds),
    }


def files(folder, whole):
    """Paths and what they shall hold."""
    page = folder / "performance.md"
    text = page.read_text()
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    wanted = {page: f"{before}{BEGIN}\n{body(whole)}\n{END}{after}"}
    wanted.update({folder / "performance" / name: text for name, text in plots(whole).items()})
    return wanted


def write(folder, whole):
    (folder / "performance").mkdir(exist_ok=True)
    (folder / "performance/results.json").write_text(json.dumps(whole, indent=1) + "\n")
    for path, text in files(folder, whole).items():
        path.write_text(text)


def stale(folder):
    """What is not as the results say."""
    whole = json.loads((folder / "performance/results.json").read_text())
    return [path for path, text in files(folder, whole).items() if not path.exists() or path.read_text() != text]
