"""Licences and known vulnerabilities of what an installation of forensics, and the building of its site, bring along.

    python .ci/audit.py [--sbom FILE]

With ``--sbom`` it writes the list of all that an installation consists of instead, as CycloneDX JSON: each package with
its version, licences, and what it needs.

Exit codes: 0 nothing is wrong, or no database of vulnerabilities could be reached, which is said. 1: a package has a
licence that is not on the list, or a known vulnerability.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterable, Set
from importlib.metadata import Distribution, PackageMetadata, PackageNotFoundError, distribution
from pathlib import Path

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

PROJECT = "forensics"
ROOT = Path(__file__).resolve().parents[1]
ACCEPTED = frozenset(
    {
        "0BSD",
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "CC0-1.0",
        "MIT",
        "PSF-2.0",
        "Zlib",
        # as older metadata has it
        "3-Clause BSD License",
        "Apache Software License",
        "BSD License",
        "MIT License",
    }
)
"""Licences under which a dependency may be; others need a decision and a line here."""

FOR_THE_SITE = ACCEPTED | {"MPL-2.0", "Mozilla Public License 2.0 (MPL 2.0)"}
"""Licences of what only builds the documentation site. Nothing that is under the MPL is on the site."""

Find = Callable[[str], Distribution]


def requires(one: Distribution, find: Find = distribution) -> list[Distribution]:
    """Return the packages that one needs here without extras, as far as they are installed."""
    return installed(one.requires or (), find)


def installed(requirements: Iterable[str], find: Find = distribution) -> list[Distribution]:
    """Return the packages that requirements name, as far as they are installed."""
    found = []
    for requirement in map(Requirement, requirements):
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            with contextlib.suppress(PackageNotFoundError):  # for another system or Python
                found.append(find(requirement.name))
    return found


def needed(find: Find = distribution) -> dict[str, Distribution]:
    """Return what an installation without extras brings along, by its normalised name; the project itself left out."""
    return closure(requires(find(PROJECT), find), find)


def for_the_site(find: Find = distribution) -> dict[str, Distribution]:
    """Return what the dependency group ``docs`` brings along, by its normalised name."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return closure(installed(project["dependency-groups"]["docs"], find), find)


def closure(waiting: list[Distribution], find: Find = distribution) -> dict[str, Distribution]:
    """Return packages and all that they need, by their normalised names."""
    found: dict[str, Distribution] = {}
    waiting = list(waiting)
    while waiting:
        one = waiting.pop()
        if (name := canonicalize_name(one.name)) not in found:
            found[name] = one
            waiting += requires(one, find)
    return dict(sorted(found.items()))


def licences(one: Distribution) -> set[str]:
    """Return the names of a package's licences, as its metadata gives them."""
    data = one.metadata
    if said := _only(data, "License-Expression"):
        return set(re.split(r"\s+(?:AND|OR|WITH)\s+|[()]", said)) - {""}
    classified = {c.rpartition(" :: ")[2] for c in data.get_all("Classifier") or () if c.startswith("License ::")}
    return classified or {_only(data, "License").strip().partition("\n")[0] or "none given"}


def _only(data: PackageMetadata, field: str) -> str:
    return next(iter(data.get_all(field) or ()), "")


def unlicensed(packages: Iterable[Distribution], accepted: Set[str] = ACCEPTED) -> list[str]:
    """Return a sentence for each package with a licence that is not accepted."""
    wrong = [(one, sorted(licences(one) - accepted)) for one in packages]
    return sorted(f"{one.name} {one.version}: {', '.join(names)}" for one, names in wrong if names)


def vulnerable(report: str) -> tuple[list[str], list[str]]:
    """Return the vulnerabilities of a report of ``pip-audit``, and the packages that it could not look up."""
    found, skipped = [], []
    for one in json.loads(report)["dependencies"]:
        if "skip_reason" in one:
            skipped.append(one["name"])
        for flaw in one.get("vulns", ()):
            repaired = ", ".join(flaw["fix_versions"]) or "no version"
            found.append(f"{one['name']} {one['version']}: {flaw['id']}, repaired in {repaired}")
    return found, skipped


def audited(names: Iterable[str]) -> str:
    """Return what ``pip-audit`` reports of the packages as they are installed; "" if it reached nothing."""
    pins = "".join(f"{name}=={distribution(name).version}\n" for name in sorted(names))
    command = [sys.executable, "-m", "pip_audit", "--no-deps", "--disable-pip", "--format", "json", "-r", "/dev/stdin"]
    try:
        ran = subprocess.run(command, input=pins, capture_output=True, text=True, check=False, timeout=120)
    except subprocess.TimeoutExpired:
        return ""
    return ran.stdout if ran.stdout.startswith("{") else ""


def bill(packages: dict[str, Distribution], find: Find = distribution) -> str:
    """Return the list of all packages and of what needs what, as CycloneDX JSON."""
    bom = Bom()
    made = {name: _component(one, ComponentType.LIBRARY) for name, one in packages.items()}
    bom.metadata.component = whole = _component(find(PROJECT), ComponentType.APPLICATION)
    bom.components.update(made.values())
    for component, one in [(whole, find(PROJECT)), *((made[name], one) for name, one in packages.items())]:
        bom.register_dependency(component, [made[canonicalize_name(other.name)] for other in requires(one, find)])
    return make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=1)


def _component(one: Distribution, kind: ComponentType) -> Component:
    url = PackageURL("pypi", None, canonicalize_name(one.name), one.version)
    names = LicenseFactory()
    expression = _only(one.metadata, "License-Expression")
    given = [names.make_from_string(text) for text in ([expression] if expression else sorted(licences(one)))]
    return Component(
        name=one.name, version=one.version, type=kind, licenses=given, purl=url, bom_ref=f"{one.name}=={one.version}"
    )


def main(arguments: list[str] | None = None) -> int:
    """Say what is wrong, if anything is, or write the list."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sbom", type=Path)
    asked = parser.parse_args(arguments)
    packages = needed()
    if asked.sbom is not None:
        asked.sbom.parent.mkdir(parents=True, exist_ok=True)
        asked.sbom.write_text(f"{bill(packages)}\n", "utf-8")
        return 0
    of_site = for_the_site()
    strange = [*unlicensed(packages.values()), *unlicensed(of_site.values(), FOR_THE_SITE)]
    wrong = [f"licence not on the list of .ci/audit.py: {said}" for said in sorted(set(strange))]
    packages = {**of_site, **packages}
    report = audited(packages)
    flaws, skipped = vulnerable(report) if report else ([], sorted(packages))
    wrong += [f"known vulnerability: {said}" for said in flaws]
    for said in wrong:
        sys.stderr.write(f"audit: {said}\n")
    if skipped:
        left = f"{len(skipped)} of {len(packages)} packages were not looked up"
        sys.stdout.write(f"audit: no database of vulnerabilities could be reached: {left}\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
