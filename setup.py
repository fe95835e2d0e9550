"""The one step of the build that pyproject.toml cannot say: the page is bundled before its files are collected."""

import runpy
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

BUNDLER = Path(__file__).resolve().parent / "ui" / "bundle.py"


class BuildWithPage(build_py):
    """Bundles the page where its sources are. An editable install notes why it could not and goes on; a wheel fails."""

    def run(self) -> None:
        """Bundles, then collects the files."""
        if BUNDLER.is_file():
            self._bundle()
        super().run()

    def _bundle(self) -> None:
        bundler = runpy.run_path(str(BUNDLER))
        try:
            bundler["ensure"]()
        except bundler["BundleError"] as error:
            if not self.editable_mode:
                raise
            bundler["MISSING"].parent.mkdir(exist_ok=True)
            bundler["MISSING"].write_text(f"{error}\n", encoding="utf-8")


setup(cmdclass={"build_py": BuildWithPage})
