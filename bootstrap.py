#!/usr/bin/env python3
"""Set sciprec up beside this file, then run its quickstart or its tests.

    python3 bootstrap.py quickstart   sciprec set up, the quickstart scenarios run to their page
    python3 bootstrap.py test         its tests' packages set up, too, all tests run
    python3 bootstrap.py setup        all of that set up, nothing run
    python3 bootstrap.py lock         both lock files made anew from pyproject.toml

Needs only Python >= 3.11 with its pip. A virtual environment `.venv` is made beside this file
(the system's Python is not touched), the packages pinned in requirements.lock, and for the tests
those in requirements-test.lock, are installed with pip, which reads its own configuration (index,
proxy, certificates) as always, and the project is installed in place. A second call finds
everything done and starts at once.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
LOCK = ROOT / "requirements.lock"
TEST_LOCK = ROOT / "requirements-test.lock"
PROJECT = ROOT / "pyproject.toml"
STAMP = VENV / "sciprec-set-up.txt"
OLDEST_PYTHON = (3, 11)
MEGABYTES = {LOCK: 800, TEST_LOCK: 1400}  # that an environment of each takes
LOCK_HEADER = """\
# Every package that sciprec needs, pinned. Made by `python3 bootstrap.py lock`.
"""
TEST_LOCK_HEADER = f"""\
# Every package that the tests of sciprec need beside these. Made by `python3 bootstrap.py lock`.
-r {LOCK.name}
"""


def stop(sentence):
    """End with one sentence on standard error and exit code 2."""
    print(f"bootstrap: {sentence}", file=sys.stderr)
    raise SystemExit(2)


def python_of(environment):
    """Path of the interpreter inside a virtual environment."""
    if os.name == "nt":
        return environment / "Scripts" / "python.exe"
    return environment / "bin" / "python"


def succeeds(command):
    """Whether a command can be started and exits with 0, its output thrown away."""
    try:
        done = subprocess.run(command, capture_output=True, check=False)
    except OSError:
        return False
    return done.returncode == 0


def call(command, failure):
    """Run a command in the project's folder; stop with the sentence if it fails."""
    if subprocess.run(command, cwd=ROOT, check=False).returncode != 0:
        stop(failure)


def make_environment(environment):
    """Make a virtual environment and return the command of a pip that installs into it.

    Some systems ship Python without ensurepip, so that a new environment has no pip of its own;
    the pip of the starting Python is then pointed at the environment instead.
    """
    python = str(python_of(environment))
    version_check = f"import sys; sys.exit(sys.version_info < {OLDEST_PYTHON})"
    if not succeeds([python, "-c", version_check]):
        try:
            import venv
        except ImportError:
            stop(
                f"{sys.executable} has no module 'venv', which makes virtual environments; "
                "install it (on Debian and Ubuntu: the package python3-venv) and run this again."
            )
        with_pip = succeeds([sys.executable, "-c", "import ensurepip"])
        try:
            venv.create(environment, clear=environment.exists(), with_pip=with_pip)
        except (OSError, subprocess.CalledProcessError) as error:
            stop(f"the virtual environment {environment} could not be made: {error}")
    if succeeds([python, "-m", "pip", "--version"]):
        return [python, "-m", "pip"]
    if succeeds([sys.executable, "-m", "pip", "--python", python, "--version"]):
        return [sys.executable, "-m", "pip", "--python", python]
    return stop(
        f"{sys.executable} has neither 'ensurepip' nor a pip of version 22.3 or newer; "
        "install pip (on Debian and Ubuntu: the package python3-venv or python3-pip), "
        f"remove the folder {environment} and run this again."
    )


def wanted_stamp():
    """Fingerprint of everything the environment is made from."""
    digest = hashlib.sha256()
    for file in (LOCK, TEST_LOCK, PROJECT):
        digest.update(file.read_bytes())
    digest.update(str(ROOT).encode())
    return digest.hexdigest()


def set_up(lock):
    """Make the environment match a lock file and pyproject.toml; quick when it does."""
    stamps = {file: f"{wanted_stamp()} {file.name}" for file in (lock, TEST_LOCK)}
    done = STAMP.is_file() and STAMP.read_text(encoding="utf-8").strip() in stamps.values()
    if done and succeeds([str(python_of(VENV)), "-c", "pass"]):
        return
    begun = not VENV.exists()
    free = shutil.disk_usage(ROOT).free // 10**6
    if begun and free < MEGABYTES[lock]:
        stop(
            f"the disk of {ROOT} has {free} MB left, and the set-up takes {MEGABYTES[lock]} MB; "
            "make room there, or copy the project to a disk that has it."
        )
    print(f"Setting up {VENV} (once; a minute or two) ...", flush=True)
    try:
        install(lock)
    except SystemExit:
        if begun:  # half an environment helps nobody
            shutil.rmtree(VENV, ignore_errors=True)
        raise
    STAMP.write_text(stamps[lock] + "\n", encoding="utf-8")


def install(lock):
    """Make the environment, and install a lock file's packages and the project into it."""
    pip = make_environment(VENV)
    call(
        [*pip, "install", "--quiet", "--disable-pip-version-check", "--no-compile",
         "-r", str(lock)],
        f"pip could not install the packages of {lock.name}; its own message is above. "
        "Check the network, the room on the disk, or pip's index and proxy settings with "
        "'python3 -m pip config list'.",
    )  # fmt: skip
    call(
        [*pip, "install", "--quiet", "--disable-pip-version-check", "--no-deps",
         "--no-build-isolation", "-e", str(ROOT)],
        "pip could not install sciprec itself in place; its own message is above.",
    )  # fmt: skip
    made = [str(python_of(VENV)), "-m", "compileall", "-q", "-j", "0", str(VENV)]
    succeeds([*made, str(ROOT / "sciprec")])  # on all cores; pip makes bytecode on one


def quickstart():
    """Run the two quickstart scenarios and say where the page is."""
    command = [str(python_of(VENV)), "-m", "sciprec", "quickstart"]
    return subprocess.run(command, cwd=ROOT, check=False)


def test():
    """Check who imports whom, then run every test, the slow ones too: in two parts, since a process
    never frees the code that it has compiled, and in one process more than there are cores, since
    one or another waits for a browser, or for what another one compiles.
    """
    linter = python_of(VENV).with_name("lint-imports" + (".exe" if os.name == "nt" else ""))
    done = subprocess.run([str(linter)], cwd=ROOT, check=False)
    if done.returncode != 0:
        return done
    pytest = [str(python_of(VENV)), "-m", "pytest", "-q", "-m", "not survey"]
    pytest += ["-n", str((os.cpu_count() or 1) + 1), "--dist", "loadfile", "--durations=30"]
    if sys.argv[2:]:
        return subprocess.run([*pytest, *sys.argv[2:]], cwd=ROOT, check=False)
    first = subprocess.run([*pytest, "tests/precision"], cwd=ROOT, check=False)
    second = subprocess.run([*pytest, "--ignore=tests/precision"], cwd=ROOT, check=False)
    return first if first.returncode else second


def lock():
    """Resolve pyproject.toml in an empty environment and write what was chosen: first for sciprec
    itself, then for its tests, too.
    """
    chosen = {}
    with tempfile.TemporaryDirectory() as folder:
        pip = make_environment(Path(folder) / "environment")
        import tomllib  # not in the Pythons that main() refuses

        groups = tomllib.loads(PROJECT.read_text(encoding="utf-8"))["dependency-groups"]
        wanted = {
            LOCK: ["hatchling", "editables", str(ROOT)], TEST_LOCK: [str(ROOT), *groups["test"]]
        }  # fmt: skip
        for file, asked in wanted.items():
            call([*pip, "install", "--quiet", *asked], "pip could not resolve the dependencies.")
            command = [*pip, "list", "--format=freeze", "--exclude", "sciprec"]
            command += ["--exclude", "pip", "--exclude", "setuptools", "--exclude", "wheel"]
            listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
            pins = (line.strip().split("==") for line in listed.splitlines() if "==" in line)
            chosen[file] = dict(pins)
    versions, needed = chosen[TEST_LOCK], chosen[LOCK].keys()
    write_lock(LOCK, LOCK_HEADER, {name: versions[name] for name in needed})
    beside = {name: version for name, version in versions.items() if name not in needed}
    write_lock(TEST_LOCK, TEST_LOCK_HEADER, beside)


def write_lock(file, header, versions):
    """Write a lock file of names and versions, and say how many there are."""
    pins = [f"{name}=={versions[name]}\n" for name in sorted(versions, key=str.lower)]
    file.write_text(header + "".join(pins), encoding="utf-8")
    print(f"{len(pins)} packages pinned in {file.name}")


def main():
    """Set up, then do what the first argument asks for."""
    if sys.version_info < OLDEST_PYTHON:
        given = ".".join(map(str, sys.version_info[:3]))
        stop(f"this is Python {given}; sciprec needs 3.11 or newer: run this with a newer one.")
    actions = {"quickstart": quickstart, "test": test, "setup": None, "lock": lock}
    asked = sys.argv[1] if len(sys.argv) > 1 else ""
    if asked in ("-h", "--help"):
        print(__doc__.strip())
        return
    if asked not in actions:
        known = ", ".join(actions)
        stop(f"unknown command {asked!r}; known: {known}. Try 'python3 bootstrap.py quickstart'.")
    if asked == "lock":
        lock()
        return
    if not os.access(ROOT, os.W_OK):
        stop(f"the folder {ROOT} is not writable; copy the project to one that is.")
    try:
        set_up(LOCK if asked == "quickstart" else TEST_LOCK)
        if actions[asked] is not None:
            raise SystemExit(actions[asked]().returncode)
    except KeyboardInterrupt:
        print("bootstrap: interrupted; run it again to go on", file=sys.stderr)
        raise SystemExit(130) from None


if __name__ == "__main__":
    main()
