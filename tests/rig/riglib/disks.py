"""Where the disks of claims are kept."""

smallest = 320 * 2**20  # mkfs.xfs makes none below 300 MB


def disk_file(instance, volume, node=None):
    """A disk of one node, or one that moves."""
    return instance.folder / "volumes" / (node or "movable") / f"{volume}.img"


def find_disk(instance, volume):
    found = list((instance.folder / "volumes").glob(f"*/{volume}.img"))
    return found[0] if found else None
