"""Writes container images as OCI archives, byte for byte the same from the same input, with nothing but the standard library."""
import dataclasses
import gzip
import hashlib
import io
import json
import pathlib
import tarfile


@dataclasses.dataclass(frozen=True)
class File:
    """A file of the image: from a file of this machine (as it is, links followed), or from bytes."""
    target: str  # absolute, in the image
    source: pathlib.Path | None = None
    content: bytes = b""
    mode: int = 0o755

    def read(self):
        return self.source.read_bytes() if self.source else self.content


@dataclasses.dataclass(frozen=True)
class Folder:
    target: str
    mode: int = 0o755


def make_layer(entries, epoch):
    """An uncompressed layer: entries by name, their parents before them, owned by root, all of one time."""
    found = {}
    for entry in entries:
        for parent in list(pathlib.PurePosixPath(entry.target).parents)[:-1]:
            found.setdefault(str(parent), Folder(str(parent)))
        found[entry.target] = entry
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name in sorted(found):
            entry = found[name]
            info = tarfile.TarInfo(name.lstrip("/"))
            info.mtime, info.mode, info.uname, info.gname = epoch, entry.mode, "", ""
            if isinstance(entry, Folder):
                info.type = tarfile.DIRTYPE
                tar.addfile(info)
            else:
                content = entry.read()
                info.size = len(content)
                tar.addfile(info, io.BytesIO(content))
    return out.getvalue()


def digest(content):
    return "sha256:" + hashlib.sha256(content).hexdigest()


def render(document):
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()


class Blobs:
    def __init__(self):
        self.kept = {}

    def add(self, media_type, content, **more):
        self.kept[digest(content)] = content
        return {"mediaType": media_type, "digest": digest(content), "size": len(content), **more}


def write_image(path, name, entries, config, *, created, epoch, compress=True, annotations=None):
    """Writes the archive; returns the digest of the manifest, by which the image is known, and the size of all that is pulled."""
    blobs = Blobs()
    layer = make_layer(entries, epoch)
    packed = gzip.compress(layer, 9, mtime=0) if compress else layer
    kind = "application/vnd.oci.image.layer.v1.tar" + ("+gzip" if compress else "")
    image = {"architecture": "amd64", "os": "linux", "created": created, "config": config,
             "rootfs": {"type": "layers", "diff_ids": [digest(layer)]}, "history": [{"created": created, "created_by": "scripts/image"}]}
    manifest = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.manifest.v1+json",
                "config": blobs.add("application/vnd.oci.image.config.v1+json", render(image)), "layers": [blobs.add(kind, packed)]}
    if annotations:
        manifest["annotations"] = annotations
    size = sum(len(content) for content in blobs.kept.values())
    entry = blobs.add(manifest["mediaType"], render(manifest), platform={"architecture": "amd64", "os": "linux"},
                      annotations={"io.containerd.image.name": name, "org.opencontainers.image.ref.name": name.rsplit(":", 1)[-1]})
    index = {"schemaVersion": 2, "mediaType": "application/vnd.oci.image.index.v1+json", "manifests": [entry]}
    files = {"oci-layout": render({"imageLayoutVersion": "1.0.0"}), "index.json": render(index)}
    files.update({f"blobs/sha256/{key.removeprefix('sha256:')}": value for key, value in blobs.kept.items()})
    with tarfile.open(path, "w", format=tarfile.USTAR_FORMAT) as tar:
        for file in sorted(files):
            info = tarfile.TarInfo(file)
            info.size, info.mtime, info.mode = len(files[file]), epoch, 0o644
            tar.addfile(info, io.BytesIO(files[file]))
    return entry["digest"], size
