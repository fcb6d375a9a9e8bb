"""Prints what the given installed packages require beside themselves and what belongs to CUDA, a line each.

Whatever depends on torch would bring its CUDA libraries: such packages are named as arguments, or left out below.
"""

import re
import sys
from importlib.metadata import requires

# Of CUDA, or for pictures and sound only.
LEFT_OUT = r"torch|torchaudio|torchvision|torchcodec|triton|cuda-|nvidia-"


def main(packages: list[str]) -> None:
    lines = {line for package in packages for line in requires(package) or [] if "extra ==" not in line}
    names = {line: re.match(r"[\w.-]+", line).group().lower().replace("_", "-") for line in lines}
    for line, name in sorted(names.items()):
        if name not in packages and not re.match(rf"({LEFT_OUT})", name):
            print(line)


if __name__ == "__main__":
    main(sys.argv[1:])
