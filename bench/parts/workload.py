"""The workload: N Databases of mixed engines, and what dbrender makes of each shape of them, as templates for the peers.

No peer's template is written by hand: dbrender renders one Database of each shape whose names are marks, and wherever a
mark stands the template has the value. So every peer has just the same objects to make, and that it does is checked.
"""

import base64
import json
import subprocess

GROUP = "app.example.com"
MARKS = {"name": "zzname", "namespace": "zzspace"}
# Stands in a schedule, which dbrender reads, so the mark has to be a minute. It comes only in front of the rest.
MARKED_MINUTE, MINUTE_END = "17", " */6 * * *"

# Engine, version, profile, members. A Database is named `<name>-db`: `namePrefix` of Kustomize then says it all.
SHAPES = {
    "patroni": ("postgresql", "17", "Automatic", 3),
    "standbys": ("postgresql", "16", "Manual", 3),
    "group": ("mysql", "9.7", "Automatic", 3),
    "single": ("postgresql", "18", "Automatic", 1),
}
# The credentials Job carries a hash of itself in its name, which no template language can make; the controller fills
# the passwords instead.
PLATFORM = {"apiVersion": f"dbrender.{GROUP}/v1alpha1", "kind": "Platform", "credentials": {"generator": "controller"}}


def values(count, shapes=tuple(SHAPES)):
    """What differs between the Databases."""
    return [{"name": f"db-{number:05}", "namespace": f"team-{number % 20:02}", "minute": str(number % 60),
             "shape": shapes[number % len(shapes)]} for number in range(count)]


def database(value):
    engine, version, failover, replicas = SHAPES[value["shape"]]
    return {
        "apiVersion": f"{GROUP}/v1alpha1", "kind": "Database",
        "metadata": {"name": f"{value['name']}-db", "namespace": value["namespace"]},
        "spec": {"engine": engine, "version": version, "failover": failover, "replicas": replicas,
                 "storage": {"size": "100Gi", "storageClass": "fast-ssd"},
                 "backup": {"schedule": f"{value['minute']}{MINUTE_END}", "retention": 14},
                 "resources": {"cpu": "2", "memory": "4Gi"}},
    }


def as_yaml(value, indent=""):
    """Maps of maps and texts, as a person would write them."""
    lines = []
    for key, below in value.items():
        if isinstance(below, dict):
            lines += [f"{indent}{key}:", *as_yaml(below, indent + "  ")]
        else:
            lines.append(f"{indent}{key}: {json.dumps(below)}")
    return lines


def write(folder, entries):
    """A file for each Database, and the platform file beside the folder."""
    folder.mkdir(parents=True)
    platform_of(folder).write_text("\n".join(as_yaml(PLATFORM)) + "\n")
    for value in entries:
        (folder / f"{value['name']}.yaml").write_text("\n".join(as_yaml(database(value))) + "\n")
    return folder


def platform_of(folder):
    return folder.parent / f"{folder.name}.platform.yaml"


def command(binary, what, folder):
    return [binary, what, "--quiet", "--platform", platform_of(folder), folder]


def rendered(binary, scratch, shape):
    """The objects of the shape with marks in them: as values, and as YAML."""
    marked = {**MARKS, "minute": MARKED_MINUTE, "shape": shape}
    folder = write(scratch / f"marked-{shape}", [marked])

    def render(form):
        words = [*command(binary, "render", folder), "-o", form]
        return subprocess.run(words, check=True, capture_output=True, text=True).stdout

    return json.loads(render("json"))["items"], render("yaml")


def fill(text, insert):
    """The text with `insert(what)` for each mark."""
    text = text.replace(MARKED_MINUTE + MINUTE_END, insert("minute") + MINUTE_END)
    for what, mark in MARKS.items():
        text = text.replace(mark, insert(what))
    return text


def is_marked(text):
    return fill(text, lambda _: "") != text


def decoded(text):
    """The text in it, if this is one in base64 with a mark inside."""
    try:
        inner = base64.b64decode(text, validate=True).decode()
    except (ValueError, UnicodeDecodeError):
        return None
    return inner if is_marked(inner) else None


def encoded(text):
    """The words of a YAML text that are base64 with a mark inside."""
    return {word for word in (word.strip('"') for word in set(text.split())) if decoded(word) is not None}
