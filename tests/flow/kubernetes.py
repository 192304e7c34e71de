"""kubernetes - judges manifests: what they run is there and has those options,
what they mount is a volume, and no container is open.

    kubernetes.py BIN FILE...

SPDX-License-Identifier: MIT
"""
import os
import re
import subprocess
import sys

import yaml

programs = sys.argv[1]
wrong = []


def options_of(program):
    text = subprocess.run([os.path.join(programs, program), "--help-all"],
                          capture_output=True, text=True, check=True).stdout
    return dict(re.findall(r"^  (?:-\w,)? *(--[a-z0-9-]+)( [A-Z]\S*)?", text, re.M))


def judge_command(where, words):
    program = words[0]
    if not program.startswith("poolscope"):
        return
    if not os.access(os.path.join(programs, program), os.X_OK):
        wrong.append(f"{where}: {program} is no program of poolscope")
        return
    known, i = options_of(program), 1
    while i < len(words):
        if words[i].startswith("--"):
            if words[i] not in known:
                wrong.append(f"{where}: {program} has no {words[i]}")
                return
            i += bool(known[words[i]])
            if i >= len(words):
                wrong.append(f"{where}: {words[-1]} needs a value")
        elif program != "poolscope-stats":
            wrong.append(f"{where}: {program} takes no {words[i]}")
        i += 1


def judge_container(where, container, volumes):
    where = f"{where}/{container['name']}"
    judge_command(where, container["command"])
    probe = container.get("livenessProbe", {}).get("exec")
    if probe:
        judge_command(where, probe["command"])
    if container["command"][0].startswith("poolscope") and "limits" not in container["resources"]:
        wrong.append(f"{where}: memory without a limit")
    every = {o for p in os.listdir(programs) if p.startswith("poolscope-") for o in options_of(p)}
    for variable in container.get("env", []):
        option = "--" + variable["name"].replace("POOLSCOPE_", "").lower().replace("_", "-")
        if option not in every:
            wrong.append(f"{where}: {variable['name']} is no option")
    for mount in container.get("volumeMounts", []):
        if mount["name"] not in volumes:
            wrong.append(f"{where}: {mount['name']} is no volume")
        if mount["mountPath"].endswith(("/run", "/store")) and "emptyDir" in volumes.get(mount["name"], {}):
            wrong.append(f"{where}: {mount['mountPath']} belongs to root, and everybody can write it")
    context = container["securityContext"]
    if (context["allowPrivilegeEscalation"] or not context["readOnlyRootFilesystem"]
            or context["capabilities"]["drop"] != ["ALL"]):
        wrong.append(f"{where}: is open")


containers = 0
for path in sys.argv[2:]:
    for document in yaml.safe_load_all(open(path, encoding="utf-8")):
        spec = document.get("spec", {}).get("template", {}).get("spec")
        if spec is None:
            continue
        volumes = {v["name"]: v for v in spec["volumes"]}
        labels = document["spec"]["template"]["metadata"]["labels"]
        if document["spec"]["selector"]["matchLabels"] != labels:
            wrong.append(f"{path}: selects other pods than it makes")
        for container in spec.get("initContainers", []) + spec["containers"]:
            containers += 1
            judge_container(f"{os.path.basename(path)}", container, volumes)
print(containers, "containers")
print("\n".join(wrong))
sys.exit(bool(wrong) or containers == 0)
