"""The peers: for each, the same objects written in its own language, and the commands that print them."""

import base64
import json
import os
import subprocess

from . import workload

HELM, KUSTOMIZE, KUBECTL, JSONNET, JRSONNET, CUE = "helm", "kustomize", "kubectl", "jsonnet", "jrsonnet", "cue"


class Peer:
    """A way to make the objects. `prepare` writes what it reads and answers with its commands."""

    def __init__(self, name, program, prepare):
        self.name, self.program, self.prepare = name, program, prepare


def build(root, say):
    """The programs, made once from pinned packages and kept in the cache of the test bed."""
    programs = {}
    for name in (HELM, KUSTOMIZE, KUBECTL, JSONNET, JRSONNET, CUE):
        built = subprocess.run([root / "testbed/build", name], stdout=subprocess.PIPE, text=True)
        if built.returncode != 0:
            say(f"{name} is not measured: it could not be built")
            continue
        programs[name] = os.path.join(built.stdout.strip(), name)
    return programs


def versions(programs):
    """What each says it is."""
    ask = {HELM: ["version", "--short"], KUSTOMIZE: ["version"], KUBECTL: ["version", "--client"],
           JSONNET: ["--version"], JRSONNET: ["--version"], CUE: ["version"]}
    said = {}
    for name, program in programs.items():
        answer = subprocess.run([program, *ask[name]], capture_output=True, text=True)
        lines = (answer.stdout or answer.stderr).strip().splitlines()
        said[name] = lines[0] if lines else "it does not say"
    return said


# Helm: the YAML of dbrender with actions in it.

def helm_text(text):
    opened = text.replace("{{", "\0").replace("}}", "\1")
    for encoded in workload.encoded(text):
        form = workload.fill(workload.decoded(encoded), lambda what: f"%[{1 if what == 'name' else 2}]s")
        opened = opened.replace(encoded, f"\2 printf {json.dumps(form)} $d.name $d.namespace | b64enc \3")
    opened = workload.fill(opened, lambda what: f"\2 $d.{what} \3")
    return (opened.replace("\0", '{{ "{{" }}').replace("\1", '{{ "}}" }}')
            .replace("\2", "{{").replace("\3", "}}"))


def helm_chart(folder, shapes):
    (folder / "templates").mkdir(parents=True)
    (folder / "Chart.yaml").write_text("apiVersion: v2\nname: databases\nversion: 1.0.0\n")
    for shape, (_, text) in shapes.items():
        (folder / f"templates/{shape}.yaml").write_text(
            f'{{{{- range $d := .Values.databases }}}}\n{{{{- if eq $d.shape "{shape}" }}}}\n---\n{helm_text(text)}'
            "{{- end }}\n{{- end }}\n")


def helm_list(program, _reader, folder, shapes, entries):
    helm_chart(folder, shapes)
    (folder / "values.yaml").write_text(json.dumps({"databases": entries}))
    return [[program, "template", "all", folder]]


def helm_releases(program, _reader, folder, shapes, entries):
    helm_chart(folder, shapes)
    commands = []
    for value in entries:
        file = folder / f"{value['name']}.json"
        file.write_text(json.dumps({"databases": [value]}))
        commands.append([program, "template", value["name"], folder, "--values", file])
    return commands


# Jsonnet and CUE: the objects as JSON, which both read, with expressions where marks are.

def literal(value, text):
    """A value in a language that reads JSON; `text` writes a text that has marks."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)}: {literal(below, text)}" for key, below in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(literal(below, text) for below in value) + "]"
    if isinstance(value, str) and (workload.is_marked(value) or workload.decoded(value) is not None):
        return text(value)
    return json.dumps(value, ensure_ascii=False)


def jsonnet_text(value):
    inner = workload.decoded(value)
    if inner is not None:
        return f"std.base64({jsonnet_text(inner)})"
    return workload.fill(json.dumps(value, ensure_ascii=False), lambda what: f'" + d.{what} + "')


def jsonnet(program, _reader, folder, shapes, entries):
    folder.mkdir(parents=True)
    (folder / "databases.json").write_text(json.dumps(entries))
    functions = ",\n".join(f"  {shape}(d):: {literal(objects, jsonnet_text)}" for shape, (objects, _) in shapes.items())
    (folder / "main.jsonnet").write_text(
        f"local shapes = {{\n{functions}\n}};\n"
        "std.manifestYamlStream(std.flatMap(function(d) shapes[d.shape](d), import 'databases.json'), quote_keys=false)\n")
    return [[program, "-S", folder / "main.jsonnet"]]


def cue_text(value):
    inner = workload.decoded(value)
    if inner is not None:
        return f"base64.Encode(null, {cue_text(inner)})"
    return workload.fill(json.dumps(value, ensure_ascii=False), lambda what: f"\\(d.{what})")


def cue(program, _reader, folder, shapes, entries):
    folder.mkdir(parents=True)
    (folder / "databases.json").write_text(json.dumps({"databases": entries}))
    loops = "\n".join(f'\tfor d in databases if d.shape == "{shape}" for o in {literal(objects, cue_text)} {{o}},'
                      for shape, (objects, _) in shapes.items())
    (folder / "main.cue").write_text(
        'import (\n\t"encoding/base64"\n\t"encoding/yaml"\n)\n\n_use: base64.Encode(null, "")\n'
        f"databases: [...]\nout: yaml.MarshalStream([\n{loops}\n])\n")
    return [[program, "export", folder / "main.cue", folder / "databases.json", "-e", "out", "--out", "text"]]


# Kustomize: a base for each shape, and for each Database an overlay with its prefix, namespace and labels, and a patch
# for each text that these do not reach.

BASE = "db"
LABELS = (f"{workload.GROUP}/database", "app.kubernetes.io/instance")


def filled(value, of):
    """The value with `of(what)` for each mark."""
    if isinstance(value, dict):
        return {key: filled(below, of) for key, below in value.items()}
    if isinstance(value, list):
        return [filled(below, of) for below in value]
    if not isinstance(value, str):
        return value
    inner = workload.decoded(value)
    if inner is not None:
        return base64.b64encode(workload.fill(inner, of).encode()).decode()
    return workload.fill(value, of)


def base(text):
    """The YAML of a Database without a prefix, in no namespace of its own and at another minute."""
    text = text.replace(f"{workload.MARKS['name']}-{BASE}", BASE)
    for encoded in workload.encoded(text):
        text = text.replace(encoded, "")
    return workload.fill(text, lambda what: "0" if what == "minute" else "default")


def differences(have, want, path=""):
    """What a patch has to set."""
    if isinstance(have, dict) and isinstance(want, dict):
        for key in sorted(set(have) | set(want)):
            place = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in want:
                yield {"op": "remove", "path": place}
            elif key not in have:
                yield {"op": "add", "path": place, "value": want[key]}
            else:
                yield from differences(have[key], want[key], place)
    elif isinstance(have, list) and isinstance(want, list) and len(have) == len(want):
        for number, pair in enumerate(zip(have, want)):
            yield from differences(*pair, f"{path}/{number}")
    elif have != want:
        yield {"op": "replace", "path": path, "value": want}


def overlay(place, value):
    return {"apiVersion": "kustomize.config.k8s.io/v1beta1", "kind": "Kustomization", "resources": [place],
            "namePrefix": f"{value['name']}-", "namespace": value["namespace"],
            # Not in selectors: Kustomize would put the label into claim templates too, which nothing can change later.
            "labels": [{"pairs": {label: f"{value['name']}-{BASE}" for label in LABELS}}]}


def key_of(item):
    return item["kind"], item["metadata"]["name"]


def patches(command, reader, folder, objects):
    """What is left to be set, by kind and name in the base; with marks."""
    probe = folder / "probe"
    probe.mkdir()
    (probe / "kustomization.yaml").write_text(json.dumps(overlay("../base", workload.MARKS)))
    out = folder / "probe.yaml"
    out.write_bytes(subprocess.run([*command, probe], check=True, capture_output=True).stdout)
    made = {key_of(item): item for item in json.loads(subprocess.run(
        [*reader, "json", out], check=True, capture_output=True, text=True).stdout)}
    found = {}
    for item in objects:
        kind, name = key_of(item)
        steps = list(differences(made[kind, name], item))
        if steps:
            found[kind, name.removeprefix(f"{workload.MARKS['name']}-")] = steps
    return found


def overlays(command, reader, folder, shapes, entries):
    """Writes bases and overlays, and answers with the folders of the overlays."""
    left = {}
    for shape in {value["shape"] for value in entries}:
        place = folder / shape
        (place / "base").mkdir(parents=True)
        (place / "base/all.yaml").write_text(base(shapes[shape][1]))
        (place / "base/kustomization.yaml").write_text(json.dumps({"resources": ["all.yaml"]}))
        left[shape] = patches(command, reader, place, shapes[shape][0])
    folders = []
    for value in entries:
        place = folder / "overlays" / value["name"]
        place.mkdir(parents=True)
        form = overlay(f"../../{value['shape']}/base", value)
        form["patches"] = [{"target": {"kind": kind, "name": name},
                            "patch": json.dumps(filled(steps, value.__getitem__))}
                           for (kind, name), steps in left[value["shape"]].items()]
        (place / "kustomization.yaml").write_text(json.dumps(form))
        folders.append(place)
    return folders


def kustomize_root(program, reader, folder, shapes, entries):
    folders = overlays([program, "build"], reader, folder, shapes, entries)
    (folder / "kustomization.yaml").write_text(
        json.dumps({"resources": [str(place.relative_to(folder)) for place in folders]}))
    return [[program, "build", folder]]


def kustomize_each(program, reader, folder, shapes, entries):
    return [[program, "build", place] for place in overlays([program, "build"], reader, folder, shapes, entries)]


def kubectl_each(program, reader, folder, shapes, entries):
    # The bases are read by Kustomize itself: what is in both programs is the same library.
    return [[program, "kustomize", place] for place in overlays([program, "kustomize"], reader, folder, shapes, entries)]


PEERS = [
    Peer("helm, one chart over a list", HELM, helm_list),
    Peer("helm, a release per Database", HELM, helm_releases),
    Peer("kustomize, one root of all overlays", KUSTOMIZE, kustomize_root),
    Peer("kustomize, a build per overlay", KUSTOMIZE, kustomize_each),
    Peer("kubectl kustomize, per overlay", KUBECTL, kubectl_each),
    Peer("go-jsonnet", JSONNET, jsonnet),
    Peer("jrsonnet", JRSONNET, jsonnet),
    Peer("cue export", CUE, cue),
]
