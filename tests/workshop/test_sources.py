"""Projects come from folders and URLs; every refusal says which kind it is, and incomplete clones are completed."""

import contextlib
import shutil
import socket
import ssl
import subprocess
import threading
from collections.abc import Callable, Iterator
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from midwatch.errors import MidwatchError, Misuse, Refused, Unavailable
from midwatch.workshop.git.mirrors import GitMirrors
from midwatch.workshop.git.remotes import checked, failure, is_url
from tests.workshop.repository import Repository
from tests.workshop.smart_http import SmartHttp, serving


@pytest.fixture
def served(person: Repository, tmp_path: Path) -> Iterator[str]:
    """The address of a server that serves the person's repository as /shop.git."""
    with serving(tmp_path / "served", person) as address:
        yield address


@pytest.fixture
def certificate(tmp_path: Path) -> tuple[Path, Path]:
    """A key and a certificate that nobody vouches for."""
    key, made = tmp_path / "key.pem", tmp_path / "certificate.pem"
    make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=localhost", "-days", "1"]
    subprocess.run([*make, "-keyout", str(key), "-out", str(made)], check=True, capture_output=True)
    return made, key


async def test_a_project_may_be_a_url(served: str, person: Repository, mirrors: GitMirrors) -> None:
    url = f"{served}/shop.git"
    facts = await mirrors.inspect(url)
    assert (facts.path, facts.branch, facts.head, facts.dirty) == (url, "main", person.head, ())
    await mirrors.refresh("shop", url)
    assert await mirrors.head_of("shop", "main") == person.head
    assert not list(mirrors.path("shop").parent.glob("look-*"))


async def test_a_file_url_is_read_like_a_folder(person: Repository, mirrors: GitMirrors) -> None:
    url = f"file://{person.path}"
    assert (await mirrors.inspect(url)).head == person.head
    await mirrors.refresh("shop", url)
    assert await mirrors.head_of("shop", "main") == person.head


async def test_a_far_repository_with_submodules_or_large_files_is_refused(
    served: str, mirrors: GitMirrors, tmp_path: Path
) -> None:
    far = Repository.begin(tmp_path / "lfs", {".gitattributes": "*.bin filter=lfs\n"})
    far.git("clone", "--quiet", "--bare", str(far.path), str(tmp_path / "served" / "lfs.git"))
    with pytest.raises(Refused, match="LFS"):
        await mirrors.inspect(f"{served}/lfs.git")


@pytest.mark.parametrize(
    "url",
    [
        "ext::sh -c touch% /tmp/x",
        "ext::sh",
        "fd::3",
        "http://example.invalid/x.git",
        "git://example.invalid/x.git",
        "ftp://example.invalid/x",
        "https://user:secret@example.invalid/x",
        "https://token@example.invalid/x",
        "ssh://-oProxyCommand=x/y",
        "https://exa mple/x",
        "https:///x",
        "https://h:99999/x",
    ],
)
async def test_a_url_git_must_not_be_given_is_misuse(mirrors: GitMirrors, url: str) -> None:
    with pytest.raises(Misuse) as caught:
        await mirrors.inspect(url)
    assert caught.value.hint
    assert "secret" not in str(caught.value)
    with pytest.raises(Misuse):
        await mirrors.refresh("shop", url)


def test_folders_and_urls_are_told_apart() -> None:
    assert not is_url("/a/b:c")
    assert not is_url("./x:y")
    assert not is_url(Path("https://x"))
    for url in ("git@example.invalid:a/b.git", "ssh://git@example.invalid/a", "https://example.invalid/a.git"):
        assert is_url(url)
        assert checked(url) == url


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


async def test_each_way_of_not_being_read_is_named(served: str, mirrors: GitMirrors) -> None:
    cases: dict[str, tuple[type[MidwatchError], str]] = {
        f"http://127.0.0.1:{closed_port()}/x.git": (Unavailable, "cannot be reached"),
        f"git://127.0.0.1:{closed_port()}/x.git": (Unavailable, "cannot be reached"),
        f"ssh://127.0.0.1:{closed_port()}/x.git": (Unavailable, "cannot be reached"),
        "https://nowhere.invalid/x.git": (Unavailable, "cannot be reached"),
        f"{served}/nothing.git": (Refused, "no such repository"),
        f"{served}/private/x.git": (Refused, "no such repository"),
        "file:///nonexistent/x.git": (Refused, "no such repository"),
    }
    for url, (kind, words) in cases.items():
        with pytest.raises(kind, match=words) as caught:
            await mirrors.inspect(url)
        assert caught.value.hint
        with pytest.raises(kind, match=words):
            await mirrors.refresh("shop", url)


async def test_a_certificate_nobody_vouches_for_is_refused(mirrors: GitMirrors, certificate: tuple[Path, Path]) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*certificate)
    server = ThreadingHTTPServer(("127.0.0.1", 0), SmartHttp)
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        with pytest.raises(Refused, match="TLS certificate"):
            await mirrors.inspect(f"https://localhost:{server.server_address[1]}/shop.git")
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def test_a_host_key_nobody_confirmed_is_named() -> None:
    words = "Host key verification failed.\r\nfatal: Could not read from remote repository.\n"
    told = failure("ssh://git@example.invalid/x", words)
    assert isinstance(told, Refused)
    assert "host's key" in told.message
    assert "ssh example.invalid" in told.hint


# Incomplete clones.


def everything(folder: Path) -> dict[str, bytes]:
    return {str(file): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


@pytest.fixture
def origin(tmp_path: Path) -> Repository:
    made = Repository.begin(tmp_path / "origin")
    for number in range(5):
        made.commit(f"Step {number}", {"src/app.py": f"x = {number}\n", f"src/f{number}": "f\n"})
    made.commit("Attributes", {".gitattributes": "*.x text\n"})
    for key in ("allowFilter", "allowAnySHA1InWant"):
        made.git("config", f"uploadpack.{key}", "true")
    return made


KINDS: dict[str, tuple[str, ...]] = {
    "shallow": ("--depth=2",),
    "blobless": ("--filter=blob:none",),
    "blobless and bare of files": ("--filter=blob:none", "--no-checkout"),
    "shallow and blobless": ("--depth=1", "--filter=blob:none"),
}


def incomplete(origin: Repository, place: Path, kind: str) -> Repository:
    origin.git("clone", "--quiet", *KINDS[kind], f"file://{origin.path}", str(place))
    clone = Repository(place)
    if "--no-checkout" not in KINDS[kind]:
        clone.commit("Own work", {"src/own.py": "own\n"})
    return clone


@pytest.mark.parametrize("kind", KINDS)
async def test_an_incomplete_clone_is_completed_and_not_touched(
    origin: Repository, mirrors: GitMirrors, tmp_path: Path, kind: str
) -> None:
    clone = incomplete(origin, tmp_path / "clone", kind)
    before = everything(clone.path)
    facts = await mirrors.inspect(clone.path)
    await mirrors.refresh("shop", clone.path)
    assert everything(clone.path) == before
    shutil.rmtree(origin.path)
    mirror = Repository(mirrors.path("shop"))
    assert await mirrors.head_of("shop", "main") == facts.head
    mirror.git("fsck", "--strict", "--connectivity-only")
    assert len(mirror.git("rev-list", "--objects", "main").splitlines()) > 20
    assert await mirrors.show_file("shop", facts.head, "src/f0") == b"f\n"


@pytest.mark.parametrize("kind", KINDS)
async def test_an_incomplete_clone_whose_origin_is_gone_is_refused_with_the_command(
    origin: Repository, mirrors: GitMirrors, tmp_path: Path, kind: str
) -> None:
    clone = incomplete(origin, tmp_path / "clone", kind)
    origin.path.rename(tmp_path / "moved")
    acts: list[Callable[[], object]] = [
        lambda: mirrors.inspect(clone.path),
        lambda: mirrors.refresh("shop", clone.path),
    ]
    for act in acts:
        with pytest.raises(Refused, match="shallow or partial") as caught:
            await act()  # type: ignore[misc]
        assert f"git -C {clone.path} fetch" in caught.value.hint


async def test_a_branch_rewritten_at_the_origin_is_still_completed(
    origin: Repository, mirrors: GitMirrors, tmp_path: Path
) -> None:
    clone = incomplete(origin, tmp_path / "clone", "shallow")
    origin.git("reset", "--quiet", "--hard", "HEAD~3")
    origin.commit("Another way", {"src/app.py": "y = 1\n"})
    await mirrors.refresh("shop", clone.path)
    assert len(Repository(mirrors.path("shop")).git("rev-list", "main").splitlines()) == 8


async def test_nobody_is_asked_for_a_password(
    served: str, mirrors: GitMirrors, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_ASKPASS", "/bin/false")
    with pytest.raises(Refused, match="may not be read"):
        await mirrors.refresh("shop", f"{served}/private/x.git")


async def test_a_partial_clone_asked_for_what_it_lacks_does_not_fetch_it(
    origin: Repository, mirrors: GitMirrors, tmp_path: Path
) -> None:
    clone = incomplete(origin, tmp_path / "clone", "blobless and bare of files")
    lacking = origin.git("rev-parse", "HEAD~4:src/app.py")
    clone.git("read-tree", "HEAD")
    clone.git("update-index", "--add", "--cacheinfo", f"100644,{lacking},src/old.py")
    made = clone.git("commit-tree", "-p", "HEAD", "-m", "Old", clone.git("write-tree", "--missing-ok"))
    clone.git("update-ref", "refs/heads/main", made)
    before = everything(clone.path)
    with contextlib.suppress(Refused):
        await mirrors.refresh("shop", clone.path)
    assert everything(clone.path) == before
