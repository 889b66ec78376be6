"""Images that nodes have from the start: built from the parts, kept in the cache, under the names that real ones have."""
import os
import pathlib
import subprocess
import sys
import tempfile

from .instance import Failed, part, root
from .node import pause_image

sys.path.insert(0, str(root / "scripts"))
from lib.oci import File, write_image  # noqa: E402

etcd_repository = "gcr.io/etcd-development/etcd"
epoch_text = "1970-01-01T00:00:00Z"


def cache():
    folder = pathlib.Path(os.environ.get("QUORATE_CACHE", pathlib.Path.home() / ".cache/quorate")) / "images"
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _write(path, name, files, config):
    aside = path.with_suffix(f".{os.getpid()}")
    write_image(aside, name, files, config, created=epoch_text, epoch=0, compress=False)
    aside.rename(path)
    return path


def etcd_image(version):
    """Like the upstream project's image: the three programs in /usr/local/bin. Named after the part's folder, so it follows its changes."""
    folder = part(f"etcd-{version}")
    path = cache() / f"{folder.name}.tar"
    if path.exists():
        return path
    files = [File(f"/usr/local/bin/{program.name}", program.resolve()) for program in sorted(folder.iterdir())]
    return _write(path, f"{etcd_repository}:v{version}", files, {"Entrypoint": ["/usr/local/bin/etcd"], "Env": ["PATH=/usr/local/bin"]})


def pause_image_file():
    """Compiled aside: another instance may be doing the same."""
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder) / "pause"
        done = subprocess.run(["clang-16", "-static", "-Os", "-s", "-Wall", "-Werror", "-o", program, root / "tests/rig/pause.c"],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"pause.c does not compile: {done.stderr}")
        return _write(cache() / "pause.tar", pause_image, [File("/pause", program)], {"Entrypoint": ["/pause"], "User": "65535:65535"})
