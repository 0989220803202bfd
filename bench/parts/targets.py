"""What was promised for this, by how much it holds here, and beside what."""

# What a peer takes, as a multiple of what dbrender takes, with 1,000 Databases: at least this.
AHEAD = {
    "helm, one chart over a list": 6,
    "helm, a release per Database": 200,
    "kustomize, one root of all overlays": 400,
    "jrsonnet": 2,
}


def ratio(a, b):
    return a / max(b, 0.001)


def targets(results, compared):
    """Rows: what, value, bound, unit, whether the bound is the least or the most, and whether it is met."""
    rows = []

    def promise(what, value, bound, unit, least=False, about=""):
        met = value >= bound if least else value <= bound
        # Less than was promised of a larger count says nothing: the ratio grows.
        met = None if about and not met else met
        margin = value / bound - 1 if least else 1 - value / bound
        rows.append({"what": what, "value": round(value, 3), "bound": bound, "unit": unit, "least": least, "met": met,
                     "margin": round(margin, 3), "about": about})

    if 1 in results:
        promise("one Database to stdout", results[1]["rows"]["dbrender"]["cpu"] * 1000, 15, "ms CPU")
    if 1000 in results:
        found = results[1000]
        row = found["rows"]
        ours = row["dbrender"]
        promise("1,000 Databases to stdout", ours["cpu"], 0.3, "s CPU")
        promise("1,000 Databases to stdout", ours["peak"] / 1e6, 40, "MB")
        promise("1,000 Databases to stdout, for 100 MB", ratio(ours["cpu"], found["bytes"] / 1e8), 1, "s CPU")
        tree, copied = row["dbrender, a fresh tree"], row["cp -r of the tree"]
        promise("1,000 Databases to a fresh tree", ratio(tree["cpu"], copied["cpu"]), 2, "x cp -r, CPU")
        promise("1,000 Databases to a fresh tree", ratio(tree["wall"], copied["wall"]), 2, "x cp -r, wall")
        promise("1,000 Databases, nothing changed", row["dbrender, nothing changed"]["cpu"], 0.5, "s CPU")
        promise("1,000 Databases, check only", row["dbrender check"]["cpu"], 0.15, "s CPU")
    for peer, least in AHEAD.items():
        # Where the largest count was too slow for it, a smaller one says less than there is.
        counts = [count for count in (1000, 100, 10) if count in results and peer in results[count]["rows"]]
        if counts:
            count = counts[0]
            about = "" if count == 1000 else "; promised of 1,000, which were not measured"
            promise(f"{count:,} Databases, {peer}", results[count]["rows"][peer]["cpuRatio"]["median"], least,
                    "x the CPU of dbrender", True, about)
    if compared["databases"] == 1000:
        promise("1,000 Databases, diff against a dump", compared["diffCpu"], 0.6, "s CPU")
        promise("1,000 Databases, diff against a dump", compared["diffPeakBytes"] / 1e6, 250, "MB")
    if 1000 in results and 10000 in results:
        large, small = results[10000]["rows"]["dbrender"], results[1000]["rows"]["dbrender"]
        promise("10,000 Databases to stdout", ratio(large["cpu"], small["cpu"]), 10.5, "x 1,000, CPU")
    return rows


def verdict(row):
    """Whether it is met, and by how much."""
    if row["met"] is None:
        return "open"
    return f"{'met' if row['met'] else 'MISSED'} by {abs(row['margin']) * 100:.0f} %"


def line(row):
    side = "at least" if row["least"] else "at most"
    return f"{verdict(row):<16} {row['what']}: {row['value']:g} {row['unit']}, {side} {row['bound']:g}{row['about']}"
