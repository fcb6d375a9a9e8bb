"""Builds empty shared libraries for the CUDA libraries that torch links but its CPU path never calls.

Input: the site-packages folder. For each library that torch needs and that is absent, the undefined symbols of
torch's own libraries that belong to it (by symbol version, or by prefix where unversioned) become functions that abort.
"""

import re
import subprocess
import sys
from pathlib import Path

# Libraries without symbol versions, or whose version name is not their file name, and the prefix of their symbols.
PREFIX = {"libnccl": "nccl", "libnvshmem_host": "nvshmem", "libcusparseLt": "cusparseLt", "libcufile": "cuFile"}
VERSION_NODE = {"libnvshmem_host": "NVSHMEM"}


def readelf(*arguments: str) -> str:
    return subprocess.run(["readelf", "-W", *arguments], check=True, capture_output=True, text=True).stdout


def needed(library: Path) -> list[str]:
    return re.findall(r"\(NEEDED\).*\[(.+?)\]", readelf("-d", str(library)))


def undefined(library: Path) -> set[tuple[str, str]]:
    """(symbol, version) pairs; the version is empty for an unversioned symbol."""
    found = set()
    for line in readelf("--dyn-syms", str(library)).splitlines():
        fields = line.split()
        if len(fields) >= 8 and fields[6] == "UND":
            name, _, version = fields[7].partition("@")
            found.add((name, version.strip("@")))
    return found


def build(soname: str, symbols: set[str], node: str, folder: Path) -> None:
    source, script = folder / f"{soname}.c", folder / f"{soname}.map"
    source.write_text("#include <stdlib.h>\n" + "".join(f"void {s}(void) {{ abort(); }}\n" for s in sorted(symbols)))
    script.write_text(f"{node} {{ global: *; }};\n")
    command = ["gcc", "-shared", "-fPIC", "-w", f"-Wl,-soname,{soname}", f"-Wl,--version-script,{script}"]
    subprocess.run([*command, str(source), "-o", str(folder / soname)], check=True)
    source.unlink()
    script.unlink()


def main(site_packages: Path) -> None:
    folder = site_packages / "torch" / "lib"
    libraries = sorted(folder.glob("lib*.so"))
    present = {p.name for p in [*folder.iterdir(), *site_packages.glob("nvidia/*/lib/*")]}
    wanted = {s for lib in libraries for s in needed(lib) if re.match(r"lib(cu|nccl|nv)", s)}
    symbols = set().union(*(undefined(lib) for lib in libraries))
    for soname in sorted(wanted - present - {"libcuda.so.1"}):
        stem = soname.split(".so")[0]
        node, prefix = VERSION_NODE.get(stem, soname), PREFIX.get(stem)
        mine = {n for n, v in symbols if v == node or (prefix and not v and n.startswith(prefix))}
        build(soname, mine, node, folder)
        print(f"stand-in {soname}: {len(mine)} symbols")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
