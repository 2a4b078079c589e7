"""How Sphinx makes the site: `make docs` calls it."""

import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE / "_ext")]

# From this tree: the line above makes it the first place that is looked at.
import gallery  # noqa: E402

import dezero  # noqa: E402

project = "DeZero"
author = "The DeZero authors"
copyright = author
version = release = dezero.__version__
html_title = f"DeZero {release}"

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "myst_parser",  # for CHANGELOG.md
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "sphinx-mathjax-offline",  # MathJax and its fonts as files of the site
    "described",
    "drawings",
    "gallery",
]
# What is made stands beside what is written, and is ignored by git too.
exclude_patterns = ["_build", "_made", "_scripts", "drawings"]
html_extra_path = ["_made"]
(HERE / "_made").mkdir(exist_ok=True)
html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": True,
    "light_css_variables": {
        "color-brand-primary": "#0b6e75",
        "color-brand-content": "#0b6e75",
    },
    "dark_css_variables": {
        "color-brand-primary": "#5cc8cf",
        "color-brand-content": "#5cc8cf",
    },
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"

add_module_names = False
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
maximum_signature_line_length = 72
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_rtype = False
# Those of a layer: what it holds, not what it takes.
napoleon_custom_sections = [("Parameters", "Attributes")]
python_use_unqualified_type_names = True
copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True

# The folder above may have a blank in its name: links lead from page to page below it.
suppress_warnings = ["sphinx_gallery.space_in_filename"]
sphinx_gallery_conf = {
    "examples_dirs": [gallery.copy_steps(HERE.parent / "steps", HERE / "_scripts")],
    "gallery_dirs": ["steps"],
    "filename_pattern": r"step\d\d_",
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("matplotlib", "gallery.files_scraper"),
    "abort_on_example_error": True,
    "capture_repr": (),  # a step prints what it has to say
    "download_all_examples": False,
    "min_reported_time": 1000,
    "remove_config_comments": True,
    # A step whose text is the same may print something else: DeZero may have changed.
    "run_stale_examples": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    # Names in the code of a step lead to the reference.
    "backreferences_dir": None,
    "doc_module": ("dezero",),
    "reference_url": {"dezero": None},
}
