"""Answers in place of scikit-build-core, XGrammar's build backend, while provide.sh downloads XGrammar's sources: with the
metadata that lies beside them, which name XGrammar's own licence. Nothing of scikit-build-core is in it, and it builds nothing.
"""

import pathlib
import shutil


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    folder = pathlib.Path(metadata_directory, "xgrammar.dist-info")
    folder.mkdir()
    shutil.copy("PKG-INFO", folder / "METADATA")
    return folder.name
