"""The Dockerfile without Docker: its own instructions, carried out in layers over this machine's root.

Each stage is an overlay (https://docs.kernel.org/filesystems/overlayfs.html) in a mount namespace of its own, entered
by chroot, as root for RUN and as the USER for what is started. The base image is not there: this machine and the Python
that runs the tests stand in for it. So instructions, lock, user, volume, commands and health checks are proven, and
what the base image brings is not.
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "infra" / "docker" / "Dockerfile"

_INDEX = ("PIP_", "SSL_CERT", "HTTPS_PROXY", "https_proxy", "NO_PROXY", "no_proxy")
"""Variables that say where packages come from: the machine's, not the image's."""
_PATH = "/usr/local/bin:/usr/bin:/bin"

_ENTER = """
mount -t overlay overlay -o "$OPTIONS" "$MOUNT"
mount --rbind /dev "$MOUNT/dev"
mount -t proc proc "$MOUNT/proc"
if [ -n "$VOLUME" ]; then mount --bind "$VOLUME_OF" "$MOUNT$VOLUME" && mount -o remount,ro "$MOUNT"; fi
exec chroot --userspec="$AS" "$MOUNT" /usr/bin/env -i "$@"
"""


@dataclass
class Stage:
    """What its instructions have made of it so far; `layer` is the folder of what is not this machine's."""

    layer: Path
    env: dict[str, str] = field(default_factory=lambda: {"PATH": _PATH})
    workdir: str = "/"
    user: str = "0:0"
    volume: str = ""
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)


def reason_against() -> str | None:
    """Why no image can be made here, or None."""
    if os.geteuid() != 0 or not all(map(shutil.which, ("unshare", "chroot", "mount"))):
        return "needs root, unshare, chroot and mount"
    done = subprocess.run(["unshare", "--mount", "true"], capture_output=True, text=True, check=False)  # noqa: S607
    return None if done.returncode == 0 else f"no mount namespaces here: {done.stderr.strip()}"


def instructions(text: str) -> list[tuple[str, str]]:
    """(keyword, rest) of each, comments left out and lines that go on put together."""
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    whole = re.sub(r"\\\n\s*", "", "\n".join(lines)).splitlines()
    return [(keyword, rest) for keyword, _, rest in (line.partition(" ") for line in whole)]


class Builder:
    """Makes every stage, in `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.stages: dict[str, Stage] = {}
        self._base = self._stand_in()

    def build(self, dockerfile: Path) -> None:
        """Carry out every instruction. Raises RuntimeError for one that fails, KeyError for one not known here."""
        stage = self._base
        for keyword, rest in instructions(dockerfile.read_text()):
            if keyword == "FROM":
                source, _, name = rest.partition(" AS ")
                stage = self.stages[name] = self._stage(name, self.stages.get(source, self._base))
            else:
                self._carry_out(stage, keyword, rest)

    @contextmanager
    def running(self, name: str, command: Sequence[str], given: Mapping[str, str]) -> "Iterator[subprocess.Popen[str]]":
        """The command as the stage's user, on a disk that is read-only but for the volume; ended afterwards."""
        process = self._start(name, command, given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            yield process
        finally:
            process.kill()
            process.communicate()

    def run(self, name: str, command: Sequence[str], given: Mapping[str, str]) -> tuple[int, str]:
        """Exit code and output of the same, to its end."""
        process = self._start(name, command, given, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        said, _ = process.communicate(timeout=60)
        return process.returncode, said

    def volume(self, name: str) -> Path:
        """Where the stage's volume lies: as the image has it at first, owner and all."""
        made = self._folder / f"{name}.volume"
        if not made.exists():
            shutil.copytree(self._found(name, self.stages[name].volume), made)
            owner = self._found(name, self.stages[name].volume).stat()
            os.chown(made, owner.st_uid, owner.st_gid)
        return made

    def _stand_in(self) -> Stage:
        """This machine, with its Python in place of the base image's, and in reach of every user."""
        layer = self._layer("machine")
        python = Path(sys.base_prefix) / "bin" / f"python{sys.version_info[0]}.{sys.version_info[1]}"
        for parent in reversed(python.parents[:-1]):
            (layer / parent.relative_to("/")).mkdir(mode=0o755, parents=True, exist_ok=True)
        (layer / "usr" / "local" / "bin").mkdir(mode=0o755, parents=True, exist_ok=True)
        called = layer / "usr" / "local" / "bin" / "python"
        called.write_text(f'#!/bin/sh\nexec {python} "$@"\n')  # no link: it would look for its library beside that
        called.chmod(0o755)
        return Stage(layer)

    def _layer(self, name: str) -> Path:
        for part in (f"{name}.work", f"{name}.mount", name):
            (self._folder / part).mkdir(mode=0o755)
        return self._folder / name

    def _stage(self, name: str, source: Stage) -> Stage:
        """A copy of its source: two layers of one disk can't lie above each other and above that disk."""
        layer = self._layer(name)
        subprocess.run(["cp", "--archive", f"{source.layer}/.", layer], check=True)  # noqa: S607
        return Stage(layer, {**source.env}, source.workdir, source.user, source.volume)

    def _carry_out(self, stage: Stage, keyword: str, rest: str) -> None:
        if keyword == "RUN":
            self._run(stage, rest)
        elif keyword == "COPY":
            self._copy(stage, rest.split())
        else:
            {"ENV": _env, "WORKDIR": _workdir, "USER": _user, "VOLUME": _volume, "CMD": _command,
             "HEALTHCHECK": _health, "STOPSIGNAL": _stop_signal}[keyword](stage, rest)  # fmt: skip

    def _run(self, stage: Stage, line: str) -> None:
        index = {name: value for name, value in os.environ.items() if name.startswith(_INDEX)}
        command = ["/bin/sh", "-c", f"cd {shlex.quote(stage.workdir)} && {line}"]
        process = self._enter(stage, command, {**stage.env, "HOME": "/root", **index}, "0:0", ("", Path("/")))
        said, _ = process.communicate(timeout=600)
        if process.returncode != 0:
            raise RuntimeError(f"RUN {line}: {said[-2000:]}")

    def _copy(self, stage: Stage, words: list[str]) -> None:
        source = re.fullmatch(r"--from=(\w+)", words[0])
        *names, target = words[1:] if source else words
        for name in names:
            found = self._found(source[1], name) if source else ROOT / name
            into = stage.layer / os.path.join(stage.workdir, target).lstrip("/")
            if found.is_dir():
                shutil.copytree(found, into, symlinks=True, dirs_exist_ok=True)
            else:
                into.mkdir(parents=True, exist_ok=True)
                shutil.copy(found, into)

    def _found(self, name: str, path: str) -> Path:
        return self.stages[name].layer / path.lstrip("/")

    def _start(
        self, name: str, command: Sequence[str], given: Mapping[str, str], **pipes: Any
    ) -> "subprocess.Popen[str]":
        stage = self.stages[name]
        line = f"cd {shlex.quote(stage.workdir)} && exec {shlex.join(command)}"
        volume = (stage.volume, self.volume(name))
        return self._enter(stage, ["/bin/sh", "-c", line], {**stage.env, **given}, stage.user, volume)

    def _enter(
        self, stage: Stage, command: Sequence[str], env: Mapping[str, str], user: str, volume: tuple[str, Path]
    ) -> "subprocess.Popen[str]":
        setting = {
            "OPTIONS": f"lowerdir=/,upperdir={stage.layer},workdir={stage.layer}.work",
            "MOUNT": f"{stage.layer}.mount",
            "AS": user,
            "VOLUME": volume[0],
            "VOLUME_OF": str(volume[1]),
            "PATH": os.environ["PATH"],
        }
        words = ["unshare", "--mount", "/bin/sh", "-ec", _ENTER, "sh"]
        variables = [f"{name}={value}" for name, value in env.items()]
        return subprocess.Popen(
            [*words, *variables, *command], env=setting, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )


def _env(stage: Stage, rest: str) -> None:
    for word in shlex.split(rest):
        name, _, value = word.partition("=")
        stage.env[name] = re.sub(r"\$(\w+)", lambda found: stage.env.get(found[1], ""), value)


def _workdir(stage: Stage, rest: str) -> None:
    stage.workdir = rest
    (stage.layer / rest.lstrip("/")).mkdir(mode=0o755, parents=True, exist_ok=True)


def _user(stage: Stage, rest: str) -> None:
    stage.user = rest


def _volume(stage: Stage, rest: str) -> None:
    stage.volume = rest


def _command(stage: Stage, rest: str) -> None:
    stage.command = _words(rest)


def _health(stage: Stage, rest: str) -> None:
    stage.health = _words(rest.partition(" CMD ")[2])


def _stop_signal(stage: Stage, rest: str) -> None:
    if rest != "SIGTERM":
        raise KeyError(rest)


def _words(rest: str) -> list[str]:
    """A list of texts as JSON writes it: the form that no shell stands behind."""
    return re.findall(r'"([^"]+)"', rest)
